"""Measure strength from results: win tables, Elo ratings, sequential tests and circles."""
