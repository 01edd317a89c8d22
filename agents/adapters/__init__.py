"""Adapters: other people's agents as agents of the zoo. README.md has the protocols."""
