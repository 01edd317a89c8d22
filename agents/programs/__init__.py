"""Programs of others as agents; docs/guides/other-programs.md describes them."""
