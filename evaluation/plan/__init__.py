"""Plan a run before its first game: the players, the pairings and the openings."""
