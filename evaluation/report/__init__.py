"""Show a run as a page, as a summary and in figures."""
