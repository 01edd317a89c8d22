"""Adapters that make agents of the zoo from other people's. README.md describes the protocols."""
