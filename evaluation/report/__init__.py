"""Show a run as a page and in figures."""
