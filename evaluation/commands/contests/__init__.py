"""Contests of agents: played, reported, compared; who is stronger."""
