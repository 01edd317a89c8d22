"""Pictures: the right discs in the right places, marked, and to be told apart."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c4env import Position
from c4env.errors import InvalidAction, InvalidOption
from c4env.view.rendering import (
    BOARD_COLOUR,
    DISC_COLOURS,
    HOLE_COLOUR,
    MARK_COLOUR,
    PAGE,
    ansi,
    drawing,
    rgb_array,
    svg,
    words_of,
)
from tests.helpers.processes import run_python
from tests.helpers.strategies import positions

WON = Position.parse("4455667")
ROW = [(5, 3), (5, 4), (5, 5), (5, 6)]


def pixel(frame: np.ndarray, row: int, column: int, scaling: int, offset: float) -> tuple:
    """The pixel ``offset`` units right of the middle of a cell."""
    y = int((4 + 13 * (row + 0.5)) * scaling)
    x = int((4 + 13 * (column + 0.5) + offset) * scaling)
    return tuple(frame[y, x].tolist())


# -- text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "plies", "said"),
    [
        (18, 4, "wins in 3 discs (+18)"),
        (1, 41, "wins in 1 disc (+1)"),
        (-1, 40, "loses in 2 discs (-1)"),
        (0, 0, "draws (0)"),
        (1, 0, "wins in 41 discs (+1)"),
    ],
)
def test_an_exact_score_in_words(score: int, plies: int, said: str) -> None:
    assert words_of(score, plies) == said


@pytest.mark.parametrize("under", [["."] * 7, ["-18", "+1", "0", ".", "-2", "+18", "0"]])
def test_texts_stand_below_their_columns(under: list[str]) -> None:
    *board, numbers, texts = drawing(Position.parse("445"), 4, under=under).splitlines()
    found = list(re.finditer(r"\S+", texts))
    assert [m[0] for m in found] == under
    for column, at in enumerate(m.end() for m in found):
        assert numbers[at - 1] == str(column + 1)
        assert {row[at - 1] for row in board} <= {*".xo"}
    assert "[x]" in board[-1]


def test_ansi() -> None:
    assert ansi(Position.parse("445"), 4) == "\n".join(
        [
            *[" .  .  .  .  .  .  ."] * 4,
            " .  .  .  o  .  .  .",
            " .  .  .  x [x] .  .",
            " 1  2  3  4  5  6  7",
            "player 1 (o) to move",
        ]
    )


def test_ansi_of_a_won_game() -> None:
    lines = ansi(WON, 6).splitlines()
    assert lines[5] == " .  .  .  X  X  X [X]"
    assert lines[4] == " .  .  .  o  o  o  ."
    assert lines[7] == "player 0 (x) won"


def test_ansi_of_a_draw() -> None:
    drawn = Position.parse("725557317577734451561166114446246232623323")
    assert ansi(drawn).endswith("\ndraw")


@given(positions())
def test_ansi_shows_the_board(position: Position) -> None:
    lines = [line.lower().split() for line in ansi(position).splitlines()[:7]]
    assert lines == [line.split() for line in str(position).splitlines()]


def test_ansi_colours_only_add_escape_codes() -> None:
    coloured = ansi(WON, 6, colour=True)
    assert coloured.count("\x1b[91m") == 4
    assert coloured.count("\x1b[93m") == 3
    assert re.sub(r"\x1b\[\d+m", "", coloured) == ansi(WON, 6)


# -- pixels ---------------------------------------------------------------------------------


@given(positions(), st.integers(1, 4))
def test_every_cell_has_its_colour(position: Position, scaling: int) -> None:
    frame = rgb_array(position, screen_scaling=scaling)
    assert frame.shape == (86 * scaling, 99 * scaling, 3)
    assert frame.dtype == np.uint8
    colours = {"x": DISC_COLOURS[0], "o": DISC_COLOURS[1], ".": HOLE_COLOUR}
    for row, line in enumerate(str(position).splitlines()[:6]):
        for column, disc in enumerate(line.split()):
            assert pixel(frame, row, column, scaling, 0.0) == colours[disc]


def test_the_default_size_is_that_of_pettingzoo() -> None:
    assert rgb_array(Position()).shape == (774, 891, 3)


def test_page_and_board() -> None:
    frame = rgb_array(Position())
    assert tuple(frame[0, 0]) == PAGE
    assert tuple(frame[20, 400]) == BOARD_COLOUR


def test_the_winning_line_and_the_last_move_are_marked() -> None:
    frame = rgb_array(WON, 6)
    for row in range(6):
        for column in range(7):
            ringed = pixel(frame, row, column, 9, 4.5) == MARK_COLOUR
            dotted = pixel(frame, row, column, 9, 0.0) == MARK_COLOUR
            assert ringed == ((row, column) in ROW)
            assert dotted == ((row, column) == (5, 6))


def test_nothing_is_marked_unasked() -> None:
    position = Position.parse("4455")
    assert not (rgb_array(position) == MARK_COLOUR).all(axis=2).any()


def test_edges_are_smooth() -> None:
    frame = rgb_array(Position.parse("4"), screen_scaling=3)
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 50
    assert np.array_equal(rgb_array(Position()), rgb_array(Position())[:, ::-1])


def test_the_array_is_fresh() -> None:
    before = rgb_array(WON)
    rgb_array(WON)[:] = 0
    assert np.array_equal(rgb_array(WON), before)
    rgb_array(Position())[:] = 0
    assert rgb_array(Position()).any()


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = np.array(colour) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DISC_COLOURS[0], DISC_COLOURS[1]),
        (DISC_COLOURS[0], HOLE_COLOUR),
        (DISC_COLOURS[1], HOLE_COLOUR),
        (DISC_COLOURS[0], MARK_COLOUR),
    ],
)
def test_colours_differ_in_lightness(one: tuple, other: tuple) -> None:
    dark, light = sorted([luminance(one), luminance(other)])
    assert (light + 0.05) / (dark + 0.05) >= 3


# -- svg ------------------------------------------------------------------------------------


def circles(text: str) -> list[tuple[str | None, str | None]]:
    return [
        (c.get("fill"), c.get("stroke"))
        for c in ElementTree.fromstring(text).iter()
        if c.tag.endswith("circle")
    ]


def test_svg_is_self_contained_and_says_what_it_shows() -> None:
    text = svg(WON, 6)
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    title, description = list(root)[:2]
    assert title.tag.endswith("title")
    assert title.text == "Connect Four: player 0 (x) won"
    assert description.tag.endswith("desc")
    assert description.text == (
        "Discs from the bottom up: column 1: empty; column 2: empty; column 3: empty; "
        "column 4: x o; column 5: x o; column 6: x o; column 7: x. Last move: column 7."
    )
    assert "href" not in text
    assert " id=" not in text  # two pictures on one page must not clash


@given(positions())
def test_svg_has_a_circle_for_every_disc(position: Position) -> None:
    fills = [fill for fill, _ in circles(svg(position))]
    board = str(position)
    for player, disc in enumerate("xo"):
        colour = "#{:02x}{:02x}{:02x}".format(*DISC_COLOURS[player])
        assert fills.count(colour) == board.count(disc)


def test_svg_marks() -> None:
    white = "#ffffff"
    plain, marked = circles(svg(Position.parse("4455"))), circles(svg(WON, 6))
    assert white not in [colour for circle in plain for colour in circle]
    assert [fill for fill, _ in marked].count(white) == 1
    assert [stroke for _, stroke in marked].count(white) == 4


def test_notebooks_show_the_svg() -> None:
    assert WON._repr_svg_() == svg(WON)


# -- arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [ansi, rgb_array, svg])
def test_last_must_fit_the_position(draw: object) -> None:
    position = Position.parse("445")
    for wrong in (0, 3):  # an empty column; a disc of the side to move
        with pytest.raises(InvalidOption, match=f"last={wrong}"):
            draw(position, wrong)  # type: ignore[operator]
    with pytest.raises(InvalidAction, match="7"):
        draw(position, 7)  # type: ignore[operator]


@pytest.mark.parametrize("scaling", [0, -1, 1.5, True, None])
def test_bad_scaling(scaling: object) -> None:
    with pytest.raises(InvalidOption, match="screen_scaling"):
        rgb_array(Position(), screen_scaling=scaling)  # type: ignore[arg-type]


def test_no_toolkit_is_needed() -> None:
    code = (
        "import sys; sys.modules['pygame'] = None\n"
        "import c4env, c4env.view.window\n"
        "e = c4env.env(render_mode='rgb_array'); e.reset(); assert e.render().any()"
    )
    run_python("-c", code, check=True)
