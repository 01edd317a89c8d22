from __future__ import annotations

import pytest

from evaluation.report.labels import labels
from evaluation.tables import width

SPECS = [
    "deepening:movetime=0.02,heuristic=chain",
    "deepening:movetime=0.02,heuristic=lines",
    "mcts:movetime=0.02",
    "greedy",
]


def test_names_that_fit_stay():
    assert labels(SPECS, 39) == {spec: spec for spec in SPECS}


def test_what_specs_of_an_agent_share_is_left_out():
    short = labels(SPECS, 30)
    assert list(short.values()) == [
        "deepening:heuristic=chain", "deepening:heuristic=lines", "mcts:movetime=0.02", "greedy",
    ]  # fmt: skip


def test_what_they_begin_and_end_with_is_left_out():
    names = [f"exec:./engines/{name} --threads 4" for name in ("crab", "cobra")]
    assert list(labels(names, 16).values()) == ["exec:..crab", "exec:..cobra"]


@pytest.mark.parametrize("columns", [12, 18, 30])
def test_the_option_that_differs_is_never_hidden(columns):
    names = [f"mcts:simulations={n}000,c=0.5,rollout=random" for n in (1, 2)]
    names += [f"perfect:blunder=0.{n},ties=random" for n in (125, 25)]
    for name, label in labels(names, columns).items():
        assert name.partition("=")[2].partition(",")[0] in label
    if columns == 18:
        assert labels(names, columns)[names[0]] == "mcts:simula..=1000"


@pytest.mark.parametrize("columns", range(8, 40))
def test_no_label_is_too_wide_and_no_two_are_alike(columns):
    names = [*SPECS, *(f"exec:./a/long/path/{i}/to/an/engine" for i in range(15)), "棋" * 30]
    short = labels(names, columns)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert max(map(width, short.values())) <= columns
