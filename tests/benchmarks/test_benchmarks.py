"""The benchmarks run and report what they say; how fast is theirs to say, not a test's."""

import argparse
import itertools
import json
import os
import sys

import numpy as np
import pytest

import c4env
from c4env.agents.solver import Solver
from c4env.envs.aec import env as aec_env
from c4env.observation import LAYOUTS
from tests.benchmarks import env, gpu, harness, jax_loop, rewards, single, solver, vector
from tests.benchmarks.__main__ import main


@pytest.mark.parametrize("jax", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_environments_beside_pettingzoos_and_pgxs(monkeypatch, jax):
    pytest.importorskip("pygame")
    if jax:
        pytest.importorskip("pgx")
    else:
        monkeypatch.setattr(jax_loop, "works", lambda *_: {})
    rows = env.run(boards=8, seconds=0.001, rounds=1).items
    modes = [
        f"8 boards, {players}, {mode}"
        for players in ("self-play", "against greedy")
        for mode in ("next-step", "same-step")
    ]
    loops = ["8 boards, JAX"] if jax else []
    assert [row[0] for row in rows] == [*modes, "AEC loop", *loops]
    for _, theirs, ours, ratio in rows:
        assert ratio == theirs / ours > 0


def test_the_parts_of_a_step_are_timed():
    rows = single.run(seconds=0.001, rounds=1).items
    assert [name for name, _ in rows][-1] == "choose() of greedy"
    assert all(us > 0 for _, us in rows)


def test_rewards_are_timed_by_the_number_of_discs():
    *parts, whole = rewards.run(positions=1000).items
    assert [name for name, *_ in parts] == ["0 to 11", "12", "13", "14", "15", "16", "17 to 33"]
    assert whole[0] == "all"
    assert 0 < whole[1] == sum(moves for _, moves, *_ in parts) < 1000
    for discs, moves in rewards.moves_by_discs(100).items():
        assert all(p.plies == discs and c in p.legal_columns() for p, c in moves)


def test_a_benchmark_that_cannot_run_says_what_is_missing(monkeypatch, capsys):
    theirs = ("pettingzoo.classic.connect_four.connect_four", "bitbully.bitbully_core")
    for name, missing in zip(("env", "solver"), theirs, strict=True):
        monkeypatch.setitem(sys.modules, missing, None)
        assert main([name]) == 2
        assert "pip install bitbully pygame-ce" in capsys.readouterr().err


def test_a_game_counts_the_moves_of_the_learner():
    environment, seen = aec_env(), []

    def reply(observation):
        seen.append(observation)
        return int(observation["action_mask"].argmax())

    assert env.play(environment, None, "player_0") == environment.position.plies
    for learner in ("player_0", "player_1"):
        seen.clear()
        moves = env.play(environment, reply, learner)
        assert moves + len(seen) == environment.position.plies
        assert moves - len(seen) in ((0, 1) if learner == "player_0" else (-1, 0))
        assert environment.position.outcome is not None


def test_columns_of_many_boards_are_legal_and_random():
    masks = np.array([[0, 1, 0, 0, 0, 0, 1], [0] * 7, [1] * 7], np.int8)
    generator = np.random.default_rng(1)
    drawn = [vector.random_columns(masks, generator).tolist() for _ in range(200)]
    assert list(map(set, zip(*drawn, strict=True))) == [{1, 6}, {0}, set(range(7))]


@pytest.mark.compiled
def test_the_solver(monkeypatch, capsys):
    pytest.importorskip("bitbully.bitbully_core", reason="bitbully is not installed")
    monkeypatch.setattr(solver, "ALONE", {24: 2, 30: 3})
    monkeypatch.setattr(solver, "WITH_BOOKS", {12: 2})
    command = ["solver", "--rounds", "1", "--format", "json"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["set"], row["positions"], row["wrong"]) for row in rows] == [
        ("24 discs", 4, 0), ("30 discs", 6, 0), ("12 discs, books", 4, 0)
    ]  # fmt: skip
    for row, way in itertools.product(rows, ("score()", "scores_many")):
        assert row[f"BitBully / {way}"] == row["BitBully ms"] / row[f"{way} ms"] > 0
    score = Solver.score
    monkeypatch.setattr(Solver, "score", lambda *given: score(*given) + 1)
    monkeypatch.setattr(solver, "WITH_BOOKS", {})
    assert main(command) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["wrong"] for row in rows] == [12, 18]  # the three others differ from score()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, within its compiler
def test_boards_on_a_device(monkeypatch, capsys):
    for library in ("torch", "jax", "pgx"):
        pytest.importorskip(library)
    monkeypatch.setattr(gpu, "ROUNDS", 1)
    monkeypatch.setattr(gpu, "PLIES", 25)
    monkeypatch.setattr(gpu, "OPPONENTS", {", function": gpu.leftmost})
    command = ["gpu", "--device", "cpu", "--boards", "8", "--milliseconds", "1", "--format", "json"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    step, rollout = "TensorEnv step, function", "TensorEnv rollout, function"
    timed = [step, rollout, f"{step}, compiled", f"{rollout}, compiled", "JaxEnv", "pgx"]
    assert [row["what"] for row in rows] == [*LAYOUTS, *timed]
    assert {row["wrong"] for row in rows} == {0}
    assert {row["boards"] for row in rows[-6:]} == {8}
    assert all(row["plies/s"] > 0 for row in rows[-6:])
    assert main(["gpu", "--device", "nosuch"]) == 2
    assert "device='nosuch'" in capsys.readouterr().err


def test_games_that_are_wrong_on_a_device_are_counted(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    monkeypatch.setattr(gpu, "PLIES", 25)
    ways = [("step", {"opponent": gpu.leftmost}), ("rollout", {"opponent": "random"})]
    assert [gpu.wrong_boards("cpu", *way) for way in ways] == [0, 0]
    assert gpu.wrong_games(c4env.JaxEnv()) == 0
    reset = c4env.TensorEnv.reset
    monkeypatch.setattr(c4env.TensorEnv, "reset", lambda envs, seed: reset(envs, seed=seed + 1))
    assert min(gpu.wrong_boards("cpu", *way) for way in ways) > 400
    step = c4env.JaxEnv.step

    def swapped(env, state, column):
        state = step(env, state, column)
        return state.replace(rewards=-state.rewards)

    monkeypatch.setattr(c4env.JaxEnv, "step", swapped)
    assert gpu.wrong_games(c4env.JaxEnv()) > 400


def test_a_pipe_gets_a_row_as_it_is_measured(monkeypatch):
    reader, writer = os.pipe()

    def rows():
        yield ["first", 0]
        assert os.read(reader, 1000).split() == [b"set", b"wrong", b"first", b"0"]
        yield ["second", 0]

    with open(writer, "w") as stdout, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stdout)
        text = argparse.Namespace(format="text")
        assert harness.show_as_measured({"set": "", "wrong": ""}, rows(), text) == 0
    assert os.read(reader, 1000).split() == [b"second", b"0"]
    os.close(reader)
