import csv
import io
import json

import pytest

from c4env.evaluation.rating.tally import FORFEIT_KINDS, Cell, WinTable, costs
from c4env.evaluation.store.run_files import FORFEITS, GameRecord


def game(first, second, winner, moves="1212121", ending="four"):
    return GameRecord((first, second), "12", moves, winner, ending)


GAMES = [
    game("weak", "strong", 1),
    game("weak", "strong", None, "1"),
    game("strong", "weak", 0),
    game("strong", "weak", 0),
    game("mid", "weak", 1, "12", "illegal column"),
    game("mid", "weak", 1, "13", "illegal column"),
    game("mid", "strong", 1, "12", "exception"),
]


def test_rows_are_the_first_player_and_totals_add_up():
    table = WinTable.of(GAMES)
    assert table.cell("weak", "strong") == Cell(0, 1, 1)
    assert table.cell("strong", "weak") == Cell(2, 0, 0)
    assert table.cell("strong", "mid") == Cell()
    assert table.cell("strong", "mid").score is None
    assert table.total("strong") == Cell(4, 1, 0)
    assert (table.total("strong").games, table.total("strong").score) == (5, 4.5 / 5)
    assert table.as_first("weak") == Cell(0, 1, 1)
    assert table.as_second("weak") == Cell(2, 0, 2)
    assert sum((table.total(p).games for p in table.players), 0) == 2 * table.games
    assert table.players == ("strong", "weak", "mid")


def test_forfeits_are_counted():
    table = WinTable.of(GAMES)
    assert table.forfeits == {"mid": {"illegal column": 2, "exception": 1}}
    assert table.games == 7
    assert table.kinds == ["crashes", "illegal"]
    counted = [column.value("mid") for column in table.forfeit_columns(str)]
    assert counted == [table.forfeited("mid", kind) for kind in table.kinds] == [1, 2]
    assert sorted(sum(FORFEIT_KINDS.values(), ())) == sorted(FORFEITS)
    assert "7 games, openings of 2 plies" in table.text()
    assert "(1 exception, 2 illegal column), for example: " in table.text()


def test_every_form_holds_the_same_counts():
    table = WinTable.of(GAMES)
    assert table.text().splitlines()[1].split() == ["1", "strong", "100", "100", "83"]
    lines = [line for line in table.markdown().splitlines() if line.startswith("|")]
    assert len(lines) == 5
    assert len({line.count(" | ") for line in lines}) == 1
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert {(r["first"], r["second"]): int(r["games"]) for r in rows} == {
        key: cell.games for key, cell in table.cells.items()
    }
    data = json.loads(table.json())
    assert [{name: str(value) for name, value in pair.items()} for pair in data["pairs"]] == rows


def test_an_agents_own_moves_are_counted():
    played = {"nodes": (20, 10), "seconds": (0.006, 0.002)}
    game = GameRecord(("a", "b"), "123", "1234567", None, "full board", **played)
    found = costs([game, game])  # moves 5, 7 and 4, 6
    assert {player: (cost.moves, cost.nodes) for player, cost in found.items()} == {
        "a": (4, 40),
        "b": (4, 20),
    }
    assert found["a"].seconds_a_move == pytest.approx(0.003)
    slow = GameRecord(("b", "a"), "", "12", None, "full board", seconds=(9.0, 0.003))
    assert costs([game, slow, game])["b"].seconds_a_move == pytest.approx(0.001)
    without_a_move = GameRecord(("a", "b"), "12", "12", 1, "exception", seconds=(0.5, 0.0))
    assert costs([without_a_move])["b"].seconds_a_move == 0
