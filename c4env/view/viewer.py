"""The render modes, and the viewer that shows an environment's game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from c4env.errors import InvalidOption, require_integer

from ..position import Position
from .rendering import ansi, rgb_array

if TYPE_CHECKING:
    from c4env.view.window import Window

RENDER_MODES: Final = ("human", "rgb_array", "ansi")


class Viewer:
    """Shows the game of one environment in one render mode.

    Attributes:
        mode: None or one of ``RENDER_MODES``.
        window: the window of mode ``"human"``; None before the first picture.
    """

    def __init__(self, mode: str | None, screen_scaling: int) -> None:
        """Make a viewer without opening a window."""
        check_render_mode(mode, RENDER_MODES)
        if mode == "human":  # raise now if pygame-ce is missing, not after a move
            from c4env.view.window import import_pygame

            import_pygame()
        self.mode = mode
        self.screen_scaling = require_integer("screen_scaling", screen_scaling)
        self.window: Window | None = None

    def render(
        self, position: Position, last: int | None, fps: float
    ) -> NDArray[np.uint8] | str | None:
        """Return pixels or text, or show a window and return None."""
        if self.mode is None:
            gymnasium.logger.warn(
                "You are calling render method without specifying any render mode."
            )
            return None
        if self.mode == "ansi":
            return ansi(position, last)
        frame = rgb_array(position, last, screen_scaling=self.screen_scaling)
        if self.mode == "rgb_array":
            return frame
        if self.window is None:
            from c4env.view.window import Window

            self.window = Window("Connect Four", frame)
        self.window.show(frame, fps)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.window is not None:
            self.window.close()
            self.window = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the window; a copy opens its own window."""
        return {**self.__dict__, "window": None}


def check_render_mode(mode: str | None, modes: tuple[str, ...]) -> None:
    """Raise an error if a render mode is neither None nor one of ``modes``."""
    if mode is not None and mode not in modes:
        raise InvalidOption(f"render_mode={mode!r}: expected None or one of {list(modes)}")
