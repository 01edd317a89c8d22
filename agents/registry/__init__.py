"""Agents from specs such as ``alphabeta:depth=7``: the table of agents, and ``make``."""
