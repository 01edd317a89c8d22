"""Studies made of many games: the leaderboard, parameter sweeps, the published experiments."""
