"""Strength from results: win tables, Elo ratings, sequential tests, cycles."""
