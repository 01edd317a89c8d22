from __future__ import annotations

import pytest

from c4env.errors import InvalidOption
from c4env.evaluation.plan.patterns import MOST, expand, expand_all


@pytest.mark.parametrize(
    ("pattern", "specs"),
    [
        ("greedy", ["greedy"]),
        ("alphabeta:depth=2..4", ["alphabeta:depth=2", "alphabeta:depth=3", "alphabeta:depth=4"]),
        ("a:x=3..3", ["a:x=3"]),
        ("a:x={1..2,7}", ["a:x=1", "a:x=2", "a:x=7"]),
        ("a:x=1..2,h={b,c}", ["a:x=1,h=b", "a:x=1,h=c", "a:x=2,h=b", "a:x=2,h=c"]),
        ("{minimax,alphabeta}:depth=1..2", [
            *("minimax:depth=1", "minimax:depth=2"),
            *("alphabeta:depth=1", "alphabeta:depth=2"),
        ]),
        ("a:h=package.module:f", ["a:h=package.module:f"]),
        ("a:path=../x,y=1", ["a:path=../x,y=1"]),
        ("a:h={m:f, m:g}", ["a:h=m:f", "a:h=m:g"]),
    ],
)  # fmt: skip
def test_what_a_pattern_stands_for(pattern, specs):
    assert expand(pattern) == specs


@pytest.mark.parametrize(
    "spec",
    [
        "exec:awk '{print 1}'",
        "me=exec:./engine --depth=1..3",
        "chat:{model}",
        "agents/{a,b}.py:agent",
        "mine.py:Agent:depth=1..2",
    ],
)
def test_a_spec_with_an_argument_or_a_file_path_stays_as_it_is(spec):
    two = ["minimax:depth=1", "minimax:depth=2"]
    assert expand_all(["minimax:depth=1..2", spec, "one=greedy"]) == [*two, spec, "one=greedy"]


def test_a_pattern_with_a_name_is_one_agent():
    assert expand_all(["mine=minimax:depth={3}"]) == ["mine=minimax:depth=3"]
    with pytest.raises(InvalidOption, match="'mine' names 2 agents: expected one agent"):
        expand_all(["mine=minimax:depth=1..2"])


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a:x={1,2", "unmatched brace"),
        ("a:x=1,2}", "unmatched brace"),
        ("a:x={{1,2}}", "unmatched brace"),
        ("a:x={}", "empty choice"),
        ("a:x={1,,2}", "empty choice"),
        ("a:x=4..2", "4..2: expected an ascending range"),
        ("a:x={4..2}", "4..2: expected an ascending range"),
        (f"a:x=0..{MOST}", "expected an ascending range of at most"),
        ("a:x=1..99,y=1..99", "expected at most 1000"),
        ("a:x=x..y", "x..y: expected a range of whole numbers such as 1..6"),
        ("a:x=1..y,z=3", "1..y: expected a range"),
        ("a:x=0.5..2.0", "0.5..2.0: expected a range"),
    ],
)
def test_a_bad_pattern_is_quoted(pattern, words):
    with pytest.raises(InvalidOption) as raised:
        expand(pattern)
    assert words in str(raised.value)
    assert pattern in str(raised.value)
