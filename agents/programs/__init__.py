"""Other people's programs as agents; docs/guides/other-programs.md describes them."""
