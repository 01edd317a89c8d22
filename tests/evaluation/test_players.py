"""What a run knows of its agents: names, traits, and what each is made from."""

import os
import re
import shutil
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Annotated

import pytest

from c4env import agents, evaluation
from c4env.agents import Reads
from c4env.agents.base import Agent
from c4env.agents.making.registry import Entry
from c4env.agents.making.spec import Spec
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.records.header import identity, identity_hash
from c4env.evaluation.runs.code_hashes import contents_of, files_of
from c4env.evaluation.runs.play_game import Clock
from c4env.evaluation.runs.players import (
    Traits,
    make_player,
    name_players,
    split_name,
)
from c4env.evaluation.runs.referee import Referee
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python


class Patient(Agent):
    closed = 0
    deterministic = True

    def __init__(self, movetime: float | None = None):
        self.movetime = movetime

    def choose(self, position):
        return position.legal_columns()[0]

    def close(self):
        Patient.closed += 1


@pytest.fixture
def patient():
    agents.register("patient", Entry("patient", f"{__name__}:Patient", "waits"))


def test_the_runs_movetime_reaches_the_agents_that_take_one(patient):
    agents.register("a-class", Patient)
    for spec in ("patient", "a-class", f"{__name__}:Patient"):
        assert make_player(Spec.parse(spec), 0.5).movetime == 0.5
    assert make_player(Spec.parse("patient"), None).movetime is None
    assert make_player(Spec.parse("patient:movetime=2"), 0.5).movetime == 2
    assert make_player(Spec.parse("greedy"), 0.5).movetime is None
    assert make_player(Spec.parse("alphabeta:depth=2"), None).nodes > 0  # its first move is made


def traits(field, movetime=None):
    clock = None if movetime is None else Clock(movetime, 0.1)
    with closing(Referee(name_players(field), clock)) as referee:
        return {name: referee.traits(name) for name in referee.players}


def test_traits(patient):
    field = ["random", "greedy", "patient", "patient:movetime=1"]
    result = traits(field)
    assert [name for name, its in result.items() if its.deterministic] == ["greedy", "patient"]
    assert [name for name, its in result.items() if its.timed] == ["patient:movetime=1"]
    timed = [name for name, its in traits(field, 0.5).items() if its.timed]
    assert timed == ["patient", "patient:movetime=1"]
    assert traits({"f": lambda observation: 0})["f"] == Traits(False, False, version="")


def test_a_function_or_a_policy_may_claim_to_be_deterministic():
    class Policy:
        deterministic = True

        def __call__(self, observation):
            return 0

    def function(observation):
        return 0

    function.deterministic = True
    agents.register("claims", function)
    field = {"policy": Policy(), "function": function, "claims": "claims"}
    assert all(its.deterministic for its in traits(field).values())


def test_timed_runs_say_so_and_agents_are_closed(patient):
    before = Patient.closed
    result = evaluation.round_robin(["patient", "random"], openings=0, movetime=5)
    assert Patient.closed > before
    assert result.deterministic == ()
    shown = result.table.text()
    assert "5 s per move, and a margin of 0.1 s" in shown
    assert "These agents search by the clock: patient." in shown
    assert "do not repeat exactly" in shown
    own = evaluation.round_robin(["patient:movetime=2", "random"], openings=0)
    assert "do not repeat exactly" in own.table.text()


@pytest.mark.parametrize(
    "spec",
    [
        *("runs/lr=0.1/mine.py", "./lr=0.1/mine.py:f", r"runs\lr=0.1\mine.py", "C:/lr=1/mine.py:f"),
        *(r"C:\x\lr=0.1\mine.py", "kaggle:runs/lr=0.1/agent.py", "greedy"),
    ],
)
def test_a_path_may_hold_an_equals_sign_and_a_name_no_slash(spec):
    assert split_name(spec) == (spec, spec)
    assert split_name(f"mine={spec}") == ("mine", spec)
    assert split_name(f" a b = {spec} ") == ("a b", spec)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        *(((name,), "without blanks around it") for name in ("a ", "\ta", "a\u3000")),
        (("a\u200b",), r"name without '\\u200b', ZERO WIDTH SPACE, which nobody sees"),
        *(((f"a{c}b",), "which nobody sees") for c in "\xa0\xad\u2060\u202e\ufeff\u3164\ufe0f"),
        (("é", "e\u0301"), r"'\\xe9' and 'e\\u0301' look the same: rename one"),
        (("",), "agent '': expected a name"),
        ((3,), "agent 3: expected a name"),
    ],
)
def test_names_that_look_the_same_are_refused(names, words):
    for field in (dict.fromkeys(names, "random"), {name: Spec.parse("random") for name in names}):
        with pytest.raises(InvalidOption, match=words):
            name_players(field)


def test_a_spec_with_blanks_around_it_is_the_spec():
    assert [*name_players([" greedy ", "a b=random", "naïve=random"])] == ["greedy", "a b", "naïve"]


PLAIN = "def agent(observation):\n    return int(observation['action_mask'].argmax())\n"
NET = {
    "own_package/__init__.py": "",
    "own_package/net.py": f"from .more import a\n{PLAIN}",
    "own_package/more.py": "a = 1\n",
}
HELPER = {"own_helper.py": "1\n"}
HELPED = {"own.py": f"import own_helper\n{PLAIN}"} | HELPER
INSERTED = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))\n"
PARENTS = {"bots/own.py": f"{INSERTED}import own_helper\n{PLAIN}"} | HELPER
OWN = """class Own:
    def __init__(self, data=""): ...
    def __call__(self, observation):
        return int(observation["action_mask"].argmax())
"""

# A spec, the files it stands for, and the one that is changed.
SPECS = [
    ("own.py", HELPED, "own_helper.py"),
    ("bots/own.py", PARENTS, "own_helper.py"),
    ("own_module:agent", {"own_module.py": PLAIN}, "own_module.py"),
    ("own_package.net:agent", NET, "own_package/more.py"),
    ("greedy:heuristic=own.py:tall", {"own.py": "def tall(a, b):\n    return 1.0\n"}, "own.py"),
    ("kaggle:own.py", HELPED, "own_helper.py"),
    ("field-own:path=nets", {"nets/a/w": "1", "nets/b": "2"}, "nets/a/w"),
    ("own.py:Own:data=own.bin", {"own.py": OWN, "own.bin": "1"}, "own.bin"),
]
NAMED = [
    ("own.py:Own", {"own.py": OWN.replace('""', "'own.bin'"), "own.bin": "1"}, "own.bin"),
    ("own.py:Own:data=more.py:Own:data=w.npy", {"own.py": OWN, "more.py": OWN, "w.npy": "1"}, ""),
    ("own.py:Own:data=greedy:heuristic=h.py:h", {"own.py": OWN, "h.py": "h = 1\n"}, ""),
    ("exec:python3 -u bots", {"bots/__main__.py": PLAIN}, ""),
    ("exec:./engine --net=w.bin", {"engine": "1", "w.bin": "1"}, "w.bin"),
    ("exec:python3 own.py", {"own.py": PLAIN}, "own.py"),
    ("exec:python3 -m own_package.net", NET, "own_package/more.py"),
    ("learned:weights=w.npz", {"w.npz": "1"}, "w.npz"),
    ("puct:selfplay:dir,simulations=9", {"dir/model.pt": "1"}, "dir/model.pt"),
    ("torch:net.py:net", {"net.py": "net = 1\n"}, "net.py"),
    ("chat:m,prompt=ask.txt", {"ask.txt": "{board}"}, "ask.txt"),
]
# What does not belong to an agent: words, and a folder that the agent does not declare.
OTHERS = [
    ("own.py:Own:data=folder", {"own.py": OWN, "folder/a": "1"}, "folder/a"),
    ("own.py:Own:data=see own.bin", {"own.py": OWN, "own.bin": "1"}, "own.bin"),
    ("own_package.net:agent", NET | {"own_package/apart.py": "1"}, "own_package/apart.py"),
    ("mcts:simulations=5", {"5": "1", "mcts": "1"}, "5"),
]


def isolated_but(rows, *quick):
    """The rows as cases, of which a few start processes in the quick suite."""
    marks = {False: pytest.mark.isolated, True: ()}
    return [pytest.param(*row, marks=marks[i in quick]) for i, row in enumerate(rows)]


class Own(Agent):
    def __init__(self, path: Annotated[str, Reads("folder")] = ""):
        self.path = path

    def choose(self, position):
        return position.legal_columns()[0]


def write(files):
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def files_named(text):
    return files_of(Spec.parse(text))


def test_a_long_argument_is_not_a_file():
    assert files_named(f"exec:{sys.executable} eng.py --opt {'a' * 300}")[-1].is_file()


def code_of(player):
    with closing(Referee(name_players({"a": player}))) as referee:
        return dict(referee.traits("a").code)


@pytest.fixture
def own(folder):
    agents.register("field-own", Entry("field-own", f"{__name__}:Own", ""))


@pytest.mark.parametrize(("spec", "files", "changed"), isolated_but(SPECS, 1, 3, 6))
def test_all_that_a_spec_stands_for_makes_its_identity(own, spec, files, changed):
    write(files | {"elsewhere.py": "", "elsewhere/a": "1"})
    if "field-own" in spec:  # registered only in this process

        def find(spec):
            return identity(contents_of(files_named(spec), os.getcwd()))
    else:
        find = code_of
    first = find(spec)
    write({"elsewhere.py": "1", "elsewhere/a": "2"})
    assert find(spec) == first
    write({changed: files[changed] + "\n"})
    edited = find(spec)
    assert edited != first
    assert identity_hash(edited) != identity_hash(first)


@pytest.mark.parametrize(("spec", "files", "changed"), NAMED)
def test_the_files_that_a_spec_names(folder, spec, files, changed):
    write(files)
    named = {os.path.relpath(path) for path in files_named(spec)}
    assert {path for path in named if not path.startswith("..")} == {*files}  # nor Python's program


@pytest.mark.parametrize(("spec", "files", "changed"), isolated_but(OTHERS, 0, 3))
def test_words_and_undeclared_folders_are_not_files_of_an_agent(folder, spec, files, changed):
    write(files)
    first = code_of(spec)
    write({changed: files[changed] + "\n"})
    assert code_of(spec) == first


def test_a_program_on_the_path_belongs_to_the_identity(folder, monkeypatch):
    Path("bin").mkdir()
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=os.pathsep)
    found = []
    for text in ("#!/bin/sh\n", "#!/bin/sh\n# edited\n"):
        write({"bin/engine": text})
        Path("bin/engine").chmod(0o755)
        found.append(contents_of(files_named("exec:engine"), os.getcwd()))
    assert found[0] != found[1]


@pytest.mark.isolated
def test_a_module_in_a_zip_file_belongs_to_the_identity(folder):
    zipped = "import sys\nsys.path.insert(0, 'lib.zip')\nimport own_helper\n"
    write({"own.py": zipped + PLAIN})
    found = []
    for text in ("1\n", "2\n"):
        with zipfile.ZipFile("lib.zip", "w") as archive:
            archive.writestr("own_helper.py", text)
        found.append(code_of("own.py"))
    assert found[0] != found[1]


def test_a_run_says_once_which_files_its_moves_imported(folder, capfd):
    """No hash has them."""
    hidden = "import importlib\ndef agent(o):\n    return importlib.import_module('own_helper').a\n"
    write({"own.py": hidden, "own_helper.py": "a = 3\n"})
    evaluation.round_robin(["own.py:agent", "random"], 1, jobs=2)
    assert capfd.readouterr().err.count("'own.py:agent': its moves imported own_helper.py, ") == 1


@pytest.mark.isolated
def test_the_modules_beside_a_submission_are_in_its_hash(folder):
    write({"own.py": f"import own_helper\n{PLAIN}", "own_helper.py": "a = 3\n"})
    digests = [evaluation.round_robin(["kaggle:own.py", "random"], [""], out="kept").digest]
    assert digests == [evaluation.round_robin(["kaggle:own.py", "random"], [""], out="kept").digest]


@pytest.mark.parametrize("spec", ["greedy", "mcts:simulations=5"])
def test_an_agent_of_this_project_has_none_whatever_lies_about(folder, spec):
    write({"greedy": "1", "5": "2", "mcts/a": "3"})
    assert code_of(spec) == {}
    assert identity_hash({}) == ""


@pytest.mark.slow
def test_after_an_edit_of_this_project_kept_games_and_answers_are_not_resumed(tmp_path):
    """In a copy of the sources: c4env hashes them once in a process."""
    for package in ("c4env", "agents", "evaluation"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    source = tmp_path / "agents" / "baselines.py"
    run = ("run", "greedy", "random", "--openings", "0", "--out", "kept", "--quiet")
    quality = ("quality", "greedy", "--on", "end-easy", "--count", "2", "--out", "kept")
    command = ("-m", "c4env.evaluation")
    there = environment(PYTHONPATH=str(tmp_path), NUMBA_DISABLE_JIT="1")  # no copy is compiled
    options = {"cwd": tmp_path, "env": there}
    for words in (run, quality):
        run_python(*command, *words, **options, check=True)
    (tmp_path / "evaluation" / "report" / "extra.py").write_text("")  # decides no game
    again = run_python(*command, *run, **options, check=True)
    assert "stored" in again.stdout
    answers = (tmp_path / "kept" / "answers.jsonl").read_text().splitlines()
    source.write_text(source.read_text() + "\n")
    changed = run_python(*command, *run, **options)
    assert changed.returncode == 2
    assert re.fullmatch(
        r"c4 run: kept holds another run; these fields differ: c4env .*\(sources (\w+)\).*, not "
        r".*\(sources (?!\1)\w+\).*; name another directory\n",
        changed.stderr,
    )
    run_python(*command, *quality, **options, check=True)
    after = (tmp_path / "kept" / "answers.jsonl").read_text().splitlines()
    assert (len(after), after[: len(answers)]) == (2 * len(answers), answers)


@pytest.mark.isolated
def test_an_agent_that_changes_the_folder_has_the_same_identity(folder):
    write({"own.py": f"import os\nos.chdir({os.sep!r})\n{OWN}", "own.bin": "1"})
    first = code_of("own.py:Own:data=own.bin")
    write({"own.bin": "2"})
    assert code_of("own.py:Own:data=own.bin") != first


@pytest.mark.parametrize("is_named", [False, True])
def test_an_object_is_kept_under_its_version(tmp_path, is_named):
    """A retrained object is told from the old one only by what it says of itself."""

    def policy(observation):
        return int(observation["action_mask"].argmax())

    agents.register("own-name", policy)
    field = {"own": "own-name" if is_named else policy, "random": "random"}

    def play(folder):
        return evaluation.round_robin(field, ["", "4"], out=tmp_path / folder).digest

    play("without")
    with pytest.raises(UnreadableRun, match="own, a Python object without an attribute version"):
        play("without")
    policy.version = 1
    assert play("with") == play("with")
    policy.version = "1, trained more"
    player = "own-name" if is_named else "<policy>"
    with pytest.raises(UnreadableRun, match=f"version of player own {player}"):
        play("with")


def test_answers_of_an_object_without_a_version_are_not_resumed(tmp_path):
    late = ["441365675334466335442232661515577"]
    for _ in range(2):
        evaluation.refute({"own": Own()}, late, 5)
    evaluation.refute({"own": Own()}, late, 5, out=tmp_path)
    agents.register("own-name", Own)
    evaluation.quality(["one=own-name", "two=own-name"], count=2, out=tmp_path)
    for ask in (
        lambda: evaluation.refute({"own": Own()}, late, 5, out=tmp_path),
        lambda: evaluation.quality("own-name", count=2, out=tmp_path),
    ):
        with pytest.raises(UnreadableRun, match="a Python object without an attribute version"):
            ask()
