"""What a wrong call is told: one line that quotes the value and says what is expected."""

import sys
import types

import pytest

import c4env
from c4env import Position, agents, evaluation
from c4env.errors import C4Error, MissingExtra
from c4env.render import import_pygame


@pytest.fixture(scope="module")
def run():
    return evaluation.round_robin(["greedy", "random"], openings=0)


MESSAGES = {
    "position": (
        lambda run: agents.make("greedy")(Position.parse("4")),
        "Position.parse('4') is a position: expected an observation, or use .choose(position)",
    ),
    "board as text": (
        lambda run: c4env.use_board("5x6"),
        "board '5x6': expected ROWSxCOLUMNSxLINE, as in 6x7x4 or 5x6x4",
    ),
    "anchor without Elo": (
        lambda run: run.rate(anchor="random"),
        "anchor='random': expected an agent and its Elo, such as ('random', 0)",
    ),
    "unknown anchor": (
        lambda run: run.rate(anchor=("rand", 0)),
        "anchor 'rand': expected one of greedy, random",
    ),
    "difference": (
        lambda run: run.ratings.difference("greedy", "rand"),
        "no agent 'rand'; did you mean 'random'?",
    ),
    "superiority": (
        lambda run: run.ratings.superiority("greedy", "xyz"),
        "no agent 'xyz': expected one of greedy, random",
    ),
    "one name twice": (
        lambda run: evaluation.round_robin(["a=greedy", "a=random"]),
        "agent 'a' is given twice: give each agent its own name: one=greedy two=random",
    ),
    "one agent twice": (
        lambda run: evaluation.round_robin(["a=greedy", "a=greedy"]),
        "agent 'a' is given twice: for a game against itself, give two names: one=greedy "
        "two=greedy (or c4 play)",
    ),
    "one name of a spec and an object": (
        lambda run: evaluation.round_robin(["greedy", agents.make("greedy")]),
        "agent 'greedy' is given twice: use a mapping to give each agent its own name",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_wrong_call_is_told_what_is_expected(name, run):
    call, message = MESSAGES[name]
    with pytest.raises(C4Error) as refused:
        call(run)
    assert str(refused.value).endswith(message)


@pytest.mark.parametrize("version", [None, types.SimpleNamespace(ver="2.5.0")])
def test_a_pygame_without_windows_is_told_how_to_replace_it(version, monkeypatch):
    """Where the files of pygame and pygame-ce are mixed, there may be no version."""
    broken = types.ModuleType("pygame")
    if version is not None:
        broken.version = version
    monkeypatch.setitem(sys.modules, "pygame", broken)
    message = "2.5.0" if version else "of unknown version"
    with pytest.raises(
        MissingExtra, match=f"found pygame {message}: .*--force-reinstall pygame-ce"
    ):
        import_pygame()
