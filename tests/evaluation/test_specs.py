"""What a page may ask for, and what it may not."""

import re

import pytest

from c4env import agents
from c4env.agents.entries import REQUIRED, ZOO
from c4env.agents.spec import options_of_agent, split_spec
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.web.offers import LEVELS, PLAIN, catalogue, check_spec, settable


def test_the_zoo_is_offered_and_every_default_passes():
    assert {"random", "greedy", "alphabeta", "perfect", "rust-port"} <= set(PLAIN)
    assert check_spec(" random") == "random"
    for name, entry in PLAIN.items():
        given = ",".join(f"{o.name}={o.default}" for o in settable(entry) if o.default is not None)
        assert check_spec(name) == name
        spec = check_spec(f"{name}:{given}" if given else name)
        assert split_spec(spec)[0] == name
    needing = [e.name for e in ZOO if any(o.default is REQUIRED for o in options_of_agent(e))]
    assert not {*needing} & {*PLAIN}  # a path, an address or a program


def test_the_levels_are_offered_and_vary_their_play():
    assert [level.name for level in LEVELS] == ["Easy", "Medium", "Hard", "Expert", "Perfect"]
    for level in LEVELS:
        assert check_spec(level.spec) == level.spec
        assert not agents.make(level.spec).deterministic


def test_what_is_refused_is_not_imported(monkeypatch):
    for spec, words in (
        ("rndom", "this page offers"),
        ("os:system", "this page offers"),
        ("os:system:x=1", "this page offers"),
        ("exec:./engine", "this page offers"),
        ("alphabeta:heuristic=os:system", "expected one of chain, lines"),
        ("alphabeta:depth=43", "expected int between 1 and 42"),
        ("alphabeta:width=3", "option 'width': expected one of depth, heuristic"),
        ("alphabeta:f:depth=3", "expected key=value after the colon"),
        ("perfect:table_mb=60000", "expected int between 1 and 256"),
        ("perfect:blunder=nan", "between 0 and 1"),
        (7, "expected a spec"),
    ):
        monkeypatch.setattr("c4env.agents.spec.import_callable", pytest.fail)
        with pytest.raises(C4Error, match=re.escape(words)):
            check_spec(spec)


def test_the_owner_names_anything():
    assert check_spec("my.agent:f", ("my.agent:f",)) == "my.agent:f"
    with pytest.raises(InvalidOption, match=r"my\.agent:f"):
        check_spec("my.agent:g", ("my.agent:f",))
    assert catalogue({"mine": "my.agent:f"})[-1]["spec"] == "mine"
