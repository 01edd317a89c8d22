"""What an agent is made from, as a run's header and kept answers have it."""

from __future__ import annotations

import functools
import importlib
import os
import sys

import numpy as np
import pytest

from c4env import agents, batched
from c4env.agents.base import Agent
from c4env.agents.registry.entries import Entry
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.plan.field import make_player
from c4env.evaluation.plan.identity import identify, in_short
from c4env.position import Position

PLAIN = "def agent(observation):\n    return int(observation['action_mask'].argmax())\n"


class Own(Agent):
    """Plays the first legal column."""

    def __init__(self, path: str = "", level: int = 0):
        self.level = level

    def choose(self, position):
        return position.legal_columns()[0]


# A spec, the files it stands for as they are written first, and the one that is changed.
SPECS = {
    "code": ("own.py:agent", {"own.py": PLAIN}, "own.py"),
    "code in a folder": ("sub/own.py:agent", {"sub/own.py": PLAIN}, "sub/own.py"),
    "a class with options": (
        "own.py:Agent:n=3",
        {"own.py": "class Agent:\n def __init__(self, n): pass\n def __call__(self, o): pass\n"},
        "own.py",
    ),
    "a module": ("own_module:agent", {"own_module.py": PLAIN}, "own_module.py"),
    "a module of a package": (
        "own_package.deep.net:agent",
        {
            "own_package/__init__.py": "",
            "own_package/deep/__init__.py": "",
            "own_package/deep/net.py": f"from ..tools import more\n{PLAIN}",
            "own_package/tools.py": "more = 1\n",
        },
        "own_package/tools.py",
    ),
    "a package's own file": (
        "own_other.net:agent",
        {"own_other/__init__.py": "from . import net\n", "own_other/net.py": PLAIN},
        "own_other/__init__.py",
    ),
    "what it imports": (
        "own.py:agent",
        {
            "own.py": f"import own_helper\n{PLAIN}",
            "own_helper.py": "import own_more\n",
            "own_more.py": "a = 1\n",
        },
        "own_more.py",
    ),
    "what it imports from elsewhere": (
        "sub/own.py:agent",
        {
            "sub/own.py": f"import own_there.deep\n{PLAIN}",
            "own_there/__init__.py": "",
            "own_there/deep.py": "from . import more\n",
            "own_there/more.py": "",
        },
        "own_there/more.py",
    ),
    "what it imports late": (
        "own.py:agent",
        {"own.py": f"{PLAIN}\ndef late():\n    from own_late import a\n", "own_late.py": "a = 1\n"},
        "own_late.py",
    ),
    "weights that its code names": (
        "own.py:agent",
        {"own.py": f"WEIGHTS = 'weights.npz'\n{PLAIN}", "weights.npz": "1"},
        "weights.npz",
    ),
    "a file as an option": ("field-own:path=w.bin", {"w.bin": "1"}, "w.bin"),
    "a folder as an option": ("field-own:path=nets", {"nets/a/w": "1", "nets/b": "2"}, "nets/a/w"),
    "a heuristic": (
        "greedy:heuristic=own.py:tall",
        {"own.py": "def tall(mine, theirs):\n    return 1.0\n"},
        "own.py",
    ),
    "a program": ("exec:./engine", {"engine": "1"}, "engine"),
    "a program on the path": ("exec:engine --level 3", {"bin/engine": "1"}, "bin/engine"),
    "a program's script": (
        "exec:python3 engine.py",
        {"engine.py": "import own_helper\n", "own_helper.py": "1\n"},
        "own_helper.py",
    ),
    "a program that Python runs by its name": (
        "exec:python3 -m own_package.engine --fast",
        {
            "own_package/__init__.py": "",
            "own_package/engine.py": "import own_helper\n",
            "own_helper.py": "1\n",
        },
        "own_helper.py",
    ),
    "what a program imports from a folder that it adds": (
        "exec:python3 engine.py",
        {
            "engine.py": "import sys\nsys.path.append('lib')\nimport own_core\n",
            "lib/own_core.py": "",
        },
        "lib/own_core.py",
    ),
    "a program's weights": ("exec:./engine --net=w.bin", {"engine": "1", "w.bin": "1"}, "w.bin"),
    "weights": ("learned:weights=w.npz", {"w.npz": "1"}, "w.npz"),
    "self-play": ("selfplay:dir", {"dir/model.pt": "1", "dir/state.pt": "2"}, "dir/model.pt"),
    "self-play, searched": (
        "puct:selfplay:dir,simulations=9",
        {"dir/model.pt": "1"},
        "dir/model.pt",
    ),
    "a model": ("sb3:model.zip", {"model.zip": "1"}, "model.zip"),
    "a function of torch": ("torch:net.py:net", {"net.py": "net = 1\n"}, "net.py"),
    "a submission": (
        "kaggle:own.py",
        {"own.py": f"import own_helper\n{PLAIN}", "own_helper.py": "1\n"},
        "own_helper.py",
    ),
    "a prompt": ("chat:m,prompt=ask.txt", {"ask.txt": "{board}"}, "ask.txt"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory of its own, whose modules no other test finds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    before = set(sys.modules)
    agents.register("field-own", Entry("field-own", f"{__name__}:Own", ""))
    yield tmp_path
    forget(set(sys.modules) - before)


def forget(names):
    """As a new process: code that was edited after its import plays in none."""
    for name in names:
        if name.endswith(".py") or name.startswith("own_"):
            del sys.modules[name]


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


UNMADE = ("selfplay", "puct", "sb3", "torch", "chat", "learned", "exec")
"""They need a library, or more than the files that stand here for theirs."""


def make(spec):
    """As a run does before it asks for identities."""
    if spec.partition(":")[0] not in UNMADE:
        make_player(spec, None).close()
    return identify(spec)


@pytest.mark.parametrize(("spec", "files", "changed"), SPECS.values(), ids=SPECS)
def test_all_that_a_spec_stands_for_makes_its_identity(here, spec, files, changed):
    write(here, files)
    modules = set(sys.modules)
    first = make(spec)
    assert identify(spec) == first
    assert "state.pt" not in str(first)
    forget(set(sys.modules) - modules)
    write(here, {changed: files[changed] + "\n"})
    again = make(spec)
    assert first.keys() == again.keys()
    (key,) = (key for key in first if first[key] != again[key])
    assert os.path.basename(changed) in key
    assert in_short(first) != in_short(again)
    (here / changed).unlink()
    forget(set(sys.modules) - modules)
    assert key not in identify(spec)


@pytest.mark.parametrize(
    "spec",
    [
        *("greedy", "mcts:simulations=5,rollout=greedy", "learned"),
        "c4env.agents.baselines:Random",
        "chat:tiny,base_url=http://127.0.0.1:9/v1",
    ],
)
def test_an_agent_of_this_project_has_none_whatever_lies_about(here, spec):
    importlib.import_module("c4env.agents.baselines")
    write(here, {"greedy": "1", "5": "2", "mcts/a": "3", "learned/b": "4"})
    assert identify(spec) == {}
    assert in_short({}) == ""


def test_the_address_of_a_server_is_no_module(here):
    import http.client  # noqa: F401  # as openai does

    found = identify("chat:tiny,base_url=http://127.0.0.1:8000/v1")
    assert found.keys() <= {"openai"}


def test_other_files_beside_it_are_not_its_own(here):
    write(here, {"own.py": PLAIN, "your_own.py": PLAIN, "run.log": "1"})
    write(here, {"third.py": f"'run.log'\n'notes'\n{PLAIN}"})
    assert identify("own.py:agent").keys() == {"own.py"}
    assert identify("./own.py:agent").keys() == {"own.py"}
    assert identify("third.py:agent").keys() == {"third.py"}


def test_of_the_standard_library_a_module_is_its_own_files():
    """Not all that it imports, and these import."""
    assert {name.split("/")[0] for name in identify("json:loads")} == {"json"}


def test_code_that_was_edited_after_its_import_does_not_play_under_its_name(here, monkeypatch):
    """The process would play the old code, and keep it as the new."""
    write(here, {"own.py": f"import own_helper\n{PLAIN}", "own_helper.py": "a = 1\n"})
    first = make("own.py:agent")
    write(here, {"own_helper.py": "a = 2\n"})
    with pytest.raises(
        InvalidRun, match=r"own_helper\.py was edited after this process imported it"
    ):
        identify("own.py:agent")
    monkeypatch.syspath_prepend(here)
    importlib.reload(sys.modules["own_helper"])
    assert identify("own.py:agent") != first


def test_a_file_is_read_once_while_it_stays_as_it_is(here, monkeypatch):
    from c4env.evaluation.plan import identity

    write(here, {"w.bin": "1"})
    first = identify("field-own:path=w.bin")
    monkeypatch.setattr(identity.hashlib, "file_digest", None)
    assert identify("field-own:path=w.bin") == first


def test_a_registered_agent_is_what_it_was_registered_with():
    found = []
    for number in (3, 3, 4):
        agents.register("field-leans", leans(number), replace=True)
        found.append(identify("field-leans"))
    assert found[0] == found[1] != found[2]
    assert found[0].keys() == {"field-leans"}
    agents.register("field-class", Own)
    assert identify("field-class").keys() == {"field-class"}


# -- objects -----------------------------------------------------------------------------


def leans(column, weights=()):
    def policy(observation):
        return column

    policy.weights = weights
    return policy


class Leans:
    def __init__(self, column, weights=()):
        self.column = column
        self.weights = np.array(weights)

    def __call__(self, observation):
        return self.column


class Network:
    """As a module of PyTorch."""

    def __init__(self, number):
        self.number = number

    def state_dict(self):
        return {"weight": np.full((2, 2), self.number)}

    def parameters(self):
        return iter(())

    def __call__(self, planes):
        return planes


@batched
def all_alike(observation):
    return np.zeros((len(observation["action_mask"]), 7))


def scaled(observation):
    return SCALE


SCALE = 3


@pytest.mark.parametrize(
    "make",
    [
        leans,
        Leans,
        Network,
        lambda c: functools.partial(leans, c),
        lambda c: agents.make(Network(c)),
        lambda c: agents.make(leans(c)),
        lambda c: Leans(Network(c)),
        lambda c: Leans({"deep": [Leans(c)]}),
        lambda c: Leans(3, [1, c]),
        lambda c: agents.make("mcts", simulations=c),
    ],
)
def test_objects_with_other_values_are_other_players(make):
    one, same, other = make(3), make(3), make(4)
    for each in (one, same, other):
        if isinstance(each, Agent):
            each.name = ""
    assert identify(one, "a") == identify(same, "a")
    assert identify(one, "a") != identify(other, "a")


def test_a_global_that_a_function_uses_is_a_value_of_it(monkeypatch):
    first = identify(scaled, "a")
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4)
    assert identify(scaled, "a") != first


@pytest.mark.parametrize(
    "make",
    [
        lambda: agents.make("mcts:simulations=5"),
        lambda: agents.make("random"),
        lambda: agents.make("deepening:nodes=100"),
        lambda: agents.make("negamax"),
        lambda: agents.make(all_alike, temperature=1.0),
    ],
)
def test_playing_changes_no_agent_of_this_project(make):
    one = make()
    first = identify(one, "a")
    one.reset(1)
    one.choose(Position.parse("4713732767357311732634225152551"))
    assert identify(one, "a") == first == identify(make(), "a")
