"""A small network trained on what exact play keeps, played with NumPy alone.

``features`` describes a position to it, ``network`` evaluates it, ``agent`` plays it. ``labels``,
``fit`` and ``train`` made the weights that come with the package, and make others like them::

    python -m c4env.agents.learned.train --out DIR
"""

from typing import Final

MODEL: Final = "model.pt"
"""The network that plays, in a folder of self-play."""
