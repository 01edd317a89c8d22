"""A run shown to people: a page, a summary, figures."""
