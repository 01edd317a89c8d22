import json
from dataclasses import FrozenInstanceError

import pytest

from c4env import agents, evaluation
from c4env.errors import UnreadableRun
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.studies.leaderboard import DEFAULT, FIELD, Leaderboard, place, stored_board

SMALL = ["random", "greedy", "minimax:depth=2"]


@pytest.fixture(scope="module")
def run():
    return evaluation.round_robin(SMALL, openings=2, seed=0)


@pytest.fixture(scope="module")
def board(run):
    return Leaderboard.of(run, dict.fromkeys(SMALL, "published"))


def test_a_board_keeps_every_result(run, board):
    assert board.games == len(run.games) == 150
    ours, theirs = board.tally(), Tally.of(run.games, SMALL)
    assert (ours.players, ours.openings) == (theirs.players, theirs.openings)
    assert (ours.points == theirs.points).all()
    assert (ours.games == theirs.games).all()
    assert board.rate() == run.ratings


def test_a_board_cannot_be_changed_and_is_read_back_from_text(board):
    with pytest.raises(FrozenInstanceError):
        board.version = "another"
    assert Leaderboard.parse(board.format()) == board
    assert board.format().isascii()


def test_what_is_no_board_is_refused(board):
    text = board.format()
    for change in (
        {"format": "another"},
        {"openings": ["1"]},
        {"results": {}},
        {"field": {"nobody": "published", "random": "published"}},
        {"unknown": 1},
        None,
    ):
        wrong = json.dumps({**json.loads(text), **change}) if change else text[:-10]
        with pytest.raises(UnreadableRun, match="somewhere: not a leaderboard"):
            Leaderboard.parse(wrong, "somewhere")


def test_a_member_placed_again_lands_where_it_was(board):
    """It meets the same agents from the same openings, and, new, itself."""
    before = {r.player: r for r in board.rate()}
    found = place("minimax:depth=2", board)
    after = {r.player: r for r in found.ratings}
    assert found.name == "minimax:depth=2 (again)"
    own = after[found.name]
    assert own.games == 150
    assert own.low < before["minimax:depth=2"].elo < own.high
    assert sum(after[spec].elo for spec in SMALL) == pytest.approx(0, abs=1e-6)
    for spec in SMALL:
        assert before[spec].low < after[spec].elo < before[spec].high


def test_the_field_is_made_of_agents_that_exist():
    for spec in FIELD:
        agents.make(spec).close()
    published = {"alphabeta-chain", "alphabeta-window", "alphabeta-window-b"}
    assert published | {"random", "greedy", "rust-port", "perfect"} <= FIELD.keys()


def test_the_stored_board_is_of_the_field():
    board = stored_board()
    assert len(board.field) >= 11
    assert board.rate()[-1].player == "random"
    assert board.version[0].isdigit()
    n = len(board.field)
    assert board.games == n * (n - 1) * len(board.openings)


def test_the_commands(tmp_path, c4, monkeypatch):
    store = tmp_path / "board.json"
    few = dict.fromkeys(SMALL, DEFAULT)
    monkeypatch.setattr(
        "c4env.evaluation.studies.leaderboard.play_leaderboard.__defaults__", (few, False)
    )
    once = ["--jobs", "1", "--quiet"]
    arguments = ["leaderboard", "--quick", *once, "--out", tmp_path / "d", "--format", "markdown"]
    table = c4(*arguments, "--store", store)
    assert (tmp_path / "d").is_dir()
    assert Leaderboard.parse(store.read_text()).games == 36
    assert c4(*arguments).strip() == table.strip()  # from the run directory
    shown = c4("leaderboard", "--place", "alphabeta:depth=3", "--field", store, *once)
    assert "alphabeta:depth=3: place" in shown
    assert "of 36 games" in shown
    assert "too few" not in shown  # the field's openings are what they are
    (tmp_path / "lost.py").write_text("agent = lambda observation: None\n")
    newcomer = ["--place", f"{tmp_path / 'lost.py'}:agent", "--field", store, "--limit", "1"]
    shown = c4("leaderboard", *newcomer, *once)
    assert "lost.py:agent played 1 of 6 openings: more give a more exact place." in shown
    assert "lost.py:agent forfeited 6 games (6 nonsense), for example: nonsense: None" in shown
    assert "1-2  learned  " in c4("leaderboard", "--stored")
