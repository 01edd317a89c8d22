"""Tables, and the short labels of agents."""

import csv
import io
import json
from typing import NamedTuple

import pytest

from c4env.evaluation.rating.fit import Interval
from c4env.evaluation.report.page import LABEL, labels
from c4env.evaluation.tables import (
    Column,
    Table,
    for_terminal,
    plural,
    printable,
    rounded,
    shortened,
    signed,
    width,
)


class Row(NamedTuple):
    name: str
    share: float | None
    elo: Interval
    games: int


COLUMNS = (
    Column("name"),
    Column("share", ".0%"),
    Column("Elo", signed, lambda row: row.elo),
    Column("games"),
)
ROWS = (
    Row("one|two", 0.25, Interval(9.5, -3.25, 20), 4),
    Row("three", None, Interval(0, 0, 0), 12),
)
TABLE = Table(COLUMNS, ROWS, "A title", ("a note",))


def test_all_formats_are_printed_from_the_same_columns():
    assert TABLE.text().splitlines() == [
        "A title",
        "",
        "name     share              Elo  games",
        "one|two    25%  +10 (-3 .. +20)      4",
        "three                0 (0 .. 0)     12",
        "",
        "a note",
    ]
    assert TABLE.markdown().splitlines()[2:5] == [
        "| name | share | Elo | games |",
        "| --- | ---: | ---: | ---: |",
        "| one\\|two | 25% | +10 (-3 .. +20) | 4 |",
    ]
    first, second = csv.DictReader(io.StringIO(TABLE.csv()))
    assert [*first] == ["name", "share", "Elo", "Elo_low", "Elo_high", "games"]
    assert (first["Elo_low"], second["share"]) == ("-3.25", "")
    found = json.loads(TABLE.json())
    assert {name: str(value) for name, value in found["rows"][0].items()} == first
    assert (found["sentence"], found["notes"]) == ("A title", ["a note"])
    assert str(TABLE) == TABLE.text()
    assert TABLE._repr_markdown_() == TABLE.markdown()
    frame = pytest.importorskip("pandas").DataFrame(found["rows"])
    assert frame.equals(TABLE.frame())


def test_whole_names_are_printed_and_numbers_that_json_has_not_are_empty():
    name = "deepening:movetime=0.02,heuristic=package.module:function"
    table = Table.of({"agent": "", "ms": ".1f"}, [[name, float("nan")], ["greedy", float("inf")]])
    assert table.text().splitlines()[1:] == [name, "greedy"]
    assert [row["ms"] for row in json.loads(table.json())["rows"]] == [None, None]


def test_control_characters_are_shown_and_not_obeyed_but_for_colours():
    for text in ("\x1b[2Jgone", "\x9b31m", "a\rb", "a\nb", "\u2028", "\udc80", "\u202e", "\x00"):
        table = Table.of({"h": ""}, [[text]])
        for shown in (printable(text), table.text(), table.markdown()):
            assert "\\" in shown
            assert printable(shown, keep="\n") == shown
        assert text not in for_terminal(text, colour=True) or text == "a\nb"
    assert for_terminal("\x1b[31mred\x1b[0m", colour=True) == "\x1b[31mred\x1b[0m"
    assert for_terminal("\x1b[31mred\x1b[0m", colour=False) == "red"


def test_wide_characters_take_two_columns():
    assert width("棋e\u0301") == 3
    assert shortened("棋棋棋棋", 7) == "棋棋..."
    assert shortened("short", 5) == "short"
    assert shortened("longer", 5) == "lo..."


def test_words_and_numbers():
    assert [plural(n, "game") for n in (1, 0, 2)] == ["1 game", "0 games", "2 games"]
    assert [signed(x) for x in (-0.4, 0.0, 0.4, 12.5, -3.5)] == ["0", "0", "0", "+13", "-4"]
    assert rounded(0.125, ".0%") == "13%"
    assert [Column("h").shown(x) for x in (True, False, None)] == ["yes", "no", ""]


SWEEP = [f"alphabeta:depth={d},heuristic={h}" for d in (2, 4, 6) for h in ("chain", "window")]


def test_a_sweep_shows_what_differs():
    short = labels(["random", *SWEEP, "greedy"])
    assert [short[name] for name in SWEEP[:3]] == [
        "depth=2,heuristic=chain", "depth=2,heuristic=window", "depth=4,heuristic=chain",
    ]  # fmt: skip
    assert (short["random"], short["greedy"]) == ("random", "greedy")
    assert [*labels(SWEEP[::2]).values()] == ["depth=2", "depth=4", "depth=6"]
    wide = [f"{name},order=historic" for name in SWEEP]
    assert labels(wide)[wide[0]] == "depth=2,heuristic=chain"
    assert labels([*wide, "alphabeta:depth=5"])[wide[3]] == "4,window,historic"
    engines = [f"exec:./engines/version-{n} --threads 4" for n in range(3)]
    assert [*labels(engines).values()] == ["version-0", "version-1", "version-2"]


@pytest.mark.parametrize("columns", [8, LABEL, 39])
def test_no_label_is_too_wide_and_no_two_are_alike(columns):
    names = [*(f"exec:./a/long/path/{i}/to/an/engine" for i in range(15)), "棋" * 30, "greedy"]
    names += [f"棋{'子' * n}:depth={n},order={'abc'[n]}" for n in range(3)]
    names += [*SWEEP, "depth=2,heuristic=chain"]  # a name that is the label of another
    short = labels(names, columns)
    assert list(short) == list(dict.fromkeys(names))
    assert len({*short.values()}) == len(short)
    assert max(map(width, short.values())) <= columns
    assert short["greedy"] == "greedy"
