"""Exact play: asked for scores, and as a judge of agents and heuristics."""
