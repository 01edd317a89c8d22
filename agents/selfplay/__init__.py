"""Learning from a network's own games."""

from typing import Final

from c4env.geometry import require_standard

require_standard(__name__)

MODEL: Final = "model.pt"
"""The name of the network's file in a folder of self-play."""
