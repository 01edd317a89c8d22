"""Agents and heuristics judged by exact play."""
