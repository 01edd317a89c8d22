"""A window that shows frames, by pygame-ce (the extra ``c4env[window]``).

pygame-ce is imported when a window is made, never with the package.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.errors import MissingWindow


class Window:
    """Shows one frame after another and watches for its close button.

    A person who closes the window has seen enough: it stays closed, and ``show`` then
    does nothing. The program goes on.

    Attributes:
        is_open: False once the window was closed, by a person or by :meth:`close`.
    """

    def __init__(self, title: str, frame: NDArray[np.uint8]) -> None:
        """Open a window of the size of a frame ``(height, width, 3)``.

        Raises:
            MissingWindow: pygame-ce is not installed.
        """
        self._pygame = import_pygame()
        self._pygame.display.init()
        height, width, _ = frame.shape
        self._window = self._pygame.Window(title, (width, height))
        self._clock = self._pygame.time.Clock()
        self.is_open = True

    def show(self, frame: NDArray[np.uint8], fps: float = 0.0) -> None:
        """Put a frame ``(height, width, 3)`` on the screen, then wait to keep to ``fps``.

        With ``fps`` 0 it does not wait.
        """
        self._watch()
        if not self.is_open:
            return
        surface = self._window.get_surface()
        self._pygame.surfarray.blit_array(surface, frame.swapaxes(0, 1))
        self._window.flip()
        if fps:
            self._clock.tick(fps)

    def close(self) -> None:
        """Take the window off the screen; closing twice is fine."""
        if self.is_open:
            self.is_open = False
            self._window.destroy()

    def _watch(self) -> None:
        """Answer the close button. Other windows' events stay in the queue."""
        if not self.is_open:
            return
        pygame = self._pygame
        pygame.event.pump()
        closes = pygame.event.get(pygame.WINDOWCLOSE)
        for event in closes:
            if event.window is self._window:
                self.close()
            else:
                pygame.event.post(event)


def import_pygame() -> Any:
    """The toolkit.

    Raises:
        MissingWindow: pygame-ce is not installed, or another pygame is.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    try:
        import pygame
    except ImportError as error:
        raise MissingWindow(
            'render_mode="human" needs pygame-ce: pip install "c4env[window]"'
        ) from error
    if not hasattr(pygame, "Window"):
        raise MissingWindow(
            f'render_mode="human" needs pygame-ce 2.5 or later, found pygame {pygame.version.ver}: '
            'pip uninstall pygame, then pip install "c4env[window]"'
        )
    return pygame
