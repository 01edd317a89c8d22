"""Adapters for other people's agents; README.md describes the protocols."""
