"""Opponents of a stated Elo, and a curriculum that follows the learner's strength."""

__any_board__ = True
