"""Show a run: as a page, a summary, and figures."""
