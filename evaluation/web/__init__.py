"""A page to play, analyse and look at games, and the server of it: ``c4 web``."""
