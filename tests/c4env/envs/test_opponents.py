"""Whatever may be an opponent plays in every environment, and plays the same there."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, Observation, Position, agents
from c4env.agents.batched import BatchedSearch, Pool, RandomColumns
from c4env.envs.opponents import is_batched
from c4env.errors import C4Error, InvalidOption, OpponentFailed
from c4env.evaluation.games.game import play_game
from tests.helpers.processes import run_python


def one(observation: Observation) -> int:
    """The rightmost legal column, of one board."""
    return int(np.flatnonzero(observation["action_mask"])[-1])


@c4env.batched
def many(observation: Observation) -> Any:
    """The same of many boards."""
    return 6 - observation["action_mask"][:, ::-1].argmax(axis=1)


FORMS: dict[str, Any] = {
    "none": None,
    "self": lambda self: self.seeds.append(None),
    "s": lambda self, s: self.seeds.append(s + 0),
    "seed": lambda self, seed=None: self.seeds.append(seed + 0),
    "*, seed": lambda self, *, seed: self.seeds.append(seed + 0),
    "*all": lambda self, *all: self.seeds.append(all[0] + 0),
}
DOORS: dict[str, Any] = {
    "a game": lambda agent: play_game((one, agent), ("one", "it")),
    "ConnectFourEnv": lambda agent: ConnectFourEnv(agent, 1).reset(seed=1),
    "ConnectFourVectorEnv": lambda agent: ConnectFourVectorEnv(2, opponent=agent).reset(seed=1),
    "Pool": lambda agent: ConnectFourEnv(agents.Pool({agent: 1}), 1).reset(seed=1),
    "make": lambda agent: agents.make(agent).reset(1),
    "batched": lambda agent: agents.make(c4env.batched(agent)).reset(1),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("base", [object, agents.Agent])
def test_every_door_calls_reset_as_it_is_declared(base: type, form: str, door: str) -> None:
    if base is agents.Agent and door in ("make", "batched"):
        return  # made as it is; its caller calls its reset
    members = {"__call__": lambda self, seen: one(seen), "choose": lambda self, position: 0}
    made = type("Player", (base,), members | ({"reset": FORMS[form]} if FORMS[form] else {}))()
    made.seeds = []
    game = DOORS[door](made)
    assert door != "a game" or game.ending == "four"
    assert bool(made.seeds) == (form != "none")
    assert all((seed is None) == (form == "self") for seed in made.seeds)


class Rightmost(agents.Agent):
    """The same as an agent, which counts its games."""

    deterministic = True
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


def test_a_name_needs_no_import_of_agents() -> None:
    code = """import gymnasium, c4env
for make in c4env.ConnectFourEnv, lambda name: c4env.ConnectFourVectorEnv(2, opponent=name):
    make("minimax:depth=1").reset(seed=1)
env = gymnasium.make("c4env/ConnectFour-v0", opponent="alphabeta:depth=1")
print(env.reset(seed=1)[1]["ply"])"""
    assert run_python("-W", "error", "-c", code, check=True).stdout in ("0\n", "1\n")


@pytest.mark.parametrize("opponent", [one, many, many.__call__, "random", None])
def test_a_function_needs_no_agents(opponent: Any, monkeypatch: Any) -> None:
    def refused(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr("c4env.envs.opponents.importlib.import_module", refused)
    ConnectFourEnv(opponent)
    ConnectFourVectorEnv(2, opponent=opponent)


@pytest.mark.parametrize("opponent", ["nosuch", 3, b"greedy"])
@pytest.mark.parametrize("make", [ConnectFourEnv, lambda o: ConnectFourVectorEnv(2, opponent=o)])
def test_what_is_no_opponent_is_refused(opponent: Any, make: Any) -> None:
    with pytest.raises(C4Error, match=f"{opponent!r}(: expected .*agent|; known)") as refused:
        make(opponent)
    assert "\n" not in str(refused.value)


def test_a_misspelt_name_is_told_the_nearest() -> None:
    for make in (ConnectFourEnv, lambda name: ConnectFourVectorEnv(2, opponent=name)):
        with pytest.raises(C4Error, match=r"'alphabta'; did you mean 'alphabeta'\?"):
            make("alphabta")


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


# -- one board or many: said, never guessed -------------------------------------------------------


def of_one(observation: Observation) -> Any:
    """The last legal column; given many boards it would return a number for each column."""
    return np.argsort(observation["action_mask"], kind="stable")[-1]


@pytest.mark.parametrize("size", [1, 6, 7, 8])
def test_a_function_is_given_one_board_whatever_their_number(size: int) -> None:
    envs = ConnectFourVectorEnv(size, opponent=of_one, seat=1)
    envs.reset(seed=1)
    assert envs.positions() == [Position.parse("7")] * size


def test_a_function_that_raises_is_not_asked_otherwise() -> None:
    shapes = []

    def broken(observation: Observation) -> int:
        shapes.append(observation["action_mask"].shape)
        raise KeyError("mine")

    with pytest.raises(OpponentFailed, match="KeyError"):
        ConnectFourVectorEnv(3, opponent=broken, seat=1).reset(seed=1)
    assert shapes == [(7,)]


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda o: [3, 3], r"\[3, 3\]: expected one column; .* marked by c4env\.batched"),
        (lambda o: o["observation"], r"expected one column; .* marked by c4env\.batched"),
        (lambda o: o["action_mask"].argmax(axis=1), r"AxisError: .* marked by c4env\.batched"),
        (c4env.batched(lambda o: 3), r"shape \(\): expected .* one for each.*by c4env\.batched"),
        (c4env.batched(lambda o: o["action_mask"] / 2), r"shape \(.*, 7\).*by c4env\.batched"),
    ],
)
@pytest.mark.parametrize(
    "make",
    [lambda o: ConnectFourEnv(o, 1), lambda o: ConnectFourVectorEnv(2, opponent=o, seat=1)],
)
def test_an_answer_of_another_form_is_told_the_mark(function: Any, match: str, make: Any) -> None:
    with pytest.raises(OpponentFailed, match=match) as failed:
        make(function).reset(seed=1)
    assert "\n" not in str(failed.value)


class Policy:
    """An object that holds a policy, as many do, and is no model for that."""

    policy = "leftmost"

    def __call__(self, observation: Observation) -> int:
        return int(observation["action_mask"].argmax())

    def columns(self, observation: Observation) -> Any:
        return observation["action_mask"].argmax(axis=1)


def test_what_has_a_policy_is_not_a_model_for_that() -> None:
    for env in (ConnectFourEnv(Policy(), 1), ConnectFourVectorEnv(1, opponent=Policy(), seat=1)):
        env.reset(seed=1)
    assert env.positions() == [Position.parse("1")]  # type: ignore[union-attr]
    assert agents.make(Policy()).choose(Position.parse("111111")) == 1


def test_functions_methods_and_classes_are_marked() -> None:
    method = c4env.batched(Policy().columns)
    envs = ConnectFourVectorEnv(3, opponent=method, seat=1)
    envs.reset(seed=1)
    assert envs.positions() == [Position.parse("1")] * 3
    assert c4env.batched(type("Marked", (Policy,), {}))().policy == "leftmost"
    for marked in (method, many, BatchedSearch(1), RandomColumns(), Pool({one: 1})):
        assert is_batched(marked)
    assert not is_batched(Policy())
    assert agents.make(many).choose(Position()) == 6


# -- one player, whichever door ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["greedy", "random", "alphabeta:depth=2", "perfect:blunder=1"])
def test_a_name_is_one_player_through_every_door(name: str) -> None:
    if name == "perfect:blunder=1" and c4env.jit.config.DISABLE_JIT:
        pytest.skip("too slow uncompiled")
    doors: list[Any] = [name, agents.make(name), Pool({name: 1})]
    # Late, where exact play is quick.
    late = ["5645726765425614", "564572676542561454464353222261"]
    starts = late if name.startswith("perfect") else ["12345671234567", "4455", "1122"]
    games = [ConnectFourVectorEnv(6, opponent=door, openings=starts) for door in doors]
    first, *others = [games_of(game) for game in games]
    for other in others:
        assert other == first


def test_greedy_on_one_board_plays_the_columns_of_the_agent() -> None:
    agent, environment = agents.make("greedy"), ConnectFourEnv("greedy", seat=0)
    rng = np.random.default_rng(1)
    replies = 0
    for seed in range(4):
        environment.reset(seed=seed)
        over = False
        while not over:
            column = int(rng.choice(environment.position.legal_columns()))
            middle = environment.position.play(column)
            _, _, over, _, _ = environment.step(column)
            if middle.outcome is None:
                assert environment.position == middle.play(agent.choose(middle))
                replies += 1
    assert replies > 10


# -- chance, and what an error leaves ------------------------------------------------------------


class Drawn(agents.Agent):
    """Draws a column from its generator, and the more the longer it has drawn."""

    def reset(self, seed: Any = None) -> None:
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        return int(self._generator.choice(position.legal_columns()))


def softmax(observation: Observation) -> Any:
    return np.zeros((len(observation["action_mask"]), 7))


@pytest.mark.parametrize(
    "make",
    [
        lambda: "random",
        Drawn,
        RandomColumns,
        lambda: agents.make(c4env.batched(softmax), temperature=1.0),
        lambda: Pool({"random": 1, "greedy": 1, Drawn(): 1}),
        lambda: Pool({"random": 1, "greedy": 1}, per="move"),
        lambda: "mcts:simulations=10",
    ],
)
def test_a_boards_games_depend_on_its_seed_alone(make: Any) -> None:
    def games(seeds: list[int], which: int) -> Any:
        envs = ConnectFourVectorEnv(len(seeds), opponent=make(), autoreset_mode="SameStep")
        seen, _ = envs.reset(seed=seeds)
        history = []
        for _ in range(40):
            seen, *_ = envs.step(seen["action_mask"].argmax(axis=1))
            history.append(envs.positions()[which])
        return history

    expected = games([9], 0)
    assert games([1, 9, 3], 1) == expected
    assert games([9, 9], 1) == expected
    assert games([5, 6, 7, 9], 3) == expected
    assert games([8], 0) != expected


class Counted:
    """Follows its games, counts them, and fails when it is told to."""

    failing = False

    def follow(self) -> Counted:
        return self

    draws = True
    begun = asked = 0

    def reset(self, seed: int) -> None:
        self.begun += 100

    def begin(self, boards: Any, seeds: Any) -> None:
        self.begun += len(boards)

    def columns(self, discs: Any, boards: Any, seeds: Any) -> Any:
        self.asked += 1
        if self.failing:
            raise RuntimeError("out of order")
        return [3] * len(boards)

    def end(self, boards: Any, rewards: Any) -> None:
        raise AssertionError("no game ends")

    def save(self) -> Any:
        return self.begun, self.asked

    def restore(self, saved: Any) -> None:
        self.begun, self.asked = saved


@pytest.mark.parametrize(
    "make", [ConnectFourEnv, lambda o, seat: ConnectFourVectorEnv(1, opponent=o, seat=seat)]
)
def test_after_an_error_the_follower_is_as_it_was(make: Any) -> None:
    counted = Counted()
    environment = make(counted, seat=1)
    environment.reset(seed=1)
    state = (counted.begun, counted.asked)
    assert state == (101, 1)
    chance = environment.np_random.bit_generator.state
    counted.failing = True
    with pytest.raises(OpponentFailed, match="out of order"):
        environment.reset()
    assert (counted.begun, counted.asked) == state
    assert environment.np_random.bit_generator.state == chance
    with pytest.raises(OpponentFailed, match="out of order"):
        environment.step([2] if isinstance(environment, ConnectFourVectorEnv) else 2)
    assert (counted.begun, counted.asked) == state


def test_a_reset_that_fails_takes_its_seed_back() -> None:
    counted = Counted()
    environment, untouched = ConnectFourEnv(counted, seat=1), ConnectFourEnv(Counted(), seat=1)
    for each in (environment, untouched):
        each.reset(seed=1)
    counted.failing = True
    with pytest.raises(OpponentFailed):
        environment.reset(seed=7)
    with pytest.raises(InvalidOption):
        environment.reset(seed=7, options={"seat": 2})
    assert environment.np_random_seed == untouched.np_random_seed == 1
    assert environment.np_random.integers(2**40) == untouched.np_random.integers(2**40)
