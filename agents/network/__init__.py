"""Networks that play: the one that ships, and those of self-play.

The one that ships needs NumPy alone: ``features`` describes a position to it, ``network`` evaluates
it, ``agent`` plays it. ``convolution`` is a network of self-play, in PyTorch, which
:mod:`c4env.agents.training.selfplay` trains.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The file of the network that plays, in a folder of self-play."""
