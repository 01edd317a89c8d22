from __future__ import annotations

import pytest

from c4env.errors import InvalidOption
from tests.helpers.paths import DATA
from tests.makers.__main__ import main
from tests.makers.census import census

PUBLISHED = DATA / "strong_solution.tsv"


def published():
    lines = [line for line in PUBLISHED.read_text().splitlines() if not line.startswith("#")]
    return [tuple(map(int, line.split())) for line in lines[1:]]


@pytest.mark.compiled  # counts half a million positions
def test_the_book_that_ships_has_the_counts_of_the_strong_solution(capsys):
    found = [(*count[:4], sum(count[1:4]), count.over) for count in census(8)]
    assert found == published()[:9]
    assert main(["book", "census", "--plies", "2"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["ply", "won", "drawn", "lost", "over", "all"]
    assert shown[-1].split() == ["2", "27", "12", "10", "0", "49"]


def test_other_plies_are_refused(capsys):
    with pytest.raises(InvalidOption, match=r"plies=13: expected 0\.\.12"):
        census(13)
    assert main(["book", "census", "--plies", "-1"]) == 2
    assert "plies=-1" in capsys.readouterr().err
    assert main(["book", "census", "some.bin"]) == 2
    assert "census reads no file" in capsys.readouterr().err
