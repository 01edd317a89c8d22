import importlib
import os
import pickle
import py_compile
import sys

import pytest

from c4env import Position, agents, evaluation
from c4env.agents.making.import_path import import_attribute
from c4env.errors import UnknownAgent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text("COLUMN = 3\n")
    (tmp_path / "my-agent.py").write_text(
        "from os.path import join\nfrom helper import COLUMN\n"
        "def agent(observation):\n    return COLUMN\n"
        "class Built:\n"
        "    def __init__(self, column: int = 2): self.column = column\n"
        "    def __call__(self, observation): return self.column\n"
    )
    return tmp_path


@pytest.mark.parametrize("start", ["", "./", "sub/../"])
def test_a_file_is_taken_where_an_import_path_is(folder, start):
    (folder / "sub").mkdir()
    agent = agents.make(f"{start}my-agent.py:agent")
    assert agent.choose(Position()) == 3
    assert agents.make(f"{folder}/my-agent.py:Built:column=5").choose(Position()) == 5
    assert sys.path[-1] == str(folder)
    assert agents.make(f"{start}my-agent.py").name == f"{start}my-agent.py:agent"


def test_a_file_is_loaded_once_and_names_its_module(folder):
    one = import_attribute("my-agent.py:agent")
    assert import_attribute(f"{folder}/my-agent.py:agent") is one
    assert sys.modules[one.__module__].__file__ == str(folder / "my-agent.py")
    (folder / "helper.py").unlink()
    (folder / "my-agent.py").write_text("def agent(observation):\n    return 6\n")
    new = import_attribute("my-agent.py:agent")  # once more, and once
    assert new is not one
    assert new is import_attribute("my-agent.py:agent")


def test_what_plays_is_the_source_of_a_file(folder):
    """Python's bytecode knows an edit by seconds and size: of a copy, it may be another file's."""
    path = folder / "tuned.py"
    for column in (0, 6, 2):
        path.write_text(f"def agent(observation):\n    return {column}\n")
        os.utime(path, (1, 1))
        if column == 0:
            py_compile.compile(str(path))
        assert agents.make("tuned.py").choose(Position()) == column


def test_a_link_to_a_file_finds_what_lies_beside_the_link(folder):
    """As with ``python v1/linked.py``; the modules are those beside the file."""
    (folder / "linked.py").write_text(
        "import pathlib, helper\nassert helper.COLUMN == 3\n"
        "COLUMN = int(pathlib.Path(__file__).with_name('column').read_text())\n"
        "agent = lambda observation: COLUMN\n"
    )
    for version, column in (("v1", 0), ("v2", 6)):
        (folder / version).mkdir()
        (folder / version / "column").write_text(str(column))
        (folder / version / "linked.py").symlink_to("../linked.py")
        for _ in range(2):
            assert agents.make(f"{version}/linked.py").choose(Position()) == column


def test_modules_beside_a_file_are_imported_when_called(folder):
    (folder / "helper.py").write_text("def column():\n    import later\n    return later.COLUMN\n")
    (folder / "my-agent.py").write_text(
        "import helper\ndef agent(observation):\n    return helper.column()\n"
    )
    (folder / "later.py").write_text("COLUMN = 5\n")
    assert agents.make("my-agent.py").choose(Position()) == 5


@pytest.mark.parametrize("name", ["state.py", "a.b/state.py", "json.py", "not-a-name.py"])
def test_what_a_file_defines_can_be_pickled(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("import pickle\nclass State: ...\npickle.dumps(State)\n")
    state = import_attribute(f"{path}:State")
    assert pickle.loads(pickle.dumps(state)) is state
    assert (state.__module__ == "state") == (name.endswith("state.py"))


def test_one_process_does_not_mix_the_helpers_of_two_folders(folder):
    """In a run each agent has a process of its own."""
    assert agents.make("my-agent.py").choose(Position()) == 3
    (folder / "other").mkdir()
    (folder / "other" / "my-agent.py").write_text("def agent(observation):\n    return 1\n")
    assert agents.make("other/my-agent.py").choose(Position()) == 1
    (folder / "third").mkdir()
    (folder / "third" / "agent.py").write_text("def agent(observation):\n    return 1\n")
    (folder / "third" / "helper.py").write_text("COLUMN = 0\n")
    assert agents.make("third/agent.py").choose(Position()) == 1  # it imports no helper
    (folder / "third" / "agent.py").write_text("import helper\nagent = lambda o: helper.COLUMN\n")
    with pytest.raises(
        UnknownAgent, match=f"{folder}/third/helper.py has the name of .*helper.py,"
    ):
        agents.make("third/agent.py")


LATER = "def agent(observation):\n    import helper\n    return helper.COLUMN\n"
NESTED = "from inner.parts import COLUMN\ndef agent(observation):\n    return COLUMN\n"


@pytest.mark.parametrize(
    ("spec", "files"),
    [
        ("old/agent.py", {"old/agent.py": LATER, "old/helper.py": "COLUMN = 1\n"}),
        (
            "old/agent.py",
            {
                "old/agent.py": NESTED,
                "old/inner/__init__.py": "",
                "old/inner/parts.py": "from .more import COLUMN\n",
                "old/inner/more.py": "from helper import COLUMN\n",
                "old/helper.py": "COLUMN = 1\n",
            },
        ),
        ("old/agent.py", {"old/agent.py": "from random import COLUMN\nagent = lambda o: COLUMN\n"}),
        ("kaggle:old/agent.py", {"old/agent.py": LATER, "old/helper.py": "COLUMN = 1\n"}),
        (
            "greedy:heuristic=old/agent.py:value",
            {
                "old/agent.py": "def value(mine, theirs):\n    import helper\n"
                "    return float(mine >> 14 & 1) if helper.COLUMN == 1 else 0.0\n",
                "old/helper.py": "COLUMN = 1\n",
            },
        ),
    ],
    ids=["in a move", "in turn", "standard library", "kaggle", "heuristic"],
)
def test_a_module_beside_a_file_is_never_taken_from_elsewhere(folder, monkeypatch, spec, files):
    """A session that would take another one says so; a run is in test_misbehaviour."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    (folder / "old" / "random.py").write_text("COLUMN = 1\n")
    (folder / "inner").mkdir()
    (folder / "inner" / "parts.py").write_text("COLUMN = 3\n")
    monkeypatch.syspath_prepend(folder)
    importlib.import_module("helper")  # of the session's own
    with pytest.raises(ValueError, match=f"{folder}/old/.*.py has the name of .*, which"):
        agents.make(spec).choose(Position())


INSERTED = "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\n"


def test_a_second_version_of_a_module_is_refused_in_one_session(folder):
    """Wherever the file finds it; in a run each version has its process."""
    source = f"{INSERTED}from bots.weights import COLUMN\nagent = lambda observation: COLUMN\n"
    for version, column in (("v1", 0), ("v2", 6)):
        (folder / version / "bots").mkdir(parents=True)
        (folder / version / "bots" / "root.py").write_text(source)
        (folder / version / "bots" / "weights.py").write_text(f"COLUMN = {column}\n")
    games = evaluation.round_robin({v: f"{v}/bots/root.py" for v in ("v1", "v2")}, [""]).games
    assert [(game.players[0], game.moves[0]) for game in games] == [("v1", "1"), ("v2", "7")]
    assert agents.make("v1/bots/root.py").choose(Position()) == 0
    with pytest.raises(UnknownAgent, match=f"{folder}/v2/bots/weights.py has the name of .*v1/"):
        agents.make("v2/bots/root.py")


def test_a_module_that_is_never_imported_does_not_refuse_a_file(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    importlib.import_module("helper")  # of the session's own
    (folder / "old").mkdir()
    (folder / "old" / "helper.py").write_text("COLUMN = 1\n")
    (folder / "old" / "agent.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper\n"
        "agent = lambda observation: 6\n"
    )
    assert agents.make("old/agent.py").choose(Position()) == 6


def test_a_module_in_folders_without_init_is_named_by_its_path(folder):
    (folder / "bots" / "v1").mkdir(parents=True)
    (folder / "bots" / "v1" / "conf.py").write_text("COLUMN = 2\n")
    for source in ("from bots.v1.conf import COLUMN", "from .conf import COLUMN"):
        (folder / "bots" / "v1" / "mine.py").write_text(f"{source}\nagent = lambda o: COLUMN\n")
        games = evaluation.round_robin({"it": "bots.v1.mine:agent", "r": "random"}, [""]).games
        assert {game.moves[0] for game in games if game.players[0] == "it"} == {"3"}


def test_a_module_by_name_comes_from_the_current_folder(folder, monkeypatch):
    """As with ``python -m``."""
    (folder / "elsewhere").mkdir()
    for place, column in (("elsewhere/", 5), ("", 2)):
        (folder / f"{place}named.py").write_text(f"def agent(observation):\n    return {column}\n")
    monkeypatch.setenv("PYTHONPATH", str(folder / "elsewhere"))
    games = evaluation.round_robin({"named": "named:agent", "greedy": "greedy"}, [""]).games
    assert [game.moves[0] for game in games if game.players[0] == "named"] == ["3"]
    monkeypatch.syspath_prepend(folder / "elsewhere")
    assert agents.make("named:agent").choose(Position()) == 2
    del sys.modules["named"]
    import named

    assert named.agent({}) == 5
    with pytest.raises(UnknownAgent, match=f"{folder}/named.py has the name of .*elsewhere/named"):
        agents.make("named:agent")


@pytest.mark.parametrize("name", ["time", "colorsys"])
def test_a_file_may_have_the_name_of_a_module(folder, name):
    (folder / f"{name}.py").write_text("def agent(observation):\n    return 5\n")
    assert agents.make(f"{name}.py").choose(Position()) == 5


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("absent.py:agent", "file 'absent.py' does not exist; expected package.module:attribute"),
        ("my-agent.py:nothing", "has no attribute 'nothing'"),
        ("broken.py:agent", r"ZeroDivisionError: division by zero \\(broken.py, line 2\\)"),
        ("lacks.py:Lacks", "its class does not write the method choose$"),
        ("lacks.py:Opens", r"FileNotFoundError: .* \\(lacks.py, line 6\\)$"),
        ("relative.py:agent", "relative.py is a module of a package: expected package.module:NAME"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(folder, spec, said):
    (folder / "broken.py").write_text("\n1 / 0\n")
    (folder / "lacks.py").write_text(
        "import pathlib\nfrom c4env.agents import Agent\nclass Lacks(Agent): ...\n"
        "class Opens(Agent):\n    def __init__(self):\n"
        "        pathlib.Path('absent').read_text()\n    choose = None\n"
    )
    (folder / "relative.py").write_text("from .helper import COLUMN\n")
    for _ in range(2):
        with pytest.raises(UnknownAgent, match=said.replace("\\\\", "\\")):
            agents.make(spec)
