"""The files of the page; it shares the report's (``c4env.evaluation.report.static``)."""
