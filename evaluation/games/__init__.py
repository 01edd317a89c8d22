"""Playing games: one game, a match of two, a tournament, and the workers that play them."""
