"""The benchmarks run and report what they say; how fast is theirs to say, not a test's."""

import argparse
import json
import os
import random
import sys

import numpy as np
import pytest

from c4env.envs.aec import env as aec_env
from tests.benchmarks import env, harness, vector
from tests.benchmarks.__main__ import main


def test_environments_beside_pettingzoos():
    pytest.importorskip("pygame")
    rows = env.run(games=2, repeat=1, boards=8).items
    names = [name for name, _, _ in rows]
    assert names[:3] == ["pettingzoo env()", "pettingzoo raw_env()", "c4env env()"]
    assert {f"8 boards, {name}" for name in vector.MODES} <= set(names)
    for _, speed, ratio in rows:
        assert ratio == speed / rows[0][1] > 0


def test_a_game_counts_every_turn_and_the_two_dead_ones():
    environment = aec_env()
    steps = env.play(environment, random.Random(1))
    assert steps == environment.position.plies + 2
    assert environment.position.outcome is not None


def test_many_boards():
    rows = vector.run(sizes=(1, 8), seconds=0.001, repeat=1).items
    found = {name: (one, eight) for name, one, eight in rows}
    for name, arguments in vector.MODES.items():
        one, eight = found[name]
        assert eight > 0
        assert (one is not None) == (arguments.get("threads", 1) == 1)
    masks = np.array([[0, 1, 0, 0, 0, 0, 1], [0] * 7, [1] * 7], np.int8)
    generator = np.random.default_rng(1)
    drawn = [vector.random_columns(masks, generator).tolist() for _ in range(200)]
    assert list(map(set, zip(*drawn, strict=True))) == [{1, 6}, {0}, set(range(7))]


@pytest.mark.compiled
@pytest.mark.parametrize("peer", [[], ["--alone"]], ids=["beside bitbully", "alone"])
def test_the_solver(peer, tmp_path, capsys):
    if not peer:
        pytest.importorskip("bitbully.bitbully_core", reason="bitbully is not installed")
    path = tmp_path / "late.txt"
    path.write_text("1212121 18\n121212 18\n")
    command = ["solver", str(path), *peer, "--format", "json"]
    assert main([*command, "--count", "1"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["set"], row["positions"], row["wrong"]) == ("late", 1, 0)
    assert (row["mtdf ms"] is None) == bool(peer)
    assert main(command) == 1  # the first line is mistaken


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


def test_the_published_experiments(capsys):
    assert main(["published", "--depth", "2", "--count", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:2] == ["endings", "100"]
