"""Whatever may be an opponent plays in every environment, and plays the same there."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Observation, Position, agents
from c4env.envs import asking
from c4env.errors import C4Error, InvalidOption
from tests.helpers.processes import run_python


def one(observation: Observation) -> int:
    """The rightmost legal column, of one board."""
    return int(np.flatnonzero(observation["action_mask"])[-1])


def many(observation: Observation) -> Any:
    """The same of many boards."""
    return 6 - observation["action_mask"][:, ::-1].argmax(axis=1)


class Rightmost(agents.Agent):
    """The same as an agent, which counts its games."""

    resets = 0

    def reset(self, seed: Any = None) -> None:
        self.resets += 1

    def choose(self, position: Position) -> int:
        return position.legal_columns()[-1]


OPPONENTS = {"one": one, "many": many, "agent": Rightmost()}


def games_of(environment: Any) -> list[Any]:
    """What the caller sees of some games, leftmost columns against the opponent."""
    observation, info = environment.reset(seed=4)
    seen = []
    for _ in range(60):
        mask = np.asarray(info.get("action_mask", observation))
        if isinstance(observation, dict):
            mask = observation["action_mask"]
        if environment.unwrapped is environment and isinstance(environment, ConnectFourVectorEnv):
            observation, reward, over, _, info = environment.step(mask.argmax(axis=1))
            seen.append((observation["observation"].tolist(), reward.tolist(), over.tolist()))
        else:
            observation, reward, over, _, info = environment.step(int(mask.argmax()))
            seen.append((observation.tolist(), reward, over))
            if over:
                observation, info = environment.reset()
    return seen


@pytest.mark.parametrize("name", ["many", "agent"])
def test_every_form_plays_the_same_in_both_environments(name: str) -> None:
    other = OPPONENTS[name]
    first, second = (games_of(ConnectFourEnv(o, seat=1)) for o in (one, other))
    assert first == second
    first, second = (games_of(ConnectFourVectorEnv(3, opponent=o)) for o in (one, other))
    assert first == second
    assert any(any(over) for _, _, over in first)


@pytest.mark.parametrize("name", ["random", "greedy", "alphabeta:depth=2", "mcts:simulations=20"])
def test_names_play_in_both_environments(name: str) -> None:
    for make in (
        lambda: gymnasium.make("c4env/ConnectFour-v0", opponent=name),
        lambda: ConnectFourVectorEnv(2, opponent=name),
    ):
        assert games_of(make()) == games_of(make()), "the same seed plays the same games"


def test_a_greedy_opponent_wins_and_blocks_in_the_single_environment() -> None:
    environment = ConnectFourEnv("greedy", seat=0)
    for seed in range(5):
        environment.reset(seed=seed, options={"moves": "112244"})
        environment.step(6)
        assert environment.position == Position.parse("11224473")  # wins, and blocks
        assert environment.position.outcome is None
        environment.reset(seed=seed, options={"moves": "515253"})
        _, reward, over, _, _ = environment.step(6)
        assert (reward, over) == (-1.0, True)
        assert environment.position == Position.parse("51525374")


def test_an_agent_is_told_of_games() -> None:
    agent = Rightmost()
    environment = ConnectFourEnv(agent, seat=0)
    before = agent.resets
    environment.reset(seed=1)
    environment.reset()
    assert agent.resets == before + 2
    envs = ConnectFourVectorEnv(3, opponent=agent)
    before = agent.resets
    envs.reset(seed=1)
    assert agent.resets == before + 1


def test_names_of_agents_are_known_once_agents_is_imported() -> None:
    code = """import c4env
try:
    c4env.ConnectFourEnv("minimax")
except c4env.errors.InvalidOption as error:
    assert "from c4env import agents" in str(error) and "'minimax'" in str(error), error
c4env.ConnectFourEnv("greedy")
from c4env import agents
c4env.ConnectFourEnv("minimax")"""
    run_python("-W", "error", "-c", code, check=True)


@pytest.mark.parametrize("opponent", ["nosuch", 3, b"greedy"])
@pytest.mark.parametrize("make", [ConnectFourEnv, lambda o: ConnectFourVectorEnv(2, opponent=o)])
def test_what_is_no_opponent_is_refused(opponent: Any, make: Any) -> None:
    with pytest.raises(C4Error, match=f"{opponent!r}(: expected .*agent|; known)"):
        make(opponent)


# -- another opponent ---------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_single_environments_opponent_can_be_replaced(wrapped: bool) -> None:
    environment = ConnectFourEnv(lambda o: 0, seat=0)
    environment.reset(seed=1)
    if wrapped:
        gymnasium.wrappers.RecordEpisodeStatistics(environment).set_wrapper_attr("opponent", one)
    else:
        environment.opponent = one
    assert environment.opponent is one
    environment.step(3)
    assert environment.position == Position.parse("47")
    with pytest.raises(InvalidOption, match="opponent=7"):
        environment.opponent = 7
    assert environment.opponent is one


def test_the_vector_environments_opponent_can_be_replaced() -> None:
    envs = ConnectFourVectorEnv(2, opponent="random", seat=0)
    envs.reset(seed=1)
    envs.opponent = many
    envs.step([3, 3])
    assert envs.positions() == [Position.parse("47")] * 2
    for opponent in (None, 7):
        with pytest.raises(InvalidOption, match=f"opponent={opponent}"):
            envs.opponent = opponent
    assert envs.opponent is many
    with pytest.raises(InvalidOption, match="self-play"):
        ConnectFourVectorEnv(2).opponent = many


def test_what_no_translator_knows_is_asked_as_it_is(monkeypatch: Any) -> None:
    def translate(given: Any) -> str | None:
        return f"asked for {given}" if isinstance(given, str) else None

    monkeypatch.setattr(asking, "TRANSLATORS", [translate])
    named = asking.parse_opponent("alphabeta", many=True)
    assert isinstance(named, asking.Asked)
    assert named.source == "asked for alphabeta"
    plain = asking.parse_opponent(one, many=True)
    assert isinstance(plain, asking.Asked)
    assert plain.source is one
