"""Studies of many games: matches, sweeps, a leaderboard, strength in training."""
