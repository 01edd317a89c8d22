"""Studies of many games: match, sweep, leaderboard, strength in training, published experiments."""
