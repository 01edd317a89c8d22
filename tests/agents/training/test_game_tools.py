"""The game as tools: rewards beside those found by hand, what a model reads, and bad calls."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest

from c4env.agents.errors import InvalidValue, UnknownAgent
from c4env.agents.solver import Solver
from c4env.agents.training.game_tools import GameTools, keeps_value, starts
from c4env.errors import (
    IllegalMove,
    InvalidAction,
    InvalidNotation,
    InvalidOption,
    NotReset,
    WrongOrder,
)
from c4env.position import Position
from tests.helpers.judged import judged, lowest


def highest(position):
    return position.legal_columns()[-1]


def play(tools, choose=lowest):
    while tools.result is None:
        text = tools.play(choose(tools.env.position) + 1)
    return text


@pytest.mark.compiled
@pytest.mark.parametrize("choose", [lowest, highest])
def test_the_reward_is_exact(choose):
    tools, weighted = GameTools("greedy"), GameTools("greedy", outcome=0.5, kept=3.0)
    seen = set()
    for row in starts(15, plies=20, seed=5):
        result, kept = judged(row["moves"], choose)
        for game in (tools, weighted):
            game.reset(**row)
            play(game, choose)
            assert (game.result, game.kept) == (result, kept)
        assert tools.get_reward() == pytest.approx(result + np.mean(kept))
        assert weighted.get_reward() == pytest.approx(0.5 * result + 3.0 * np.mean(kept))
        seen |= {result, *kept}
    assert seen == {1, -1, False}


@pytest.mark.compiled
def test_a_move_keeps_the_result_as_the_scores_of_all_columns_say():
    solver = Solver()
    for row in starts(100, plies=30, seed=6):
        position = Position.parse(row["moves"])
        signs = [None if s is None else (s > 0) - (s < 0) for s in solver.scores(position)]
        best = max(sign for sign in signs if sign is not None)
        for column in position.legal_columns():
            assert keeps_value(solver, position, column) == (signs[column] == best)


def test_a_game_that_stops_is_lost_whatever_was_played():
    tools = GameTools(lambda _: 0, outcome=2.0)
    tools.reset("44")
    assert tools.get_reward() == -2.0
    tools.play(4)
    assert tools.result is None
    assert tools.get_reward() == -2.0


def test_a_model_reads_the_rules_then_the_reply_then_the_end():
    tools = GameTools(lambda _: 6)
    text = tools.reset("12", prompt="what TRL passes too")
    assert "Connect Four" in text
    assert "the tool play" in text
    assert "with the discs x" in text
    assert "not full: 1, 2, 3, 4, 5, 6, 7" in text
    text = tools.play(1)
    assert "Your opponent plays column 7." in text
    assert str(tools.env.position) in text
    tools.play(1)
    assert tools.env.position == Position.parse("121717")
    assert "The game is over. You won." in tools.play(1)
    assert tools.result == 1
    assert "with the discs o" in tools.reset("4")
    assert tools.result is None


BAD = ["a", "4", "", None, True, 4.0, 0, 8, -1, [4], {"column": 4}, 10**30]


@pytest.mark.parametrize("column", BAD)
def test_a_bad_column_is_quoted_and_costs_nothing(column):
    tools = GameTools(lambda _: 3)
    tools.reset("44")
    with pytest.raises(InvalidAction) as caught:
        tools.play(column)
    assert str(caught.value) == f"column={column!r}: expected an integer from 1 to 7"
    assert tools.env.position == Position.parse("44")
    tools.play(1)
    assert tools.env.position == Position.parse("4414")


def test_calls_at_the_wrong_time_say_so():
    tools = GameTools(lambda _: 6)
    with pytest.raises(NotReset):
        tools.play(1)
    tools.reset("444444")
    with pytest.raises(IllegalMove, match="column 4 is full"):
        tools.play(4)
    tools.reset("121212")
    tools.play(1)
    with pytest.raises(WrongOrder, match="The game is over"):
        tools.play(1)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"moves": "8"}, InvalidNotation),
        ({"moves": 4}, InvalidNotation),
        ({"moves": "4444444"}, IllegalMove),
        ({"moves": "1212121"}, InvalidOption),
        ({"seed": -1}, InvalidOption),
        ({"seed": "one"}, InvalidOption),
    ],
)
def test_a_bad_start_leaves_the_game_as_it_was(row, error):
    tools = GameTools(lambda _: 6)
    tools.reset("44")
    with pytest.raises(error, match=str(next(iter(row.values())))):
        tools.reset(**row)
    assert tools.env.position == Position.parse("44")
    tools.play(1)


def test_an_unknown_opponent_is_refused_at_once():
    with pytest.raises(UnknownAgent, match="nobody"):
        GameTools("nobody")


def test_a_seed_repeats_the_opponent():
    tools = GameTools("random")

    def game(seed):
        tools.reset(seed=seed)
        play(tools)
        return tools.env.position

    assert game(1) == game(1)
    assert len({game(seed) for seed in range(5)}) > 1


def test_a_model_is_offered_one_tool_with_its_argument_described():
    """TRL offers every public method but ``reset`` and ``get_reward``."""
    methods = {n for n, _ in inspect.getmembers(GameTools, inspect.isfunction) if n[0] != "_"}
    assert methods == {"play", "reset", "get_reward"}
    assert "column: The number of the column, from 1 to 7." in inspect.getdoc(GameTools.play)


def test_starts_are_unfinished_repeat_and_have_all_lengths():
    rows = starts(60, plies=6, seed=3)
    assert rows == starts(60, plies=6, seed=3)
    assert rows != starts(60, plies=6, seed=4)
    assert {len(row["moves"]) for row in rows} == set(range(7))
    assert [row["seed"] for row in rows] == list(range(3, 63))
    assert all(Position.parse(row["moves"]).outcome is None for row in starts(60, plies=30))


@pytest.mark.parametrize(
    "call",
    [
        *(partial(starts, 0), partial(starts, "a"), partial(starts, plies=31)),
        *(partial(GameTools, outcome=float("nan")), partial(GameTools, kept="1")),
    ],
)
def test_bad_numbers_are_refused(call):
    with pytest.raises(InvalidValue, match=r"^(games|plies|outcome|kept)="):
        call()
