"""Whatever may be an opponent plays in every environment, and plays the same there."""

import copy

import gymnasium
import numpy as np
import pytest

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents
from c4env.agents import Pool
from c4env.agents.baselines import Greedy, Random
from c4env.agents.graded import Graded
from c4env.agents.search.fixed_depth import AlphaBeta
from c4env.agents.search.rustport import RustPort
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.runs.play_game import play_game
from tests.helpers.policies import (
    Drawn,
    DrawnMany,
    PlaysLeft,
    rightmost,
)


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
    "a game": lambda agent: play_game((agents.make(one), agents.make(agent)), ("one", "it")),
    "ConnectFourEnv": lambda agent: ConnectFourEnv(agent, 1).reset(seed=1),
    "ConnectFourVectorEnv": lambda agent: ConnectFourVectorEnv(2, opponent=agent).reset(seed=1),
    "Pool": lambda agent: ConnectFourEnv(agents.Pool({agent: 1}), 1).reset(seed=1),
    "make": lambda agent: agents.make(agent).reset(1),
    "batched": lambda agent: agents.make(c4env.batched(agent)).reset(1),
}


@pytest.mark.parametrize(
    ("form", "door", "base"),
    [
        *((form, "ConnectFourVectorEnv", object) for form in FORMS),
        *(("s", door, object) for door in DOORS),
        *(("*, seed", door, agents.Agent) for door in ("a game", "ConnectFourEnv", "Pool")),
    ],
)
def test_every_door_calls_reset_as_it_is_declared(form, door, base):
    members = {"__call__": lambda self, seen: one(seen), "choose": lambda self, position: 0}
    made = type("Player", (base,), members | ({"reset": FORMS[form]} if FORMS[form] else {}))()
    made.seeds = []
    game = DOORS[door](made)
    assert door != "a game" or game.ending == "four"
    assert bool(made.seeds) == (form != "none")
    assert all((seed is None) == (form == "self") for seed in made.seeds)


@pytest.mark.parametrize("opponent", ["nosuch", 3, b"greedy"])
@pytest.mark.parametrize("make", [ConnectFourEnv, lambda o: ConnectFourVectorEnv(2, opponent=o)])
def test_what_is_not_an_opponent_is_refused(opponent, make):
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


@pytest.mark.parametrize("base", [Greedy, Random, AlphaBeta, RustPort, Graded, Pool, DrawnMany])
def test_another_choice_plays_through_every_door(base):
    def make():
        given = ({"greedy": 1},) if base is Pool else ()
        return type("Leftmost", (base,), {"choose": PlaysLeft.choose})(*given)

    discs = np.zeros((3, 2), np.int64)
    assert make().games(3).choose(np.arange(3), discs, discs[:, 0]).tolist() == [0, 0, 0]
    single, many = ConnectFourEnv(make(), seat=1), ConnectFourVectorEnv(2, opponent=make(), seat=1)
    single.reset(seed=1), many.reset(seed=1)
    assert [single.position, *many.positions()] == [Position.parse("1")] * 3
    assert make().deterministic is False


@pytest.mark.parametrize("base", [Greedy, RustPort])
def test_a_subclass_is_deterministic_again_once_it_says_so(base):
    assert base().deterministic
    says = {"choose": PlaysLeft.choose, "deterministic": True}
    assert type("Leftmost", (base,), says)().deterministic
    assert type("Unchanged", (base,), {})().deterministic
    assert type("Mixed", (type("Mixin", (), says), base), {})().deterministic


@pytest.mark.parametrize("make", [Greedy, AlphaBeta])
def test_an_agent_keeps_the_heuristic_that_it_was_made_with(make):
    with pytest.raises(AttributeError, match="heuristic"):
        make().heuristic = "window"


def test_a_subclass_keeps_what_it_writes_itself():
    def sixes(self, discs, seeds):
        return np.full(len(discs), 5)

    class Counted(agents.Games):
        def choose(self, boards, discs, seeds):
            return boards + 1

    both = {"choose": PlaysLeft.choose, "choose_many": sixes}
    own_games = {"choose": PlaysLeft.choose, "games": lambda self, boards: Counted(self)}
    for members, one, many in ((both, "6", "6"), (own_games, "2", "3")):
        agent = type("Own", (Greedy,), members)()
        single, several = ConnectFourEnv(agent, 1), ConnectFourVectorEnv(2, opponent=agent, seat=1)
        single.reset(seed=1), several.reset(seed=1)
        assert single.position == Position.parse(one)
        assert several.positions()[1] == Position.parse(many)


def test_an_agent_of_many_boards_draws_on_one_by_its_seed():
    agent, played = DrawnMany(), []
    for seed in (7, 7, 8):
        agent.reset(seed)
        other = copy.deepcopy(agent)
        drawn = [agent.choose(Position()) for _ in range(20)]
        assert drawn == [other.choose(Position()) for _ in range(20)]
        played.append(drawn)
    assert played[0] == played[1] != played[2]
    assert not agent.deterministic
    with pytest.raises(C4Error, match="over"):
        agent.choose(Position.parse("1212121"))
    with pytest.raises(TypeError, match="choose_many"):  # which the class has to write
        type("Nothing", (agents.BatchAgent,), {})()


def softmax(observation):
    return np.zeros((len(observation["action_mask"]), 7))


@pytest.mark.parametrize(
    "make",
    [
        lambda: "random",
        Drawn,
        lambda: agents.make(c4env.batched(softmax), temperature=1.0),
        lambda: Pool({"random": 1, "greedy": 1, Drawn(): 1}),
        lambda: Pool({"random": 1, "greedy": 1}, per="move"),
        lambda: "mcts:simulations=10",
    ],
)
def test_a_boards_games_depend_only_on_its_seed(make):
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
