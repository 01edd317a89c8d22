"""A window that shows frames, made with pygame-ce (the extra ``c4env[window]``).

pygame-ce is imported only when a window is made.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.errors import MissingExtra
from c4env.lazy import from_extra


class Window:
    """A window that shows one frame after another and watches for its close button.

    After a person closes the window, the program continues, and ``show`` does nothing.

    Attributes:
        is_open: False once a person or :meth:`close` has closed the window.
    """

    def __init__(self, title: str, frame: NDArray[np.uint8]) -> None:
        """Open a window of the size of a frame ``(height, width, 3)``."""
        self._pygame = import_pygame()
        self._pygame.display.init()
        height, width, _ = frame.shape
        self._window = self._pygame.Window(title, (width, height))
        self._clock = self._pygame.time.Clock()
        self.is_open = True

    def show(self, frame: NDArray[np.uint8], fps: float = 0.0) -> None:
        """Show a frame ``(height, width, 3)``, at most ``fps`` times a second; 0 sets no limit."""
        if self.is_open:
            self._pygame.event.pump()
            for event in self._pygame.event.get(self._pygame.WINDOWCLOSE):
                if event.window is self._window:
                    self.close()
                else:  # another window's
                    self._pygame.event.post(event)
        if not self.is_open:
            return
        surface = self._window.get_surface()
        self._pygame.surfarray.blit_array(surface, frame.swapaxes(0, 1))
        self._window.flip()
        if fps:
            self._clock.tick(fps)

    def close(self) -> None:
        """Close the window; do nothing if it is closed."""
        if self.is_open:
            self.is_open = False
            self._window.destroy()


def import_pygame() -> Any:
    """Import and return pygame-ce.

    Raises:
        MissingExtra: pygame-ce is not installed, or the installed pygame is not pygame-ce 2.5+.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    with from_extra("window", 'render_mode="human" needs pygame-ce'):
        import pygame
    if not hasattr(pygame, "Window"):
        # Files of pygame and pygame-ce in one folder break each other: there may be no version.
        version = getattr(getattr(pygame, "version", None), "ver", "of unknown version")
        raise MissingExtra(
            f'render_mode="human" needs pygame-ce 2.5 or later, found pygame {version}: pip '
            "uninstall pygame pygame-ce, then pip install --force-reinstall pygame-ce"
        )
    return pygame
