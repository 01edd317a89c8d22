"""Opponents of a stated Elo, and a curriculum that adapts the Elo to the learner."""
