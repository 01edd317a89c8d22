import importlib.metadata
import math
import pickle
import re
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c4env import Position, observe
from c4env.agents.base import Agent
from c4env.agents.making import registry as zoo
from c4env.agents.making.as_agent import FunctionAgent
from c4env.agents.making.options import Range, validate_args
from c4env.agents.making.registry import ENTRY_POINTS, Entry, names, register
from c4env.agents.making.spec import Spec, describe, make, written_files
from c4env.errors import InvalidOption, UnknownAgent
from c4env.evaluation.__main__ import main
from c4env.evaluation.runs.code_hashes import files_of
from c4env.evaluation.web.allowlist import catalogue
from tests.helpers.policies import first_legal
from tests.helpers.processes import run_python


@pytest.fixture(autouse=True)
def no_third_parties(monkeypatch):
    """Entry points of nobody; they are read once, and nothing public reads them again."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    zoo.third_parties.cache_clear()
    yield
    zoo.third_parties.cache_clear()


# -- names -------------------------------------------------------------------------


def test_the_published_systems_have_their_names_and_depths():
    systems = "alphabeta-chain", "alphabeta-window", "alphabeta-window-b", "minimax", "rust-port"
    assert [make(name).depth for name in systems] == [7, 5, 5, 7, 5]
    assert names() == sorted(names())


@pytest.mark.parametrize(
    ("spec", "name"),
    [(" greedy ", "greedy"), ("alphabeta: heuristic = lines", "alphabeta:heuristic=lines")],
)
def test_a_spec_is_made_and_written_back(spec, name):
    agent = make(spec)
    assert (agent.name, repr(agent)) == (name, f"agents.make({name!r})")


def test_keyword_options_add_to_the_spec_and_override_it():
    agent = make("alphabeta:depth=6", heuristic="window")
    assert (agent.depth, agent.name) == (6, "alphabeta:depth=6,heuristic=window")
    other = make("alphabeta", depth=6, heuristic="window")
    assert other.name == agent.name
    overridden = make("alphabeta:depth=6", depth=2)
    assert (overridden.depth, overridden.name) == (2, "alphabeta:depth=2")


words = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
values = st.one_of(words, st.integers().map(str), st.just("package.module:function"))


def parts(text):
    spec = Spec.parse(text)
    return spec.name, spec.options


@given(words, st.dictionaries(words, values, max_size=4))
@settings(max_examples=20)
def test_specs_split_as_they_were_joined(name, options):
    for agent in (name, f"package.{name.replace('-', '_')}:attribute"):
        spec = Spec.parse(agent).with_options(options)
        assert (spec.name, spec.options) == parts(str(spec)) == (agent, options)


PATHS = ["runs/lr=0.1/mine.py", "C:/x/mine.py", r"C:\x\lr=0.1\mine.py", "./a=b,c.py", "mine.py"]


@pytest.mark.parametrize("path", PATHS)
def test_paths_of_all_systems_are_read_as_text(path):
    assert parts(path) == (f"{path}:agent", {})
    assert parts(f"{path}:Mine") == (f"{path}:Mine", {})
    assert parts(f"{path}:Mine:depth=3") == (f"{path}:Mine", {"depth": "3"})
    assert parts(f"torch:{path}:net") == ("torch", {"function": f"{path}:net"})
    with pytest.raises(UnknownAgent, match=re.escape(f"file {path!r} does not exist")):
        make(path)


def test_an_option_that_a_class_needs_is_asked_for_in_a_spec(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def __init__(self, weights, depth, width=1, **more): ...\n")
    for options, message in {"": "weights", ":depth=1": "weights", ":weights=a": "depth"}.items():
        wanted = "weights=VALUE,depth=VALUE" if not options else f"{message}=VALUE"
        expected = re.escape(f"{message} is missing: expected {path}:Mine:{wanted}")
        with pytest.raises(InvalidOption, match=rf"{expected}$"):
            make(f"{path}:Mine{options}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *(("final.zip", "'sb3:final.zip'"), ("runs/lr=0.1/model.zip", "'sb3:runs/lr=0.1/model.")),
        *(("./eng", "'exec:./eng'"), ("eng", "'exec:./eng'")),
        ("net.pt", r"'selfplay:net.pt'\? Weights of your .* FILE.py:CLASS:weights=net.pt$"),
        ("net.npz", "weights .* FILE.py:CLASS:weights=net.npz$"),
    ],
)
def test_the_error_for_another_file_has_the_spec_to_write(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "/lr" not in name:  # which is told of any .zip
        (tmp_path / name).touch()
    with pytest.raises(UnknownAgent, match=rf"^unknown agent '{name}'; (did you mean )?{said}"):
        make(name)


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("a.py:A,data=x", "a.py:A:data=x"),
        ("./a=b,c.py:A,x=1,y=2", "./a=b,c.py:A:x=1,y=2"),
        ("some.package:A,data=x", "some.package:A:data=x"),
    ],
)
def test_the_options_of_a_path_follow_a_second_colon(spec, meant):
    words = f"'A' is not key=value; the options follow a second colon: did you mean {meant!r}?"
    with pytest.raises(InvalidOption, match=f"{re.escape(words)}$"):
        make(spec)
    for other in ("alphabeta:A,depth=2", "a.py:A:data", "a.py:A:x=1,data"):
        with pytest.raises(InvalidOption, match="is not key=value; expected name:key=value"):
            make(other)


def test_a_spec_is_its_text_in_another_process():
    spec = Spec.parse("exec: ./a b, timeout=3")
    assert pickle.loads(pickle.dumps(spec)) == spec != Spec.parse("exec:./a b,timeout=3")
    assert (spec.name, spec.options) == ("exec", {"command": "./a b", "timeout": "3"})
    assert spec.with_options({"timeout": 4.5, "command": "b"}).text == "exec:b,timeout=4.5"


class Named(Agent):
    """Has an option that the agent's own name would overwrite."""

    def __init__(self, name="first", column=0):
        self.name = name

    def choose(self, position):
        return 0


def test_an_option_called_name_is_refused():
    register("has-a-name", Named)
    register("makes-a-name", lambda: Named("second"))
    words = "the option 'name' of Named would be lost: expected another name for the option"
    for spec in ("has-a-name", "makes-a-name", f"{__name__}:Named:column=1"):
        with pytest.raises(
            InvalidOption, match=f"^{re.escape(spec.removesuffix(':column=1'))}: .*{words}"
        ):
            make(spec)


class Fixed(Agent):
    """Plays one column.

    Args:
        column: the column. It is played until it is full, and then all the same.
    """

    @validate_args
    def __init__(self, column: Annotated[int, Range(0, 6)] = 2) -> None:
        self.column = column

    def choose(self, position: Position) -> int:
        return self.column


LOADED = Entry("loaded", f"{__name__}:Loaded", "made from a file", argument="path")


class Loaded(Fixed):
    """Made from a file.

    Args:
        path: the file.
        depth: plies.
    """

    def __init__(self, path: str, depth: int = 2) -> None:
        self.path = path
        self.depth = depth


@pytest.mark.parametrize(
    ("spec", "path", "depth"),
    [
        ("loaded:model.zip", "model.zip", 2),
        ("loaded:./a=b,c.py:f,depth=3", "./a=b,c.py:f", 3),
        ("loaded://127.0.0.1:80, depth=4", "//127.0.0.1:80", 4),
        ("loaded:python3 -c print(1),depth=5", "python3 -c print(1)", 5),
        ("loaded:path=x,depth=6", "x", 6),
    ],
)
def test_an_argument_needs_no_key(spec, path, depth):
    register("loaded", LOADED)
    agent = make(spec)
    assert (agent.path, agent.depth) == (path, depth)
    again = make(agent.name)
    assert (again.path, again.depth, again.name) == (path, depth, agent.name)
    assert agent.name.startswith(f"loaded:{path}")
    assert "path=...  the file" in describe("loaded")


# -- errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        *("", "  ", ":", "()", ":depth=3", "alphabeta:", "alphabeta:depth", "alphabeta:depth="),
        *("alphabeta:=3", "alphabeta:depth=3,", "alphabeta:depth=3,,heuristic=chain"),
        *("alphabeta(depth=3)", "greedy()", "alphabeta:3", "alphabeta depth=3"),
    ],
)
def test_a_malformed_spec_is_refused(spec):
    with pytest.raises((InvalidOption, UnknownAgent)) as caught:
        make(spec)
    assert repr(spec) in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "error", "hint"),
    [
        ("alfabeta", UnknownAgent, "'alfabeta'; did you mean 'alphabeta'"),
        ("greddy:depth=3", UnknownAgent, "'greddy'; did you mean 'greedy'"),
        ("zzz", UnknownAgent, "'zzz'; known: "),
        ("alphabeta:deth=3", InvalidOption, "alphabeta: unknown option 'deth'; did you mean 'dep"),
        ("alphabeta:colour=3", InvalidOption, "unknown option 'colour'; known: depth, heuristic"),
        ("alphabeta-chain:heuristic=lines", InvalidOption, "option 'heuristic'; known: depth"),
        ("random:seed=3", InvalidOption, "random: unknown option 'seed'; known: none"),
    ],
)
def test_an_unknown_agent_or_option_comes_with_a_suggestion(spec, error, hint):
    with pytest.raises(error, match=hint):
        make(spec)


@pytest.mark.parametrize("value", ["0", "-1", "43", "x", "3.0", "1e1", "True", 3.0, None, [3]])
def test_a_bad_value_is_refused_in_a_spec_and_beside_it(value):
    with pytest.raises(InvalidOption) as caught:
        make("alphabeta", depth=value)
    who = "alphabeta" if isinstance(value, str) else "AlphaBeta"  # values are the class's business
    assert str(caught.value) == f"{who}: depth={value!r}: expected int between 1 and 42"
    if isinstance(value, str):
        with pytest.raises(InvalidOption, match=re.escape(str(caught.value))):
            make(f"alphabeta:depth={value}")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("deepening:movetime=0 mcts:movetime=1e12 mcts:movetime=inf", "float between 0.001"),
        (f"deepening:nodes={'9' * 30} deepening:nodes=0", "int between 1 and 1e+15"),
        ("sb3:model.zip,temperature=inf", "finite float of at least 0"),
        ("perfect:ties=left", "one of center, random"),
        ("mcts:simulations=0 mcts:simulations=many", "int between 1 and 1e+09, or None"),
        ("mcts:reuse=2", "true or false"),
    ],
)
def test_a_value_out_of_range_is_told_the_range(options, expected):
    for spec in options.split():
        option, value = re.findall(r"(\w+)=([^,=]*)$", spec)[0]
        message = re.escape(f"{option}={value!r}: expected {expected}")
        with pytest.raises(InvalidOption, match=message):
            make(spec)


# -- agents of users and third parties ---------------------------------------------------


def makes_a_policy(strength: int = 1):
    return lambda observation: strength


def test_a_function_can_be_registered_and_played():
    register("left-most", first_legal)
    assert "left-most" in names()
    agent = make("left-most")
    assert isinstance(agent, FunctionAgent)
    assert (agent.name, agent.deterministic) == ("left-most", False)
    assert agent(observe(Position.parse("111111"))) == 1
    assert agent.choose(Position.parse("111111")) == 1
    agent.reset(seed=1)
    assert describe("left-most").endswith("The leftmost legal column.")
    with pytest.raises(InvalidOption, match="depth"):
        make("left-most:depth=3")
    assert make(f"{__name__}:first_legal").choose(Position()) == 0
    assert "\n" not in describe(f"{__name__}:first_legal")


@pytest.mark.parametrize("name", ["fixed", f"{__name__}:Fixed"])
def test_a_class_is_registered_or_named_by_its_import_path(name):
    register("fixed", Fixed)
    assert make(name).choose(Position()) == 2
    agent = make(f"{name}:column=4")
    assert (agent.choose(Position()), agent.name) == (4, f"{name}:column=4")
    summary, option = describe(agent.name).split("\n")
    assert summary.endswith("Plays one column.")
    assert option.strip() == "column=2  the column"
    with pytest.raises(InvalidOption, match=f"{name}: unknown option 'row'; known: column"):
        make(f"{name}:row=4")


def test_a_name_is_not_taken_over_unasked():
    with pytest.raises(InvalidOption, match="'greedy' exists already"):
        register("greedy", first_legal)
    register("greedy", first_legal, replace=True)
    assert make("greedy")(observe(Position())) == 0


def test_a_cell_that_runs_again_registers_its_agent_again():
    for column in (2, 4):
        cell = f"def mine(observation):\n    return {column}\nregister('mine', mine)"
        exec(cell, {"register": register, "__name__": "__main__"})
        assert make("mine")(observe(Position())) == column
    for other in (first_legal, lambda _: 0):
        with pytest.raises(InvalidOption, match="'mine' exists already"):
            register("mine", other)


MAIN = """
from c4env import evaluation

def heuristic(mine, theirs):
    return float(mine % 1000)

if __name__ == "__main__":
    field = ["greedy:heuristic=__main__:heuristic", "random"]
    for jobs in (1, 2):
        print(evaluation.round_robin(field, openings=1, seed=3, jobs=jobs).digest)
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_what_a_script_defines_plays_in_its_workers_too(tmp_path):
    (tmp_path / "script.py").write_text(MAIN)
    alone, two = run_python(tmp_path / "script.py", check=True).stdout.split()
    assert alone == two


class Typed(Fixed):
    def __init__(self, n: int = 1, x: float | None = None, on: bool = False, word: str = "", raw=0):
        self.given = (n, x, on, word, raw)


def test_options_of_an_imported_class_become_what_its_annotations_say():
    register("annotated", Typed)
    agent = make("annotated:n=3,x=0.5,on=true,word=7,raw=8")
    assert agent.given == (3, 0.5, True, "7", "8")
    assert agent.name == "annotated:n=3,x=0.5,on=true,word=7,raw=8"
    assert make("annotated:x=inf").given[1] == math.inf
    assert make("annotated", n=4, x=2).given == (4, 2, False, "", 0)
    register("policy", makes_a_policy)
    assert make("policy:strength=3").choose(Position()) == 3


def test_third_parties_register_through_entry_points(monkeypatch):
    asked = []
    kinds = {
        "theirs": f"{__name__}:Fixed",
        "their-function": f"{__name__}:first_legal",
        "their-entry": f"{__name__}:LOADED",
        "broken": "no_such_module_1:Agent",
    }

    def entry_points(group):
        asked.append(group)
        return [importlib.metadata.EntryPoint(n, v, group) for n, v in kinds.items()]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    zoo.third_parties.cache_clear()
    assert {"theirs", "their-function", "their-entry", "broken"} <= set(names())
    assert asked == [ENTRY_POINTS] == ["c4env.agents"]
    assert make("theirs:column=1").choose(Position()) == 1
    assert make("their-function").choose(Position()) == 0
    assert make("their-entry:model.zip").path == "model.zip"
    assert "made from a file" in describe("their-entry")
    with pytest.raises(InvalidOption, match="exists already"):
        register("theirs", first_legal)
    with pytest.raises(UnknownAgent, match=r"'broken': its entry point 'no_such_module_1:Agent'"):
        make("broken")


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Two installed packages with agents, some of them of the same names."""
    for package, provided in {"one": ("same", "greedy", "only"), "other": ("same",)}.items():
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        points = [f"{name} = {package}_agents:last" for name in provided]
        (folder / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINTS}]", *points]))
        source = f"def last(observation):\n    'Of {package}.'\n    return 6\n"
        (tmp_path / f"{package}_agents.py").write_text(source)
    installed = importlib.metadata.distributions(path=[str(tmp_path)])
    items = [point for package in installed for point in package.entry_points]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: items)
    monkeypatch.setattr(zoo, "_registered", {**zoo._registered})
    zoo.third_parties.cache_clear()


def test_a_name_of_two_packages_is_refused_and_all_else_works(packages, capsys):
    theirs = {"one (one_agents:last)", "other (other_agents:last)"}
    ours = {"c4env (c4env.agents.baselines:Greedy)", "one (one_agents:last)"}
    for name, providers in ("same", theirs), ("greedy", ours):
        for ask in (make, describe, lambda name: make(f"{name}:option=1")):
            with pytest.raises(UnknownAgent, match=f"^agent '{name}' is provided by") as caught:
                ask(name)
            listed = str(caught.value).partition(" provided by ")[2].partition(": expected")[0]
            assert {*listed.split(" and by ")} == providers
    assert make("only").choose(Position()) == make("one_agents:last").choose(Position()) == 6
    assert Spec.parse("only").runs == "own"  # other people's code, which no run should share
    assert [file.name for file in files_of(Spec.parse("only"))] == ["one_agents.py"]
    for spec in ("c4env.agents.baselines:Greedy", "alphabeta:depth=2"):
        assert make(spec).choose(Position.parse("414141")) == 3
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "same                 broken: agent 'same' is provided by" in shown
    assert "only                 Of one." in shown
    assert "minimax " in shown
    assert {"greedy", "minimax"} <= {offer["spec"] for offer in catalogue()}
    for name in ("same", "greedy"):  # who replaces an agent says which one plays
        register(name, first_legal, replace=True)
        assert make(name).choose(Position()) == 0


@pytest.mark.parametrize("player", [max, len, lambda observation: 3], ids=["max", "len", "lambda"])
def test_a_function_writes_no_files(player):
    assert written_files(player) == {}
