from __future__ import annotations

import json

import pytest

from c4env.evaluation.tables import (
    Shown,
    Table,
    as_csv,
    as_markdown,
    as_text,
    for_terminal,
    plural,
    printable,
    signed,
)

TABLE = Table(
    [("name", "share", "games"), ("one|two", Shown(0.25, "25%"), 4), ("three", None, 12)],
    title="A title",
    notes=("a note",),
)


def test_columns_are_aligned():
    assert TABLE.text().splitlines() == [
        "A title",
        "name     share  games",
        "one|two    25%      4",
        "three              12",
        "a note",
    ]
    assert as_text([("a", "b"), ("cc", "d")], left=(1,)) == " a  b\ncc  d"


def test_what_is_wider_than_the_terminal_goes_on_below():
    names = ["deepening:movetime=0.02,heuristic=package.module:function", "greedy"]
    heading = ["agent", *(f"column {i}" for i in range(8))]
    rows = [heading, *([name, *(f"{i}.5% (1-9)" for i in range(8))] for name in names)]
    for columns in (40, 80):
        text = as_text(rows, columns=columns)
        assert max(map(len, text.splitlines())) <= columns
        assert text.count("greedy") == text.count("\n\n") + 1 > 1  # a row has its name in each part
        assert all(text.count(cell) == 1 for cell in heading[1:])
        assert "".join(text.split("\n\n")[0].split()).count("heuristic=package.") == 1
    assert as_text(rows, columns=300) == as_text(rows)


def test_the_other_forms_hold_the_same():
    assert TABLE.markdown().splitlines()[2:4] == [
        "| name | share | games |",
        "| --- | ---: | ---: |",
    ]
    assert "| one\\|two | 25% | 4 |" in TABLE.markdown()
    assert TABLE.csv() == "name,share,games\none|two,0.25,4\nthree,,12"
    found = json.loads(TABLE.json())
    assert found["rows"][0] == {"name": "one|two", "share": 0.25, "games": 4}
    assert found["notes"] == ["a note"]
    assert str(TABLE) == TABLE.text()
    assert TABLE._repr_markdown_() == TABLE.markdown()


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "\x9b31m", "a\rb", "a\nb", "\u2028", "\udc80", "\u202e", "\x00"]
)
def test_control_characters_are_shown_and_not_obeyed(text):
    for shown in (printable(text), as_text([("h",), (text,)]), as_markdown([("h",), (text,)])):
        assert "\\" in shown
        assert printable(shown, keep="\n") == shown
    assert text not in for_terminal(text, colour=True) or text == "a\nb"


def test_words_and_numbers():
    assert (plural(1, "game"), plural(0, "game"), plural(2, "opening")) == (
        "1 game",
        "0 games",
        "2 openings",
    )
    assert [signed(x) for x in (-0.4, 0.0, 0.4, 12.6, -3.5)] == ["0", "0", "0", "+13", "-4"]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-x", "\t=1"])
def test_no_spreadsheet_calculates_a_cell(text):
    assert as_csv([[text]]).lstrip('"').startswith("'")
