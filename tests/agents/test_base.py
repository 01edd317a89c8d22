"""The policy interface, and the agents in another project's environment."""

from __future__ import annotations

import copy
import pickle
import signal
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import c4env
from c4env import Position, agents, observe
from c4env.agents.base import Agent, SearchingAgent, require_move
from c4env.agents.errors import NoMove, NoSearch
from c4env.errors import InvalidObservation, InvalidPosition
from tests.helpers import reference
from tests.helpers.processes import start_python
from tests.helpers.strategies import positions

QUICK = {  # the agents that can play from the opening, shallow enough for an uncompiled pass
    "alphabeta": "alphabeta:depth=2,heuristic=lines",
    "alphabeta-chain": "alphabeta-chain:depth=2",
    "alphabeta-window": "alphabeta-window:depth=3",
    "alphabeta-window-b": "alphabeta-window-b:depth=2",
    "greedy": "greedy",
    "minimax": "minimax:depth=2",
    "random": "random",
    "rust-port": "rust-port:depth=2",
}


OTHERS = "deepening", "learned", "mcts", "negamax", "perfect", "puct"


class First(Agent):
    """Always the first legal column."""

    def choose(self, position: Position) -> int:
        require_move(position)
        return position.legal_columns()[0]


@given(positions(finished=False))
def test_an_agent_answers_an_observation_as_it_answers_its_position(position: Position) -> None:
    for agent in (First(), agents.make("greedy"), agents.make("minimax:depth=1")):
        column = agent.choose(position)
        assert column in position.legal_columns()
        assert agent(observe(position)) == column
        assert agent(observe(position)["observation"]) == column
        assert type(agent(observe(position))) is int


def test_what_an_agent_is_without_more() -> None:
    agent = First()
    assert not agent.deterministic  # it may draw lots
    assert agent.nodes == 0
    assert agent.name == ""
    assert repr(agent) == "First()"
    agent.reset(seed=1)
    agent.reset()
    seeds: list[Any] = []
    agent.reset = seeds.append  # type: ignore[method-assign]
    agent.reseed(5)
    assert seeds == [5]


def test_an_observation_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidObservation, match=r"6, 7, 2"):
        First()(np.zeros((7, 6)))


def test_no_move_is_asked_for_after_the_end() -> None:
    for moves in ("1212121", "421127327363224366417626743773654415515515"):
        with pytest.raises(NoMove) as caught:
            require_move(Position.parse(moves))
        assert repr(Position.parse(moves)) in str(caught.value)
    require_move(Position())


SMALL = c4env.board(4, 4, 4).Position.parse("1234")


@pytest.mark.parametrize("name", [*QUICK, *OTHERS])
def test_a_move_is_asked_for_in_a_position_of_this_board(name: str) -> None:
    agent: Any = agents.make(name)
    for given_instead in ("4435", None, np.zeros((6, 7, 2)), SMALL):
        for ask in ("choose", "search", "best_move", "score"):
            with pytest.raises(InvalidPosition, match=r": expected a c4env\.Position$") as caught:
                getattr(agent, ask, agent.choose)(given_instead)
            assert str(caught.value).startswith(repr(given_instead)[:60])


STOPPED_BY_CTRL_C = """
import threading, time
import numpy as np
from c4env import Position, agents, observe
from c4env.agents.batched import BatchedSearch

empty = observe(Position())
many = {name: np.stack([array] * 8) for name, array in empty.items()}
endless = [agents.make(spec) for spec in %r]
for agent in [*endless, BatchedSearch(14), BatchedSearch(14, threads=2)]:
    counted = 0

    def count():
        global counted
        for counted in range(1, 21):
            time.sleep(0.001)
        print("counted", flush=True)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        print(agent(many if isinstance(agent, BatchedSearch) else empty), flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    thread.join()
"""


@pytest.mark.compiled
def test_ctrl_c_ends_every_search_and_other_threads_go_on_meanwhile() -> None:
    specs = [
        *("alphabeta:depth=20", "minimax:depth=14"),
        *("alphabeta-window:depth=20", "rust-port:depth=20", "deepening:depth=40"),
        *("negamax:max_nodes=1000000000000", "learned:nodes=1000000000"),
        *("mcts:simulations=1000000000,tree_mb=8", "puct:simulations=1000000000,tree_mb=8"),
    ]
    with start_python("-c", STOPPED_BY_CTRL_C % specs) as process:
        assert process.stdout is not None
        hung = threading.Timer(100, process.kill)
        hung.start()
        for _ in range(len(specs) + 2):
            assert process.stdout.readline() == "counted\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n"
        assert process.wait() == 0
        hung.cancel()


@pytest.mark.parametrize("name", [*QUICK, *OTHERS])
def test_a_game_that_is_over_has_no_move(name: str) -> None:
    agent: Any = agents.make(name)
    for ask in ("choose", "search", "best_move"):
        with pytest.raises(NoMove, match=r"Position\.parse.*the game is over"):
            getattr(agent, ask, agent.choose)(Position.parse("1212121"))


def test_agents_say_whether_they_draw_lots_and_what_they_searched() -> None:
    for name, spec in QUICK.items():
        agent = agents.make(spec)
        assert agent.deterministic == (name != "random")
        assert agent.nodes == 0
        agent.choose(Position())
        assert (agent.nodes > 0) == isinstance(agent, SearchingAgent), name


def test_an_agent_that_does_not_look_ahead_says_so() -> None:
    for spec, shown in (("random", "agents.make('random')"), ("greedy", "agents.make('greedy')")):
        with pytest.raises(NoSearch, match="does not search: expected an agent such") as caught:
            agents.make(spec).search(Position())
        assert str(caught.value).startswith(shown)


def test_searching_agents_report_all_they_promise() -> None:
    position = Position.parse("4455")
    for spec in QUICK.values():
        agent = agents.make(spec)
        if isinstance(agent, SearchingAgent):
            result = agent.search(position)
            assert type(result.column) is int
            assert type(result.value) is float
            assert type(result.nodes) is int
            assert result.principal_variation[0] == result.column
            assert result.depth == agent.depth  # type: ignore[attr-defined]


def play_in_pettingzoo(players: dict[str, Any], seed: int) -> Position:
    """One game in PettingZoo's own connect four; the position it comes to, by our rules."""
    from pettingzoo.classic.connect_four.connect_four import env as pettingzoo_env

    env = pettingzoo_env()
    env.reset(seed=seed)
    position = Position()
    for name in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        column = players[name](observation)
        assert observation["action_mask"][column] == 1
        assert position.outcome is None
        seen = observe(position)
        assert np.array_equal(seen["observation"], observation["observation"])
        assert np.array_equal(seen["action_mask"], observation["action_mask"])
        position = position.play(column)
        env.step(column)
        if position.outcome is not None:
            winner = position.outcome.winner
            rewards = {
                f"player_{p}": 0 if winner is None else 1 - 2 * (p != winner) for p in (0, 1)
            }
            assert env.rewards == rewards
            assert all(env.terminations.values())
        else:
            assert not any(env.terminations.values())
    env.close()
    return position


@pytest.mark.parametrize("name", QUICK)
def test_the_zoo_plays_in_pettingzoos_connect_four(name: str) -> None:
    for seat in (0, 1):
        agent, other = agents.make(QUICK[name]), agents.make("random")
        for player in (agent, other):
            player.reset(seed=seat)
        players = {f"player_{seat}": agent, f"player_{1 - seat}": other}
        end = play_in_pettingzoo(players, seed=seat)
        assert end.outcome is not None
        if name not in ("random", "greedy"):
            assert end.outcome.winner == seat, f"{name} lost to random play: {end!r}"


def test_the_mask_is_not_needed() -> None:
    """Legality is read off the board: an agent does not trust the mask it is handed."""
    for moves in reference.random_games(seed=95, count=20):
        seen = observe(Position.parse(moves))
        blank: Any = {**seen, "action_mask": np.zeros(7, np.int8)}
        agent = agents.make("greedy")
        assert agent(blank) == agent(seen)


@pytest.mark.parametrize(
    "spec",
    ["mcts:simulations=20", "alphabeta:depth=2", "deepening:nodes=100", "perfect", "puct"],
)
def test_agents_travel_as_their_settings(spec: str) -> None:
    agent = agents.make(spec)
    agent.reset(1)
    data = pickle.dumps(agent)
    assert len(data) < 2000  # not their tables
    for twin in (pickle.loads(data), copy.deepcopy(agent)):
        assert vars(twin).keys() == vars(agent).keys()


def test_an_agent_of_ones_own_travels_with_what_it_learned() -> None:
    agent: Any = First()
    agent.learned = [1, 2]
    assert copy.deepcopy(agent).learned == pickle.loads(pickle.dumps(agent)).learned == [1, 2]
