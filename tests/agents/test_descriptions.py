"""What is printed of an agent and its options."""

import re

import pytest

from c4env import agents
from c4env.agents.making.options import REQUIRED
from c4env.agents.making.registry import ZOO
from c4env.agents.making.spec import Spec, describe, description_of, make
from c4env.errors import UnknownAgent
from tests.helpers.paths import ROOT


def test_every_agent_and_option_is_described():
    for entry in ZOO:
        text = describe(entry.name)
        assert text.startswith(entry.name)
        for option in entry.maker.options:
            assert option.help
            assert re.search(rf" {option.name}(=\S+)?  ", text)
            assert f"  {option.help}\n" in f"{text}\n"
        assert ("(needs the package" in text) == bool(entry.needs)
    assert describe("alphabeta:depth=3") == describe("alphabeta")
    assert describe("sb3:model.zip") == describe("sb3")
    with pytest.raises(UnknownAgent, match="did you mean 'greedy'"):
        describe("gredy")


def other_value(option):
    """A value that is not the default; a text that names nothing else has none."""
    if option.kind is bool:
        return not option.default
    if option.kind is not str:
        values = (option.kind(v) for v in (max(option.low, 0) + 1, option.low, 2))
        return next(v for v in values if v != option.default and option.low <= v <= option.high)
    return next((name for name in option.choices if name != option.default), option.default)


ARGUMENTS = {
    "exec": "exec:cat -u",
    "kaggle": f"kaggle:{ROOT / 'tests/data/kaggle/rules.py'}",
    "chat": "chat:some/model:v1,base_url=http://127.0.0.1:9",
}


@pytest.mark.parametrize(
    "entry", [e for e in ZOO if e.name not in ("sb3", "torch", "selfplay")], ids=lambda e: e.name
)
def test_what_is_printed_of_an_agent_makes_it_again(entry, monkeypatch):
    """Printed defaults pass, in a spec and to the class; so does the repr, with every option."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for module in entry.needs:
        pytest.importorskip(module)
    spec = ARGUMENTS.get(entry.name, entry.name)
    plain = make(spec)
    _, _, options = description_of(entry.name)
    given = {
        name: text
        for name, text, _ in options
        if text not in ("...", "") and f"{name}=" not in spec
    }
    everything = make(Spec.parse(spec).with_options(given) if ":" not in spec else spec, **given)
    assert everything.deterministic == plain.deterministic
    for option in entry.maker.options:
        if option.default is REQUIRED:
            continue
        assert make(spec, **{option.name: option.default}).name
        agent = make(spec, **{option.name: other_value(option)})
        again = eval(repr(agent), {"agents": agents})
        assert (repr(again), again._arguments) == (repr(agent), agent._arguments)
        agent.name = ""  # as one of the class itself
        assert f"{option.name}={other_value(option)!r}" in repr(agent)
        again = eval(repr(agent), {type(agent).__name__: type(agent)})
        assert (repr(again), again._arguments) == (repr(agent), agent._arguments)
        agent.close()
