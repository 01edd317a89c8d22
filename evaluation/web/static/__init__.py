"""Files of the page of ``c4 web``, which also uses ``c4env.evaluation.report.static``."""
