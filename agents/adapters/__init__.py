"""Adapters for third-party agents; README.md in this folder describes them."""
