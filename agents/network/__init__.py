"""Networks that play: the shipped network, and the networks that self-play trains.

The shipped network needs NumPy alone. ``features`` makes its input, ``network`` computes its
output, and ``agent`` plays by it. ``convolution`` is the network, in PyTorch, that
:mod:`c4env.agents.training.selfplay` trains.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The file of the network that plays, in a folder of self-play."""
