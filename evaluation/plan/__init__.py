"""The plan of a run, made before the first game: who plays whom, and from which openings."""
