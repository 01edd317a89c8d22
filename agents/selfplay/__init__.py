"""Learning from a network's own games: full self-play, AlphaZero in 200 lines, and PPO."""

from typing import Final

MODEL: Final = "model.pt"
"""The name of the network's file in a folder of self-play."""
