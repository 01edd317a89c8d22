import pickle
import sys

import pytest

from c4env import Position, agents
from c4env.agents.imports import import_attribute
from c4env.errors import UnknownAgent


@pytest.fixture(autouse=True)
def modules(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        del sys.modules[name]


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
    with pytest.raises(UnknownAgent, match=r"helper.py has the name of .*helper.py, which this"):
        agents.make("third/agent.py")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("absent.py:agent", "there is no file 'absent.py'; expected package.module:attribute or"),
        ("my-agent.py:nothing", "has no attribute 'nothing'"),
        ("broken.py:agent", r"ZeroDivisionError: division by zero \\(broken.py, line 2\\)"),
        ("relative.py:agent", "a module of a package is named package.module:NAME"),
        ("eng", "unknown agent 'eng'; did you mean 'exec:./eng'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(folder, spec, said):
    (folder / "broken.py").write_text("\n1 / 0\n")
    (folder / "relative.py").write_text("from .helper import COLUMN\n")
    (folder / "eng").write_text("")
    for _ in range(2):
        with pytest.raises(UnknownAgent, match=said.replace("\\\\", "\\")):
            agents.make(spec)
