"""What an agent is made from, as a run's header and kept answers have it."""

import functools
import importlib
import math
import random
import sys
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.agents.registry.entries import Entry
from c4env.errors import UnreadableRun
from c4env.evaluation.plan.field import make_player
from c4env.evaluation.plan.identity import UNKNOWN, Watch, identify, in_short
from c4env.position import Position

PLAIN = "def agent(observation):\n    return int(observation['action_mask'].argmax())\n"
LATE = "def late():\n    import own_late\n"
OPENS = f"with open(__file__.replace('own.py', 'w.bin')) as file:\n    file.read()\n{PLAIN}"
MAPS = f"import os, numpy\nnumpy.memmap(os.fsencode('w.bin'))\n{PLAIN}"  # opens it to write too


class Own(Agent):
    """Plays the first legal column."""

    def __init__(self, path: str = ""):
        self.path = path

    def choose(self, position):
        return position.legal_columns()[0]


NET = {
    "own_package/__init__.py": "",
    "own_package/net.py": f"from .more import a\n{PLAIN}",
    "own_package/more.py": "a = 1\n",
}
HELPED = {"own.py": f"import own_helper\n{PLAIN}", "own_helper.py": "1\n"}

# A spec, the files it stands for, and the one that is changed. Those in UNMADE need more than them.
SPECS = [
    ("own.py:agent", {"own.py": PLAIN, "other.py": ""}, "own.py"),
    ("own.py", HELPED, "own_helper.py"),
    ("own.py", {"own.py": f"{PLAIN}{LATE}", "own_late.py": "1\n"}, "own_late.py"),
    ("own.py", {"own.py": OPENS, "w.bin": "1"}, "w.bin"),
    ("own.py", {"own.py": MAPS, "w.bin": "1"}, "w.bin"),
    ("own_module:agent", {"own_module.py": PLAIN}, "own_module.py"),
    ("own_package.net:agent", NET, "own_package/more.py"),
    ("field-own:path=w.bin", {"w.bin": "1"}, "w.bin"),
    ("field-own:path=nets", {"nets/a/w": "1", "nets/b": "2"}, "nets/a/w"),
    ("greedy:heuristic=own.py:tall", {"own.py": "def tall(a, b):\n    return 1.0\n"}, "own.py"),
    ("exec:./engine --net=w.bin", {"engine": "1", "w.bin": "1"}, "w.bin"),
    ("exec:python3 own.py", HELPED, "own_helper.py"),
    ("exec:python3 -m own_package.net --fast", NET, "own_package/net.py"),
    ("learned:weights=w.npz", {"w.npz": "1"}, "w.npz"),
    ("puct:selfplay:dir,simulations=9", {"dir/model.pt": "1"}, "dir/model.pt"),
    ("torch:net.py:net", {"net.py": "net = 1\n"}, "net.py"),
    ("kaggle:own.py", HELPED, "own_helper.py"),
    ("chat:m,prompt=ask.txt", {"ask.txt": "{board}"}, "ask.txt"),
]
UNMADE = ("puct", "torch", "chat", "learned", "exec", "kaggle")


def write(files):
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        Path(name).chmod(0o755)


def made(spec):
    with Watch() as watch:
        if spec.partition(":")[0] not in UNMADE:
            make_player(spec, None).close()
    return identify(spec, watch=watch)


@pytest.mark.parametrize(("spec", "files", "changed"), SPECS)
def test_all_that_a_spec_stands_for_makes_its_identity(folder, monkeypatch, spec, files, changed):
    monkeypatch.syspath_prepend(folder)
    agents.register("field-own", Entry("field-own", f"{__name__}:Own", ""))
    write(files)
    modules = set(sys.modules)
    first = made(spec)
    assert "other.py" not in first
    for name in set(sys.modules) - modules:  # as a fresh process
        if "own" in name:
            del sys.modules[name]
    write({changed: files[changed] + "\n"})
    again = made(spec)
    assert {key for key in {**first, **again} if first.get(key) != again.get(key)} == {changed}
    assert in_short(first) != in_short(again)


@pytest.mark.parametrize("spec", ["greedy", "mcts:simulations=5", "c4env.agents.baselines:Random"])
def test_an_agent_of_this_project_has_none_whatever_lies_about(folder, spec):
    write({"greedy": "1", "5": "2", "mcts/a": "3"})
    assert made(spec) == {}
    assert in_short({}) == ""


def leans(value):
    def policy(observation):
        return value

    return policy


class Leans:
    def __init__(self, value):
        self.value = value
        self.random = random.Random()

    def __call__(self, observation):
        return SCALE


class Estimator:
    """As scikit-learn's: values in attributes, and not callable."""

    def __init__(self, value):
        self.coef_ = np.full(3, value)


def scaled(observation):
    return used(observation)


def used(observation):
    return SCALE


SCALE = 3


@pytest.mark.parametrize(
    "make",
    [
        leans,
        Leans,
        lambda value: functools.partial(leans, value),
        lambda value: agents.make(leans(value)),
        lambda value: leans(Estimator(value)),
        lambda value: Leans({"deep": [Leans(value)]}),
        lambda value: agents.make("mcts", simulations=value),
    ],
)
def test_objects_with_other_values_are_other_players(make):
    one, same, other = make(3), make(3), make(4)
    assert identify(one, "a") == identify(same, "a") != identify(other, "a")
    assert not identify(one, "a")["a"].startswith(UNKNOWN)


@pytest.mark.parametrize("policy", [scaled, Leans(1)])
def test_a_global_that_a_policy_uses_is_a_value_of_it(monkeypatch, policy):
    first = identify(policy, "a")
    monkeypatch.setattr(sys.modules[__name__], "SCALE", Estimator(2))
    second = identify(policy, "a")
    monkeypatch.setattr(sys.modules[__name__], "SCALE", Estimator(3))
    assert len({str(each) for each in (first, second, identify(policy, "a"))}) == 3


def test_what_cannot_be_hashed_cannot_be_told_and_is_never_the_same():
    code = identify(leans(threading.Lock()), "a")
    assert code["a"].startswith(f"{UNKNOWN} (TypeError: ")
    assert in_short(code) != in_short(code)


def test_what_cannot_be_told_is_not_played_on(tmp_path):
    players = {"a": leans(threading.Lock()), "random": "random"}
    evaluation.round_robin(players, openings=0, out=tmp_path, jobs=1)
    with pytest.raises(UnreadableRun, match="code of a"):
        evaluation.round_robin(players, openings=0, out=tmp_path, jobs=1)


CALLS = {  # a user's module, and the file that is edited
    "a module": ("import own_helper\ndef play(o): return own_helper.value", "own_helper.py"),
    "a cache": ("import functools\n@functools.cache\ndef play(o): return 1", "own.py"),
    "a method with arguments": (
        "import functools\ndef of(self, o, k): return k\n"
        "class Own: __call__ = functools.partialmethod(of, k=1)\nplay = Own()",
        "own.py",
    ),
}


@pytest.mark.parametrize(("text", "edited"), CALLS.values(), ids=CALLS)
def test_what_a_policy_calls_is_hashed_with_its_code(tmp_path, monkeypatch, text, edited):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    files = {"own.py": text, "own_helper.py": "value = 1"}
    found = []
    for number in "112":
        files[edited] = files[edited].replace("1", number)
        for name, content in files.items():
            (tmp_path / name).write_text(content)
            sys.modules.pop(Path(name).stem, None)
        found.append(identify(importlib.import_module("own").play, "a"))
    assert found[0] == found[1] != found[2]
    for name in files:
        sys.modules.pop(Path(name).stem, None)


class Hostile:
    """Has every attribute, as a mock or a lazy module, and none of them works."""

    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.mark.parametrize("value", [Hostile(), mock.Mock(), math], ids=["hostile", "mock", "module"])
def test_no_value_of_a_policy_stops_a_run(value):
    assert len(evaluation.round_robin([leans(value), "random"], openings=0, jobs=1).games) == 2


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_no_kind_of_tensor_stops_a_run():
    torch = pytest.importorskip("torch")
    dense = torch.eye(3)
    kinds = [dense.to_sparse(), dense.to("meta"), torch.nn.LazyLinear(2), torch]
    kinds.append(torch.quantize_per_tensor(dense, 0.1, 0, torch.qint8))
    for kind in kinds:
        assert identify(leans(kind), "a")["a"], kind


@pytest.mark.parametrize("spec", ["mcts:simulations=5", "random", "negamax"])
def test_playing_changes_no_agent_of_this_project(spec):
    one = agents.make(spec)
    first = identify(one, "a")
    one.reset(1)
    one.choose(Position.parse("4713732767357311732634225152551"))
    assert identify(one, "a") == first == identify(agents.make(spec), "a")
