"""Networks that play: the one that ships, and those of self-play.

The one that ships needs NumPy alone: ``features`` makes its input, ``network`` evaluates it, and
``agent`` plays with it. ``convolution`` is a network of self-play, in PyTorch.
:mod:`c4env.agents.training` makes the weights of both.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The file of the network that plays, in a folder of self-play."""
