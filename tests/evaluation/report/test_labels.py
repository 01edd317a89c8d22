from __future__ import annotations

import pytest

from c4env.evaluation.report.labels import labels
from c4env.evaluation.tables import width

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
        "deepening:..heuristic=chain",
        "deepening:..heuristic=lines",
        "mcts:movetime=0.02",
        "greedy",
    ]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            [
                *(f"deepening:movetime=0.0{n},heuristic=chain" for n in (2, 5)),
                *(f"deepening:movetime=0.0{n},heuristic=lines" for n in (2, 5)),
            ],
            [
                *("deepe..:0.02,chain", "deepe..:0.05,chain"),
                *("deepe..:0.02,lines", "deepe..:0.05,lines"),
            ],
        ),
        (  # what differs stands in the middle of long values
            [f"alphabeta:depth={n},heuristic=my_module:{n}th_attempt" for n in (5, 6)],
            ["alphabeta:5,..5th", "alphabeta:6,..6th"],
        ),
        (  # words of a command, the first one and the last
            [
                "exec:./engines/crab --threads 4 --hash 16",
                "exec:./engines/cobra --threads 4 --hash 16",
                "exec:./engines/crab --threads 4 --hash 64",
            ],
            ["exec:..crab,16", "exec:..cobra,16", "exec:..crab,64"],
        ),
        (  # the same values of different options
            ["alphabeta:depth=4,first_option=4", "alphabeta:depth=4,other_option=4"],
            ["alphabeta:firs..=4", "alphabeta:othe..=4"],
        ),
        (  # two agents that begin alike
            [
                f"{agent}:movetime=0.02,nodes=5{n}0"
                for agent in ("deep-a", "deep-b")
                for n in (1, 2)
            ],
            [f"deep-{agent}:..nodes=5{n}0" for agent in "ab" for n in (1, 2)],
        ),
        (  # a name of one's own that is another's label
            ["mcts:1000", *(f"mcts:simulations={n}000,rollout=greedy" for n in (1, 2))],
            ["mcts:1000", "mcts:simula..=1000", "mcts:simula..=2000"],
        ),
    ],
)
def test_two_options_that_differ_are_both_told(names, expected):
    assert list(labels(names, 18).values()) == expected


@pytest.mark.parametrize("columns", range(8, 40))
def test_no_label_is_too_wide_and_no_two_are_alike(columns):
    names = [*SPECS, *(f"exec:./a/long/path/{i}/to/an/engine" for i in range(15)), "棋" * 30]
    names += [f"棋{'子' * n}:depth={n},order={'abc'[n]}" for n in range(3)]
    names += [f"deepening:movetime=0.0{n},heuristic={h}" for n in (3, 5) for h in ("lines", "own")]
    short = labels(names, columns)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert max(map(width, short.values())) <= columns
