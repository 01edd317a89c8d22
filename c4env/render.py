"""Show a position as text, pixels or SVG, or in a window.

Every picture marks the last disc played and the winning line. The colours differ in
lightness as well as in hue, for readers without colour vision, and only player 0's discs
have a groove.

The pixels keep the geometry of PettingZoo's connect four: with ``screen_scaling`` s the array is
``(86 s, 99 s, 3)``, a cell is 13 s wide, and the frame around the board 4 s.

:class:`Viewer` shows the game of an environment. Only a :class:`Window` needs pygame-ce.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Float64s
from c4env.errors import InvalidOption, MissingExtra, require_integer
from c4env.lazy import from_extra
from c4env.position import DIGITS, DISCS, EMPTY, Position, parse_column, require_position
from c4env.rules import COLUMN, COLUMNS, ROWS, STRIDE, discs_at_end

RENDER_MODES: Final = ("human", "rgb_array", "ansi")
DEFAULT_SCALING: Final = 9  # PettingZoo's
VIDEO_SCALING: Final = 8  # of Gymnasium's forms: many players show no video of an odd size

# Geometry in units of screen_scaling.
_CELL: Final = 13
_FRAME: Final = 4
_HEIGHT: Final = ROWS * _CELL + 2 * _FRAME
_WIDTH: Final = COLUMNS * _CELL + 2 * _FRAME
_CORNER: Final = 5.0  # radius of the board's corners
_HOLE: Final = 5.3  # radii, from the middle of a cell
_DISC: Final = 5.0
_GROOVE: Final = (2.9, 3.3)
_LAST: Final = 1.3
_LINE: Final = (4.0, 5.0)  # the ring on a winning disc

_Colour = tuple[int, int, int]
_Pixels = Float64s
_Tiles = dict[tuple[int, bool, bool], NDArray[np.uint8]]  # by player, last, line
PAGE: Final[_Colour] = (244, 246, 250)
BOARD_COLOUR: Final[_Colour] = (38, 84, 160)
HOLE_COLOUR: Final[_Colour] = (13, 29, 60)
SIDES: Final = ("red x", "yellow o")  # players 0, 1, as the pages and :func:`ansi` show them
DISC_COLOURS: Final[tuple[_Colour, _Colour]] = ((205, 56, 42), (255, 212, 66))  # players 0, 1
RIM_COLOURS: Final[tuple[_Colour, _Colour]] = ((150, 34, 26), (222, 170, 26))
MARK_COLOUR: Final[_Colour] = (255, 255, 255)
MARK_RIM: Final[_Colour] = (30, 30, 34)


def ansi(position: Position, last: int | None = None, *, colour: bool = False) -> str:
    """Draw the board as text for a terminal, with a line for the player to move or the winner.

    ``x`` is player 0 and ``o`` player 1. Brackets mark the last disc, and capitals the discs of the
    winning line.

    Args:
        position: a position of this board.
        last: 0-based column of the last move; None highlights no disc.
        colour: colour the discs with terminal escape codes.
    """
    return f"{drawing(position, last, colour=colour)}\n{_caption(position)}"


def drawing(
    position: Position,
    last: int | None = None,
    *,
    colour: bool = False,
    under: Sequence[str] = (),
) -> str:
    """Return the board of :func:`ansi` without the last line.

    Args:
        position, last, colour: see :func:`ansi`.
        under: a text for each column, to align below the columns.
    """
    width = 1 + max(2, *map(len, under)) if under else 3
    board = [[f"{EMPTY} ".rjust(width)] * COLUMNS for _ in range(ROWS)]
    for cell in _cells(position, last):
        disc = DISCS[cell.player]
        text = disc.upper() if cell.line else disc
        text = (f"[{text}]" if cell.last else text).rjust(width - (not cell.last))
        if colour:
            text = f"\x1b[{(91, 93)[cell.player]}m{text}\x1b[0m"
        board[cell.row][cell.column] = text + " " * (not cell.last)
    rows = [*board, *([f"{text} ".rjust(width) for text in row] for row in (DIGITS, under))]
    return "\n".join("".join(row).rstrip() for row in rows if row)


def words_of(score: int, plies: int) -> str:
    """Describe an exact score for the side to move, such as ``wins in 3 discs (+18)``."""
    if score == 0:
        return "draws (0)"
    discs = discs_at_end(plies, score) - plies
    return f"{'wins' if score > 0 else 'loses'} in {discs} disc{'s'[: discs > 1]} ({score:+d})"


def rgb_array(
    position: Position,
    last: int | None = None,
    *,
    screen_scaling: int = DEFAULT_SCALING,
) -> NDArray[np.uint8]:
    """Draw the board as pixels, uint8 ``(86 * screen_scaling, 99 * screen_scaling, 3)``.

    Player 0's discs are red with a groove; player 1's discs are yellow and plain. The last disc has
    a white dot, the discs of the winning line a white ring. The array is new.

    Args:
        position: a position of this board.
        last: 0-based column of the last move; None highlights no disc.
        screen_scaling: size, a positive integer.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        InvalidOption: ``screen_scaling`` is not a positive integer, or the side that moved last
            has no disc on top of column ``last``.
    """
    screen_scaling = require_integer("screen_scaling", screen_scaling)
    empty, tiles = _artwork(screen_scaling)
    pixels = empty.copy()
    size, frame = _CELL * screen_scaling, _FRAME * screen_scaling
    for cell in _cells(position, last):
        top, left = frame + cell.row * size, frame + cell.column * size
        pixels[top : top + size, left : left + size] = tiles[cell.player, cell.last, cell.line]
    return pixels


def svg(position: Position, last: int | None = None) -> str:
    """Draw the board as a self-contained SVG picture with a title and a description.

    ``last`` is the 0-based column of the last move; None highlights no disc.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        InvalidOption: the side that moved last has no disc on top of column ``last``.
    """
    shapes = [
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="{_CORNER}" fill="{_hex(BOARD_COLOUR)}"/>'
    ]
    for row in range(ROWS):
        for column in range(COLUMNS):
            shapes.append(_circle(row, column, _HOLE, fill=HOLE_COLOUR))
    for cell in _cells(position, last):
        place = cell.row, cell.column
        rim = RIM_COLOURS[cell.player]
        shapes.append(_circle(*place, _DISC - 0.2, fill=DISC_COLOURS[cell.player], stroke=rim))
        if cell.player == 0:
            shapes.append(_circle(*place, sum(_GROOVE) / 2, stroke=rim))
        if cell.line:
            inner, outer = _LINE
            shapes.append(_circle(*place, inner, stroke=MARK_RIM, width=0.6))
            middle = (inner + outer) / 2
            shapes.append(_circle(*place, middle, stroke=MARK_COLOUR, width=outer - inner))
        if cell.last:
            shapes.append(_circle(*place, _LAST, fill=MARK_COLOUR, stroke=MARK_RIM))
    for column, digit in enumerate(DIGITS):
        x = _FRAME + (column + 0.5) * _CELL
        shapes.append(
            f'<text x="{x}" y="{_HEIGHT + 4.2}" text-anchor="middle" font-size="4" '
            f'font-family="sans-serif" fill="#808080">{digit}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH * 4}" '
        f'height="{(_HEIGHT + 6) * 4}" viewBox="0 0 {_WIDTH} {_HEIGHT + 6}">'
        f"<title>Connect Four: {_caption(position)}</title>"
        f"<desc>{_description(position, last)}</desc>{''.join(shapes)}</svg>"
    )


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
        """Show a frame ``(height, width, 3)``, at most ``fps`` per second; 0 sets no limit."""
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


# -- discs and words -------------------------------------------------------------------


class _Cell(NamedTuple):
    """A disc: its place, its player, and whether it is the last or in the winning line."""

    row: int  # 0 on top
    column: int
    player: int
    last: bool
    line: bool


def _cells(position: Position, last: int | None) -> list[_Cell]:
    """Return every disc of the position, from the highest bit down."""
    require_position(position)
    boards = position.discs(0), position.discs(1)
    occupied = boards[0] | boards[1]
    last_bit = -1
    if last is not None:
        last = parse_column(last)
        last_bit = (occupied & (COLUMN << (STRIDE * last))).bit_length() - 1
        if last_bit < 0 or not position.theirs >> last_bit & 1:
            raise InvalidOption(
                f"last={last}: the side that moved last has no disc on top of that column in\n"
                f"{position}"
            )
    line = position.outcome.cells if position.outcome else ()
    cells = []
    while occupied:
        bit = occupied.bit_length() - 1
        occupied ^= 1 << bit
        column, height = divmod(bit, STRIDE)
        row = ROWS - 1 - height
        cells.append(
            _Cell(row, column, boards[1] >> bit & 1, bit == last_bit, (row, column) in line)
        )
    return cells


def _player(player: int) -> str:
    return f"player {player} ({DISCS[player]})"


def _caption(position: Position) -> str:
    if position.outcome is None:
        return f"{_player(position.to_move)} to move"
    if position.outcome.winner is None:
        return "draw"
    return f"{_player(position.outcome.winner)} won"


def _description(position: Position, last: int | None) -> str:
    """Describe the board column by column from the bottom, for screen readers."""
    columns: list[list[str]] = [[] for _ in range(COLUMNS)]
    for cell in sorted(_cells(position, last), reverse=True):
        columns[cell.column].append(DISCS[cell.player])
    parts = [
        f"column {digit}: {' '.join(discs) or 'empty'}"
        for digit, discs in zip(DIGITS, columns, strict=True)
    ]
    text = "Discs from the bottom up: " + "; ".join(parts) + "."
    return text if last is None else f"{text} Last move: column {DIGITS[last]}."


# -- SVG -------------------------------------------------------------------------------


def _hex(colour: _Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _circle(
    row: int,
    column: int,
    radius: float,
    *,
    fill: _Colour | None = None,
    stroke: _Colour | None = None,
    width: float = 0.4,
) -> str:
    x, y = _FRAME + (column + 0.5) * _CELL, _FRAME + (row + 0.5) * _CELL
    outline = "" if stroke is None else f' stroke="{_hex(stroke)}" stroke-width="{width}"'
    paint = "none" if fill is None else _hex(fill)
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{paint}"{outline}/>'


# -- pixels ----------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _artwork(scaling: int) -> tuple[NDArray[np.uint8], _Tiles]:
    """Draw the empty board, and a tile for each kind of disc; cached for each size."""
    size, frame = _CELL * scaling, _FRAME * scaling
    hole = _paint(_flat(size, size, BOARD_COLOUR), HOLE_COLOUR, _ring(size, 0.0, _HOLE))
    # Light from above makes the hole's lower edge brighter.
    shade = np.linspace(-0.5, 1.0, size)[:, None].clip(0.0, 1.0)
    hole = _paint(hole, (92, 137, 208), _ring(size, _HOLE - 0.25, _HOLE) * shade)

    board = _flat(_HEIGHT * scaling, _WIDTH * scaling, PAGE)
    board = _paint(board, BOARD_COLOUR, _rounded(_HEIGHT * scaling, _WIDTH * scaling, scaling))
    board[frame:-frame, frame:-frame] = np.tile(hole, (ROWS, COLUMNS, 1))

    tiles = {}
    for player in (0, 1):
        plain = _paint(hole, RIM_COLOURS[player], _ring(size, 0.0, _DISC))
        plain = _paint(plain, DISC_COLOURS[player], _ring(size, 0.0, _DISC - 0.4))
        if player == 0:
            plain = _paint(plain, RIM_COLOURS[player], _ring(size, *_GROOVE))
        for line in (False, True):
            drawn = plain
            if line:
                drawn = _paint(drawn, MARK_RIM, _ring(size, _LINE[0] - 0.3, _LINE[1]))
                drawn = _paint(drawn, MARK_COLOUR, _ring(size, *_LINE))
            tiles[player, False, line] = drawn.round().astype(np.uint8)
            drawn = _paint(drawn, MARK_RIM, _ring(size, 0.0, _LAST + 0.3))
            drawn = _paint(drawn, MARK_COLOUR, _ring(size, 0.0, _LAST))
            tiles[player, True, line] = drawn.round().astype(np.uint8)
    return board.round().astype(np.uint8), tiles


def _flat(height: int, width: int, colour: _Colour) -> _Pixels:
    return np.full((height, width, 3), colour, np.float64)


def _paint(pixels: _Pixels, colour: _Colour, coverage: _Pixels) -> _Pixels:
    """Blend pixels with a colour by a shape's coverage ``(height, width)``."""
    return pixels + (np.array(colour) - pixels) * coverage[..., None]


def _covered(depth: _Pixels) -> _Pixels:
    """Return the covered fraction of a pixel whose centre is ``depth`` pixels inside a shape."""
    return np.clip(depth + 0.5, 0.0, 1.0)


def _ring(size: int, inner: float, outer: float) -> _Pixels:
    """Return the coverage ``(size, size)`` of a ring in a cell that is ``_CELL`` units wide."""
    unit = size / _CELL
    middle = np.arange(size) + 0.5 - size / 2
    distance = np.hypot(middle[:, None], middle[None, :])
    covered = _covered(outer * unit - distance)
    return covered - _covered(inner * unit - distance) if inner else covered


def _rounded(height: int, width: int, scaling: int) -> _Pixels:
    """Return the coverage ``(height, width)`` of the whole rectangle with rounded corners."""
    radius = _CORNER * scaling
    beyond = [
        np.maximum(np.abs(np.arange(length) + 0.5 - length / 2) - (length / 2 - radius), 0.0)
        for length in (height, width)
    ]
    return _covered(radius - np.hypot(beyond[0][:, None], beyond[1][None, :]))
