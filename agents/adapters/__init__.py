"""Adapters for third-party agents; docs/guides/other-programs.md describes them."""
