"""Opponents of a stated Elo, and a curriculum that raises it with the learner."""

__any_board__ = True
