"""Learning from a network's own games: full self-play, AlphaZero in 200 lines, and PPO."""
