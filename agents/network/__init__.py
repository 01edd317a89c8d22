"""The network that ships with the package, played with NumPy alone.

``features`` describes a position to it, ``network`` evaluates it, ``agent`` plays it.
:mod:`c4env.agents.training` made its weights.
"""

from typing import Final

MODEL: Final = "model.pt"
"""The network that plays, in a folder of self-play."""
