"""Studies of many games: matches, a leaderboard, strength in training."""
