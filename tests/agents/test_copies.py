"""Copies in the middle of a game: each plays on as the agent it was made of would."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from c4env import Position, agents, batched
from c4env.agents.adapters.model import agent_of
from c4env.agents.base import Agent
from c4env.agents.registry.entries import REQUIRED
from c4env.agents.registry.registry import options_of_entry
from c4env.agents.registry.table import ZOO


def pickled(agent: Any) -> Any:
    return pickle.loads(pickle.dumps(agent))


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": pickled,
    "a copy's copy": lambda agent: copy.deepcopy(pickled(agent)),
}


@batched
def indifferent(seen: Any) -> Any:
    return np.zeros(seen["action_mask"].shape)


# Games that exact play goes on with for long.
MIDDLE = "5645726765425614"
ENDING = "564572676542561454464353222261"
UNIFORM = "puct:function=tests.helpers.policies:uniform,simulations=60"
OPTIONS = [
    *("minimax:depth=2", "alphabeta:depth=3"),
    *("alphabeta-chain:depth=2", "alphabeta-window:depth=3", "alphabeta-window-b:depth=2"),
    *("rust-port:depth=2", "deepening:nodes=300", "learned:nodes=500"),
    *("mcts:simulations=60", "mcts:simulations=60,reuse=false", "mcts:simulations=400,tree_mb=1"),
    *("puct:simulations=30", UNIFORM, f"{UNIFORM},reuse=false,batch=1"),
    *("perfect:blunder=0.5", "perfect:ties=random"),
]
PLAIN = [  # without a program, a server or a package of its own
    entry.name
    for entry in ZOO
    if not entry.needs and REQUIRED not in [option.default for option in options_of_entry(entry)]
]
SPECS = [*OPTIONS, *sorted({*PLAIN} - {spec.partition(":")[0] for spec in OPTIONS})]


def middle(agent: Agent, start: str, moves: int) -> Position:
    """A game of the agent against random play, after so many moves of its own."""
    position, rng = Position.parse(start), np.random.default_rng(5)
    for _ in range(moves):
        position = position.play(agent.choose(position))
        legal = position.legal_columns()
        position = position.play(legal[int(rng.integers(len(legal)))])
    return position


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("spec", [*SPECS, "a model that draws"])
def test_a_copy_plays_on_as_the_agent_would(spec: str, way: str) -> None:
    agent = agent_of(indifferent, 1.0) if spec.startswith("a model") else agents.make(spec)
    late = MIDDLE if spec.startswith(("perfect", "puct:sim", "learned")) else ""
    late = ENDING if spec == "negamax" else late
    agent.reset(7)
    position = middle(agent, late, 1 if late else 3)
    twin = COPIES[way](agent)
    assert (type(twin), twin.name) == (type(agent), agent.name)
    rng = np.random.default_rng(6)
    while position.outcome is None:
        column = agent.choose(position)
        assert twin.choose(position) == column, position
        assert twin.choose(position) == agent.choose(position), position  # they share nothing
        position = position.play(column)
        if position.outcome is None:
            legal = position.legal_columns()
            position = position.play(legal[int(rng.integers(len(legal)))])
