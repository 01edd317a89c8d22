"""Policy and value networks: the shipped network, and the network that self-play trains.

The shipped network needs only NumPy. ``features`` makes its input, ``network`` computes its output,
and the agent in ``agent`` plays by it. ``convolution`` has the PyTorch network that
:mod:`c4env.agents.selfplay.train` trains.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The name of the network's file in a folder of self-play."""
