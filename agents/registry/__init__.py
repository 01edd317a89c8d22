"""Make agents from specs such as ``alphabeta:depth=7``; list all agents."""
