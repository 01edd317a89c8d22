"""Judge agents and heuristics by exact play."""
