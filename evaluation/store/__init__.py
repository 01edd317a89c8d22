"""Files of games, scores and answers."""
