from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from c4env import agents
from c4env.errors import C4Error
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


OPTIONS = {
    "deepening": ["nodes=2000", "heuristic=threats", "depth=9", "table_mb=64", "movetime=0.02"],
    "mcts": ["simulations=2000", "c=0.5", "rollout=random", "reuse=0", "tree_mb=64"],
    "alphabeta": ["depth=12", "heuristic=window-b"],
    "perfect": ["blunder=0.125", "ties=random", "table_mb=128"],
}


@st.composite
def fields(draw):
    found = set()
    for _ in range(draw(st.integers(1, 6))):
        agent = draw(st.sampled_from(sorted(OPTIONS)))
        options = draw(st.lists(st.sampled_from(OPTIONS[agent]), unique=True))
        found.add(f"{agent}:{','.join(options)}" if options else agent)
    return sorted(found)


@example(["deepening:nodes=2000,heuristic=threats", "deepening:nodes=2000,heuristic=chain"], 24)
@example(["mcts:simulations=2000,c=0.5", "mcts:simulations=2000,c=0.5,rollout=random"], 24)
@given(fields(), st.integers(8, 30))
def test_no_label_is_the_spec_of_another_agent(names, columns):
    for name, label in labels(names, columns).items():
        if label != name:
            assert ".." in label
            with pytest.raises(C4Error):
                agents.make(label)


def test_dots_of_a_name_are_no_mark():
    names = [f"exec:../{name} --level 3" for name in "bc"]
    assert list(labels(names, 14).values()) == ["exec:..../b", "exec:..../c"]
