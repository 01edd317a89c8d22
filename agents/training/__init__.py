"""The shortest script for each learning library, each a recipe to start from."""
