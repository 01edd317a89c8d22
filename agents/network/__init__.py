"""Policy and value networks: the network in this package, and networks trained by self-play.

The network in this package needs only NumPy. ``features`` makes the input, ``network`` computes the
output, and ``agent`` plays by this network. ``convolution`` has the PyTorch network that
:mod:`c4env.agents.training.selfplay` trains.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The name of the network's file in a folder of self-play."""
