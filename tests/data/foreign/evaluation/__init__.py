"""A package called evaluation; nothing here is c4env's."""

MINE = "mine"
