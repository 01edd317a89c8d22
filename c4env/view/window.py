"""A window that shows frames, made with pygame-ce (the extra ``c4env[window]``).

pygame-ce is imported only when a window is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.errors import MissingExtra
from c4env.lazy import from_extra

LEFT: Final = 1  # button of the mouse


class InputEvent(NamedTuple):
    """An input in a window: the pointer moves, clicks or leaves, or a key is pressed."""

    kind: str  # "move", "click", "leave" or "key"

    x: int = 0  # the pointer's distance from the left, in pixels
    key: str = ""  # the character it types, or its name


class Window:
    """A window that shows one frame after another and watches for its close button.

    After a person closes the window, the program continues, and ``show`` does nothing.

    Attributes:
        is_open: False once a person or :meth:`close` has closed the window.
    """

    def __init__(self, title: str, frame: NDArray[np.uint8]) -> None:
        """Open a window of the size of a frame ``(height, width, 3)``.

        Raises:
            MissingExtra: pygame-ce is not installed.
        """
        self._pygame = import_pygame()
        self._pygame.display.init()
        height, width, _ = frame.shape
        self._window = self._pygame.Window(title, (width, height))
        self._clock = self._pygame.time.Clock()
        self.is_open = True

    def show(self, frame: NDArray[np.uint8], fps: float = 0.0) -> None:
        """Show a frame ``(height, width, 3)``, at most ``fps`` times a second; 0 sets no limit."""
        self._watch()
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

    def input_events(self, seconds: float) -> list[InputEvent]:
        """Return the inputs since the last call; wait up to ``seconds`` for the first input."""
        pygame = self._pygame
        kinds: dict[int, Callable[[Any], InputEvent | None]] = {
            pygame.MOUSEMOTION: lambda e: InputEvent("move", e.pos[0]),
            pygame.MOUSEBUTTONDOWN: lambda e: (
                InputEvent("click", e.pos[0]) if e.button == LEFT else None
            ),
            pygame.WINDOWLEAVE: lambda e: InputEvent("leave"),
            pygame.KEYDOWN: lambda e: InputEvent(
                "key", key=_key(e.unicode, pygame.key.name(e.key))
            ),
        }
        waited = 0.0
        while self.is_open:
            self._watch()
            done = [kinds[event.type](event) for event in self._events(*kinds)]
            if found := [event for event in done if event is not None]:
                return found
            if waited >= seconds:
                break
            pygame.time.wait(10)
            waited += 0.01
        return []

    def _watch(self) -> None:
        """Close the window if its close button was pressed."""
        if self.is_open:
            self._pygame.event.pump()
            if self._events(self._pygame.WINDOWCLOSE):
                self.close()

    def _events(self, *kinds: int) -> list[Any]:
        """Take this window's events of the given kinds; other windows' events stay in the queue."""
        mine = []
        for event in self._pygame.event.get(kinds):
            if event.window is self._window:
                mine.append(event)
            else:
                self._pygame.event.post(event)
        return mine


def _key(text: str, name: str) -> str:
    """Return the character that a key types, if it is printable, else the key's name."""
    return text if text.isprintable() and text.strip() else name


def import_pygame() -> Any:
    """Import and return pygame-ce.

    Raises:
        MissingExtra: pygame-ce is not installed, or the installed pygame is not pygame-ce 2.5+.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    with from_extra("window", 'render_mode="human" needs pygame-ce'):
        import pygame
    if not hasattr(pygame, "Window"):
        raise MissingExtra(
            f'render_mode="human" needs pygame-ce 2.5 or later, found pygame {pygame.version.ver}: '
            'pip uninstall pygame, then pip install "c4env[window]"'
        )
    return pygame
