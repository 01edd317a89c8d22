"""Tables in every format."""

import csv
import io
import json
from typing import NamedTuple

import pytest

from c4env.evaluation.ratings.fit import Interval
from c4env.evaluation.tables import (
    Column,
    Result,
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
    content = json.loads(TABLE.json())
    assert {name: str(value) for name, value in content["rows"][0].items()} == first
    assert (content["sentence"], content["notes"]) == ("A title", ["a note"])
    assert str(TABLE) == TABLE.text()
    assert TABLE._repr_markdown_() == TABLE.markdown()
    frame = pytest.importorskip("pandas").DataFrame(content["rows"])
    assert frame.equals(TABLE.frame())


def test_a_result_with_only_tables_has_an_empty_sentence_and_no_notes():
    class Tables(Result):
        def tables(self):
            return {"rows": TABLE}

    empty = {"sentence": "", "rows": TABLE.records(), "notes": []}
    assert json.loads(Tables().json()) == json.loads(json.dumps(empty))


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


def test_a_matrix_stands_for_the_table_where_people_read():
    matrix = Table.of({"": "", "1": ".0%"}, [["one", 0.25]])
    table = Table(COLUMNS, ROWS, "A title", ("a note",), matrix=matrix)
    assert table.text() == f"A title\n\n{matrix.as_text()}\n\na note"
    assert table.markdown() == f"A title\n\n{matrix.as_markdown()}\n\na note"
    assert (table.csv(), table.json()) == (TABLE.csv(), TABLE.json())


def test_a_row_is_shown_in_lines_of_a_few_columns():
    name, share, elo, games = COLUMNS
    lines = [(elo, share), (share,), (games, Column("none", of=lambda row: None))]
    for row, shown in (
        (ROWS[0], ["Elo: +10 (-3 .. +20), share: 25%", "share: 25%", "games: 4"]),
        (ROWS[1], ["Elo: 0 (0 .. 0)", "games: 12"]),
    ):
        table = Table([name, *COLUMNS[1:]], [row], lines=lines)
        plain = Table(COLUMNS, [row])
        assert table.text().splitlines() == shown
        assert table.markdown().splitlines() == [f"- {line}" for line in shown]
        assert (table.csv(), table.json()) == (plain.csv(), plain.json())
