"""The page's own files; it also uses the report's (``c4env.evaluation.report.static``)."""
