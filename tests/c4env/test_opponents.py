"""Whatever may be an opponent plays in every environment, and plays the same there."""

import copy

import gymnasium
import numpy as np
import pytest

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents
from c4env.agents import Pool
from c4env.agents.baselines import Greedy
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.games.game import play_game
from c4env.evaluation.games.referee import LocalPlayer
from tests.helpers.policies import (
    Drawn,
    LeftmostGreedy,
    LeftmostPool,
    PlaysLeft,
    leftmost_instance,
    rightmost,
)
from tests.helpers.processes import run_python


def one(observation):
    """The rightmost legal column of one board; of many boards it would return seven numbers."""
    return np.argsort(observation["action_mask"], kind="stable")[-1]


FORMS = {
    "none": None,
    "self": lambda self: self.seeds.append(None),
    "s": lambda self, s: self.seeds.append(s + 0),
    "seed": lambda self, seed=None: self.seeds.append(seed + 0),
    "*, seed": lambda self, *, seed: self.seeds.append(seed + 0),
    "*all": lambda self, *all: self.seeds.append(all[0] + 0),
}
DOORS = {
    "a game": lambda agent: play_game((LocalPlayer(one), LocalPlayer(agent)), ("one", "it")),
    "ConnectFourEnv": lambda agent: ConnectFourEnv(agent, 1).reset(seed=1),
    "ConnectFourVectorEnv": lambda agent: ConnectFourVectorEnv(2, opponent=agent).reset(seed=1),
    "Pool": lambda agent: ConnectFourEnv(agents.Pool({agent: 1}), 1).reset(seed=1),
    "make": lambda agent: agents.make(agent).reset(1),
    "batched": lambda agent: agents.make(c4env.batched(agent)).reset(1),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("base", [object, agents.Agent])
def test_every_door_calls_reset_as_it_is_declared(base, form, door):
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
    """The same as an agent."""

    def choose(self, position):
        return position.legal_columns()[-1]


def games_of(environment):
    """What the caller sees of some games, leftmost columns against the opponent."""
    many = isinstance(environment, ConnectFourVectorEnv)
    observation, info = environment.reset(seed=4)
    seen = []
    for _ in range(60):
        mask = observation["action_mask"] if many else info["action_mask"]
        observation, reward, over, _, info = environment.step(mask.argmax(axis=-1))
        planes = observation["observation"] if many else observation
        seen.append((planes.tolist(), np.asarray(reward).tolist(), np.asarray(over).tolist()))
        if not many and over:
            observation, info = environment.reset()
    return seen


@pytest.mark.parametrize("other", [rightmost, Rightmost()])
def test_every_form_plays_the_same_in_both_environments(other):
    first, second = (games_of(ConnectFourEnv(o, seat=1)) for o in (one, other))
    assert first == second
    first, second = (games_of(ConnectFourVectorEnv(7, opponent=o)) for o in (one, other))
    assert first == second
    assert any(any(over) for _, _, over in first)


def test_a_name_needs_no_import_of_agents():
    code = """import gymnasium, c4env
for make in c4env.ConnectFourEnv, lambda name: c4env.ConnectFourVectorEnv(2, opponent=name):
    make("minimax:depth=1").reset(seed=1)
env = gymnasium.make("c4env/ConnectFour-v0", opponent="alphabeta:depth=1")
print(env.reset(seed=1)[1]["ply"])"""
    assert run_python("-W", "error", "-c", code, check=True).stdout in ("0\n", "1\n")


@pytest.mark.parametrize("opponent", ["nosuch", 3, b"greedy"])
@pytest.mark.parametrize("make", [ConnectFourEnv, lambda o: ConnectFourVectorEnv(2, opponent=o)])
def test_what_is_no_opponent_is_refused(opponent, make):
    with pytest.raises(C4Error, match=f"{opponent!r}(: expected .*agent|; known)") as refused:
        make(opponent)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_single_environments_opponent_can_be_replaced(wrapped):
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


def test_the_vector_environments_opponent_can_be_replaced():
    envs = ConnectFourVectorEnv(2, opponent="random", seat=0)
    envs.reset(seed=1)
    envs.opponent = rightmost
    envs.step([3, 3])
    assert envs.positions() == [Position.parse("47")] * 2
    for opponent in (None, 7):
        with pytest.raises(InvalidOption, match=f"opponent={opponent}"):
            envs.opponent = opponent
    assert envs.opponent is rightmost
    with pytest.raises(InvalidOption, match="self-play"):
        ConnectFourVectorEnv(2).opponent = rightmost


@pytest.mark.parametrize("name", ["greedy", "random", "alphabeta:depth=2", "perfect:blunder=1"])
def test_a_name_is_one_player_through_every_door(name):
    if name == "perfect:blunder=1" and c4env.jit.config.DISABLE_JIT:
        pytest.skip("too slow uncompiled")
    doors = [name, agents.make(name), Pool({name: 1})]
    # Late, where exact play is quick.
    late = ["5645726765425614", "564572676542561454464353222261"]
    starts = late if name.startswith("perfect") else ["12345671234567", "4455", "1122"]
    games = [ConnectFourVectorEnv(6, opponent=door, openings=starts) for door in doors]
    first, *others = [games_of(game) for game in games]
    for other in others:
        assert other == first


@pytest.mark.parametrize(
    "make",
    [
        type("Leftmost", (Greedy,), {"choose": PlaysLeft.choose}),
        LeftmostGreedy,
        lambda: LeftmostPool({"greedy": 1}),
        leftmost_instance,
    ],
)
def test_another_choice_plays_through_every_door(make):
    discs = np.zeros((3, 2), np.int64)
    assert make().play_many(discs, discs[:, 0]).tolist() == [0, 0, 0]
    single, many = ConnectFourEnv(make(), seat=1), ConnectFourVectorEnv(2, opponent=make(), seat=1)
    single.reset(seed=1), many.reset(seed=1)
    assert [single.position, *many.positions()] == [Position.parse("1")] * 3
    assert not make().repeats
    assert not copy.deepcopy(make()).repeats


def test_a_subclass_repeats_again_once_it_says_so():
    assert Greedy().repeats
    says = {"choose": PlaysLeft.choose, "deterministic": True}
    assert type("Leftmost", (Greedy,), says)().repeats
    assert type("Unchanged", (Greedy,), {})().repeats
    agent = Greedy()
    agent.deterministic = False
    assert not agent.repeats


def softmax(observation):
    return np.zeros((len(observation["action_mask"]), 7))


@pytest.mark.parametrize(
    "make",
    [
        lambda: "random",
        Drawn,
        lambda: agents.make("random"),
        lambda: agents.make(c4env.batched(softmax), temperature=1.0),
        lambda: Pool({"random": 1, "greedy": 1, Drawn(): 1}),
        lambda: Pool({"random": 1, "greedy": 1}, per="move"),
        lambda: "mcts:simulations=10",
    ],
)
def test_a_boards_games_depend_on_its_seed_alone(make):
    def games(seeds, which):
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
