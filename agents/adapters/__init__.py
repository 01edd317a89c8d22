"""Adapters that turn other people's agents into agents of the zoo; README.md has the protocols."""
