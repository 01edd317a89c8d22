import json
from dataclasses import FrozenInstanceError

import pytest

from c4env import agents, evaluation
from c4env.errors import UnreadableRun
from c4env.evaluation.ratings.tally import Tally
from c4env.evaluation.results.leaderboard import Leaderboard, place_in_field, stored_board
from tests.makers.leaderboard import FIELD, board_of, format_of

SMALL = ["random", "greedy", "minimax:depth=2"]


@pytest.fixture(scope="module")
def run():
    return evaluation.round_robin(SMALL, openings=2, seed=0)


@pytest.fixture(scope="module")
def board(run):
    return board_of(run, dict.fromkeys(SMALL, "published"))


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
    assert Leaderboard.parse(format_of(board)) == board
    assert format_of(board).isascii()


def test_what_is_not_a_leaderboard_is_refused(board):
    value = json.loads(format_of(board))
    for change in ({"format": "another"}, {"openings": ["1"]}, {"results": {}}, {"unknown": 1}):
        with pytest.raises(UnreadableRun, match="somewhere: not a leaderboard"):
            Leaderboard.parse(json.dumps({**value, **change}), "somewhere")
    with pytest.raises(UnreadableRun, match="somewhere: not a leaderboard"):
        Leaderboard.parse(format_of(board)[:-10], "somewhere")


def test_a_member_placed_again_lands_where_it_was(board):
    """It meets the same agents from the same openings, and, new, itself."""
    before = {r.player: r for r in board.rate()}
    placed = place_in_field("minimax:depth=2", board)
    after = {r.player: r for r in placed.ratings}
    assert placed.name == "minimax:depth=2 (again)"
    own = after[placed.name]
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
    assert board.field == FIELD
    assert board.rate()[-1].player == "random"
    assert board.version[0].isdigit()
    n = len(board.field)
    assert board.games == n * (n - 1) * len(board.openings)
