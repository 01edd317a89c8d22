"""Rewards from exact play: what they sum to, when they are 0, and whose boards they follow."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents, board
from c4env.agents.errors import InvalidValue
from c4env.agents.exact_reward import ExactReward, ExactVectorReward
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam

SOLVER = Solver(book=None, table_mb=4)
DEEP = 26


def value(position: Position, measure: str = "result") -> float:
    """The value for the side to move, by the solver's call for one position."""
    if measure == "result":
        return float(SOLVER.sign(position))
    return SOLVER.score(position) / 21


def random_column(mask: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def start(rng: np.random.Generator, plies: int, moves: str = "") -> Position:
    """A position after random moves, in which the side to move cannot win at once."""
    while True:
        position = Position.parse(moves)
        for _ in range(plies - len(moves)):
            if position.outcome is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        columns = position.legal_columns()
        if columns and all(position.play(column).outcome is None for column in columns):
            return position


@pytest.mark.parametrize("measure", ["result", "score"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), seat=st.integers(0, 1), plies=st.sampled_from([22, 27, 30]))
def test_the_shaping_of_a_game_telescopes(measure: str, seed: int, seat: int, plies: int) -> None:
    rng = np.random.default_rng(seed)
    position = start(rng, plies)
    env = ExactReward(ConnectFourEnv("random", seat), from_ply=DEEP, value=measure, solver=SOLVER)
    _, info = env.reset(seed=seed, options={"position": position})
    first = env.unwrapped.position
    expected = value(first, measure) if first.plies >= DEEP else 0.0
    shaped, over, reward = 0.0, False, 0.0
    while not over:
        before = env.unwrapped.position
        _, reward, over, _, info = env.step(random_column(info["action_mask"], rng))
        shaped += reward
        after = env.unwrapped.position
        at = 0.0 if over or after.plies < DEEP else value(after, measure)
        old = value(before, measure) if before.plies >= DEEP else 0.0
        won = 0.0
        if over:
            won = {-1: 0.0, seat: 1.0, 1 - seat: -1.0}[info["winner"]]
        assert reward == pytest.approx(won + at - old)
    assert shaped == pytest.approx(won - expected)


def test_a_discount_is_that_of_the_shaping() -> None:
    env = ExactReward(ConnectFourEnv("greedy", 0), from_ply=28, gamma=0.5, solver=SOLVER)
    rng = np.random.default_rng(3)
    seen = set()
    for seed in range(20):
        _, info = env.reset(seed=seed, options={"position": start(rng, 30)})
        potential, over = value(env.unwrapped.position), False
        while not over:
            _, reward, over, _, info = env.step(random_column(info["action_mask"], rng))
            after = 0.0 if over else value(env.unwrapped.position)
            own = {-1: 0.0, 0: 1.0, 1: -1.0}[info["winner"]] if over else 0.0
            assert reward == own + 0.5 * after - potential
            potential = after
            seen.add(reward)
    assert len(seen) > 3


@pytest.mark.parametrize("measure", ["result", "score"])
def test_a_move_is_charged_what_it_loses_by_the_exam(measure: str) -> None:
    """The exam's scores of all columns were computed apart from the wrapper."""
    env = ExactReward(
        ConnectFourEnv("random", illegal="lose"), "regret", value=measure, solver=SOLVER
    )
    late = [question for question in exam() if question.position.plies >= 24][:12]
    assert len(late) == 12
    charged = 0
    for question in late:
        scale = np.sign if measure == "result" else (lambda score: score / 21)
        best = scale(max(score for score in question.scores if score is not None))
        for column, score in enumerate(question.scores):
            seat = question.position.to_move
            env.reset(seed=1, options={"moves": question.moves, "seat": seat})
            _, reward, over, _, info = env.step(column)
            own = {-1: 0.0, seat: 1.0, 1 - seat: -1.0}[info["winner"]] if over else 0.0
            lost = best - (-1.0 if score is None else scale(score))
            assert reward == pytest.approx(own - lost), (question, column)
            charged += lost > 0
    assert charged > 20


@pytest.mark.compiled
@pytest.mark.parametrize("measure", ["result", "score"])
def test_perfect_play_has_no_regret_and_other_play_has(measure: str) -> None:
    perfect = agents.make("perfect")
    totals = []
    for spec in ("perfect", "random"):
        agent = agents.make(spec)
        env = ExactReward(ConnectFourEnv("alphabeta:depth=2"), "regret", from_ply=20, value=measure)
        total = 0.0
        for seed in range(6):
            env.reset(seed=seed)
            over = False
            while not over:
                position = env.unwrapped.position
                chosen = agent if position.plies >= 20 else perfect
                _, reward, over, _, info = env.step(chosen.choose(position))
                own = 0.0
                if over:
                    own = {-1: 0.0, info["seat"]: 1.0}.get(info["winner"], -1.0)
                total += reward - own
        totals.append(total)
    assert totals[0] == 0
    assert totals[1] < 0


def test_a_full_column_is_charged_as_a_loss_and_early_moves_are_free() -> None:
    env = ExactReward(ConnectFourEnv("random", 0), "regret", from_ply=8, solver=SOLVER)
    env.reset(seed=1, options={"moves": "12"})
    assert env.step(0)[1] == 0.0, "before the ply"
    full = start(np.random.default_rng(1), 24, "444444")
    env.reset(seed=1, options={"position": full})
    before = value(env.unwrapped.position)
    assert env.step(3)[1:3] == (-1.0 - (before + 1.0), True)
    shaped = ExactReward(ConnectFourEnv("random", 0), from_ply=8, solver=SOLVER)
    shaped.reset(seed=1, options={"position": full})
    assert shaped.step(3)[1:3] == (-1.0 - before, True)


def single(kind: str, measure: str, opponent: Any) -> ExactReward:
    env = ConnectFourEnv(opponent, illegal="lose")
    return ExactReward(env, kind, from_ply=24, gamma=0.9, value=measure, solver=SOLVER)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize(
    ("kind", "measure"), [("shaping", "result"), ("shaping", "score"), ("regret", "score")]
)
def test_many_boards_get_what_one_board_gets(mode: str, kind: str, measure: str) -> None:
    """Whole games with illegal moves, several after each other on each board."""
    rng = np.random.default_rng(5)
    inner = ConnectFourVectorEnv(
        12, opponent="greedy", autoreset_mode=mode, openings=[start(rng, n) for n in (22, 25, 29)]
    )
    envs = ExactVectorReward(inner, kind, from_ply=24, gamma=0.9, value=measure, solver=SOLVER)
    one = single(kind, measure, "greedy")
    seen, _ = envs.reset(seed=3)
    over, added, games = np.zeros(12, bool), 0, 0
    for _ in range(30):
        positions, seats = inner.positions(), inner._games.seats.copy()
        legal = seen["action_mask"].argmax(axis=1)
        actions = np.where(rng.random(12) < 0.15, rng.integers(7, size=12), legal)
        seen, rewards, ended, _, _ = envs.step(actions)
        for i in range(12):
            if over[i]:
                assert (rewards[i], mode) == (0.0, "NextStep"), "the step of a reset"
                continue
            options = {"position": positions[i], "seat": int(seats[i])}
            one.reset(seed=1, options=options)
            _, expected, finished, _, _ = one.step(int(actions[i]))
            assert rewards[i] == pytest.approx(expected)
            assert ended[i] == finished
            added += expected not in (0, 1, -1)
        games += int(ended.sum())
        over = ended & (mode == "NextStep")
        if mode == "Disabled" and ended.any():
            seen, _ = envs.reset(options={"reset_mask": ended})
    assert games > 20
    assert added > 20


@pytest.mark.parametrize("kind", ["shaping", "regret"])
def test_in_self_play_each_side_is_charged_its_own_moves(kind: str) -> None:
    rng = np.random.default_rng(2)
    inner = ConnectFourVectorEnv(8, autoreset_mode="SameStep", openings=[start(rng, 28)])
    envs = ExactVectorReward(inner, kind, from_ply=0, solver=SOLVER)
    seen, _ = envs.reset(seed=1)
    charged = 0
    for _ in range(20):
        before = inner.positions()
        actions = [random_column(mask, rng) for mask in seen["action_mask"]]
        seen, rewards, *_ = envs.step(actions)
        for i, position in enumerate(before):
            after = position.play(actions[i])
            own = float(after.outcome is not None and after.outcome.winner is not None)
            at = 0.0 if after.outcome is not None and kind == "shaping" else -value(after)
            assert rewards[i] == own + at - value(position)
            charged += rewards[i] < 0
    assert charged > 10


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_gymnasiums_own_checks_and_wrappers_take_it() -> None:
    made = gymnasium.make("c4env/ConnectFour-v0", opponent="greedy")
    wrapped = ExactReward(made, "regret", from_ply=30, solver=SOLVER)
    check_env(wrapped, skip_render_check=True)
    again = gymnasium.make(wrapped.spec)
    for env in (again, wrapped):
        env.reset(seed=1, options={"position": start(np.random.default_rng(1), 30, "444444")})
    assert again.step(3)[1] == wrapped.step(3)[1] != -1
    envs = ExactVectorReward(
        ConnectFourVectorEnv(4, opponent="random"), "regret", from_ply=30, solver=SOLVER
    )
    counted = RecordEpisodeStatistics(envs)
    seen, _ = counted.reset(seed=1)
    total, returns = 0.0, 0.0
    for _ in range(100):
        seen, rewards, _, _, info = counted.step(seen["action_mask"].argmax(axis=1))
        total += rewards.sum()
        returns += (info["episode"]["r"] * info["_episode"]).sum() if "episode" in info else 0
    assert rewards.dtype == np.float64
    assert returns != 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alone_with_the_same_rewards(copied: Any) -> None:
    rng = np.random.default_rng(1)
    position = start(rng, 26)
    one = ExactReward(ConnectFourEnv("greedy", 0), from_ply=24, value="score")
    many = ExactVectorReward(
        ConnectFourVectorEnv(5, opponent="greedy", openings=[position]), from_ply=24, value="score"
    )
    _, info = one.reset(seed=1, options={"position": position})
    many.reset(seed=1)
    column = random_column(info["action_mask"], rng)
    again = copied(one)
    assert again.step(column)[1] == one.step(column)[1] != 0
    actions = np.full(5, column)
    twins = copied(many)
    twins.step(actions)
    expected = many.step(actions)[1]
    assert copied(many).step(actions)[1].tolist() == many.step(actions)[1].tolist()
    assert expected.shape == (5,)


def test_other_boards_have_exact_rewards_too() -> None:
    small = board(4, 4)
    from c4env.on_4x4x4.agents.exact_reward import ExactReward as Small

    env = Small(small.ConnectFourEnv("random", 0), "regret", from_ply=0)
    env.reset(seed=1)
    assert env.step(1)[1] == 0.0, "4x4 is a draw"
    with pytest.raises(InvalidValue, match="expected a ConnectFourEnv on the board"):
        ExactReward(small.ConnectFourEnv("random"))


def test_bad_arguments_are_quoted() -> None:
    env = ConnectFourEnv("random")
    envs = ConnectFourVectorEnv(2, opponent="random")
    for bad, words in {
        "kind": ("shape", r"kind='shape': expected one of \['shaping', 'regret'\]"),
        "value": (3, r"value=3: expected one of \['result', 'score'\]"),
        "gamma": (1.5, "gamma=1.5: expected a number from 0 to 1"),
        "from_ply": (43, "from_ply=43: expected an integer between 0 and 42"),
        "solver": ("fast", "solver='fast': expected a Solver"),
    }.items():
        given, match = words
        for wrapper, inner in ((ExactReward, env), (ExactVectorReward, envs)):
            with pytest.raises(InvalidValue, match=match):
                wrapper(inner, **{bad: given})
    for other in (gymnasium.make_vec("CartPole-v1", 2), env):
        with pytest.raises(InvalidValue, match="expected a ConnectFourVectorEnv on the board"):
            ExactVectorReward(other)
    with pytest.raises(InvalidValue, match=r"CartPole.*: expected a ConnectFourEnv"):
        ExactReward(gymnasium.make("CartPole-v1"))
