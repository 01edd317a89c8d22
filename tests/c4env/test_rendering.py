"""Pictures: the right discs in the right places, marked, and to be told apart."""

from functools import partial
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, env
from c4env.render import DISC_COLOURS, HOLE_COLOUR, MARK_COLOUR, ansi, rgb_array, svg, words_of
from tests.rules.strategies import positions

WON = Position.parse("4455667")
ROW = [(5, 3), (5, 4), (5, 5), (5, 6)]


def pixel(frame, row, column, scaling, offset):
    """The pixel ``offset`` units right of the middle of a cell."""
    y = int((4 + 13 * (row + 0.5)) * scaling)
    x = int((4 + 13 * (column + 0.5) + offset) * scaling)
    return tuple(frame[y, x].tolist())


def test_an_exact_score_in_words():
    assert words_of(18, 4) == "wins in 3 discs (+18)"
    assert words_of(1, 41) == "wins in 1 disc (+1)"
    assert words_of(-1, 40) == "loses in 2 discs (-1)"
    assert words_of(0, 0) == "draws (0)"
    assert words_of(1, 0) == "wins in 41 discs (+1)"


def test_ansi():
    assert ansi(Position.parse("445"), 4) == "\n".join(
        [
            *[" .  .  .  .  .  .  ."] * 4,
            " .  .  .  o  .  .  .",
            " .  .  .  x [x] .  .",
            " 1  2  3  4  5  6  7",
            "player 1 (o) to move",
        ]
    )


@given(positions())
def test_ansi_shows_the_board(position):
    lines = [line.lower().split() for line in ansi(position).splitlines()[:7]]
    assert lines == [line.split() for line in str(position).splitlines()]


@given(positions(), st.integers(1, 4))
def test_every_cell_has_its_colour(position, scaling):
    frame = rgb_array(position, screen_scaling=scaling)
    assert frame.shape == (86 * scaling, 99 * scaling, 3)
    assert frame.dtype == np.uint8
    colours = {"x": DISC_COLOURS[0], "o": DISC_COLOURS[1], ".": HOLE_COLOUR}
    for row, line in enumerate(str(position).splitlines()[:6]):
        for column, disc in enumerate(line.split()):
            assert pixel(frame, row, column, scaling, 0.0) == colours[disc]


def test_the_winning_line_and_the_last_move_are_marked():
    frame = rgb_array(WON, 6)
    for row in range(6):
        for column in range(7):
            ringed = pixel(frame, row, column, 9, 4.5) == MARK_COLOUR
            dotted = pixel(frame, row, column, 9, 0.0) == MARK_COLOUR
            assert ringed == ((row, column) in ROW)
            assert dotted == ((row, column) == (5, 6))


def test_pictures_of_gymnasiums_forms_have_an_even_size_as_videos_need():
    """For an odd one MoviePy writes yuv444p, which many players refuse; PettingZoo's is odd."""
    make = partial(ConnectFourVectorEnv, 1)
    sizes = {ConnectFourEnv: (688, 792), make: (688, 792), env: (774, 891)}
    for make, size in sizes.items():
        environment = make(render_mode="rgb_array")
        environment.reset(seed=1)
        picture = environment.render()
        assert np.shape(picture[0] if isinstance(picture, tuple) else picture) == (*size, 3)


def test_svg_is_self_contained_and_says_what_it_shows():
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
def test_svg_has_a_circle_for_every_disc(position):
    parts = ElementTree.fromstring(svg(position)).iter()
    circles = [part.attrib for part in parts if part.tag.endswith("circle")]
    board = [line.split() for line in str(position).splitlines()]
    for player, disc in enumerate("xo"):
        colour = "#{:02x}{:02x}{:02x}".format(*DISC_COLOURS[player])
        places = [(float(c["cy"]), float(c["cx"])) for c in circles if c["fill"] == colour]
        cells = [(row, column) for row in range(6) for column in range(7)]
        expected = [(10.5 + 13 * r, 10.5 + 13 * c) for r, c in cells if board[r][c] == disc]
        assert sorted(places) == expected
