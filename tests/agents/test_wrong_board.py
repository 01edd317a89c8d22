"""Two boards never meet: every public entry refuses what belongs to another board, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import c4env
from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.agents.solver import Solver
from c4env.envs.text import TextEnv, fill, read_move, template
from c4env.envs.vectorized.batch import Batch
from c4env.errors import C4Error, WrongBoard
from c4env.view.rendering import ansi, rgb_array, svg
from tests.helpers.boards import WIDEST

SPECS = [
    *("random", "greedy", "minimax:depth=2", "alphabeta:depth=2"),
    *("alphabeta-chain:depth=2", "alphabeta-window:depth=2", "alphabeta-window-b:depth=2"),
    *("rust-port:depth=2", "deepening:nodes=50", "learned:nodes=0", "mcts:simulations=9"),
    *("puct:simulations=9", "perfect", "negamax", "graded"),
]

ENTRIES: dict[str, Callable[[Any], object]] = {
    "Solver.score": lambda p: Solver().score(p),
    "Solver.bounds": lambda p: Solver().bounds(p),
    "Solver.scores_many": lambda p: Solver().scores_many([p]),
    "observe": c4env.observe,
    "ansi": ansi,
    "rgb_array": rgb_array,
    "svg": svg,
    "text.fill": lambda p: fill(template(), p, ""),
    "text.read_move": lambda p: read_move("Move: 4", p),
    "env": lambda p: c4env.env().reset(options={"position": p}),
    "raw_env": lambda p: c4env.raw_env().reset(options={"position": p}),
    "ConnectFourEnv": lambda p: c4env.ConnectFourEnv().reset(options={"position": p}),
    "TextEnv": lambda p: TextEnv().reset(options={"position": p}),
    "vector, position": lambda p: c4env.ConnectFourVectorEnv(2).reset(options={"position": p}),
    "vector, openings": lambda p: c4env.ConnectFourVectorEnv(2, openings=[p]),
    "Batch.reset": lambda p: Batch(2).reset(positions=[p, p]),
    "round_robin, openings": lambda p: evaluation.round_robin(["random", "greedy"], openings=[p]),
}
ENTRIES |= {f"{spec}, choose": lambda p, s=spec: agents.make(s).choose(p) for spec in SPECS}
ENTRIES |= {f"{spec}, search": lambda p, s=spec: agents.make(s).search(p) for spec in SPECS}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_position_of_another_board_is_refused_in_a_line(entry: str) -> None:
    for size, moves in ((4, 4), "1122"), (WIDEST, "99"):
        position = c4env.board(*size).Position.parse(moves)
        with pytest.raises(C4Error) as refused:
            ENTRIES[entry](position)
        assert repr(position) in str(refused.value)
        assert "\n" not in str(refused.value)


class Mine(Agent):
    def choose(self, position: c4env.Position) -> int:
        return position.legal_columns()[0]


OPPONENTS: dict[str, Callable[[], Any]] = {
    "an agent": lambda: agents.make("greedy"),
    "an agent of one's own": Mine,
    "a pool": lambda: agents.Pool({"greedy": 1}),
}


@pytest.mark.parametrize("kind", OPPONENTS)
def test_an_opponent_of_another_board_is_refused_before_it_plays(kind: str) -> None:
    small, opponent = c4env.board(4, 4), OPPONENTS[kind]()
    for play in (
        small.ConnectFourEnv,
        lambda given: small.ConnectFourVectorEnv(2, opponent=given),
        lambda given: small.agents.Pool({given: 1}),
        small.agents.make,
        lambda given: small.agents.register("of-6x7", given),
        lambda given: small.evaluation.round_robin({"a": given, "b": "random"}, openings=0),
        lambda given: gymnasium.make("c4env/ConnectFour-v0", rows=4, columns=4, opponent=given),
    ):
        with pytest.raises(WrongBoard, match=r"made for 6x7x4, not for 4x4x4$"):
            play(opponent)
    with pytest.raises(WrongBoard, match=r"made for 4x4x4, not for 6x7x4$"):
        c4env.ConnectFourEnv(small.agents.make("greedy"))
