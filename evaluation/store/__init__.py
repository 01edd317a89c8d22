"""Files that keep games, scores and answers."""
