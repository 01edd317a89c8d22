"""What an agent may do, and what then happens to its games: all that is promised."""

import asyncio
import os
import sys
import threading
from contextlib import closing
from pathlib import Path

import numba
import pytest
from threadpoolctl import threadpool_info

from c4env import agents, evaluation
from c4env.agents.baselines import Greedy
from c4env.agents.making.spec import Spec
from c4env.errors import EngineFault, InvalidOption, Unavailable, UnknownAgent
from c4env.evaluation.__main__ import main
from c4env.evaluation.cli.output import stdout_to_stderr
from c4env.evaluation.records.header import identity
from c4env.evaluation.runs.code_hashes import contents_of
from c4env.evaluation.runs.players import name_players
from c4env.evaluation.runs.referee import Referee
from tests.helpers.paths import ROOT
from tests.helpers.policies import first_legal
from tests.helpers.processes import environment, run_python

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("error::RuntimeWarning")]

FIRST = "int(observation['action_mask'].argmax())"


def write(folder, name, *lines):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines))
    return name


def agent(folder, name, *body, before=()):
    """A file with an agent that plays the first legal column after some lines of its own."""
    inner = [f"    {line}" for line in body]
    return write(folder, name, *before, "def agent(observation):", *inner, f"    return {FIRST}\n")


def but_the_first(rows):
    """The rows as cases: one in the quick suite, for it starts processes."""
    first, *others = rows
    return [first, *(pytest.param(*row, marks=pytest.mark.isolated) for row in others)]


def endings(players, jobs=1, openings=0, **settings):
    """How the games ended, and who forfeited them."""
    run = evaluation.round_robin(players, openings, jobs=jobs, **settings)
    return [
        (game.ending, None if game.forfeited_by is None else game.players[game.forfeited_by])
        for game in run.games
    ]


FAULTS = {  # opening -> what an agent does in its place, and how the game ends
    "1": ("raise RuntimeError('broken')", "exception", "RuntimeError: broken"),
    "2": ("raise asyncio.CancelledError", "exception", "CancelledError"),
    "3": ("raise KeyboardInterrupt", "exception", "KeyboardInterrupt"),
    "4": ("sys.exit(3)", "exception", "SystemExit: 3"),
    "5": ("return 'left'", "nonsense", "left"),
    "6": ("ctypes.PyDLL(None).sleep(1000)", "time", "the limit is 1 s plus a margin of 0.1 s"),
    "11": ("os._exit(4)", "crash", "its process ended with exit code 4"),
    "22": ("os.kill(os.getpid(), 9)", "crash", "its process was ended by signal SIGKILL"),
    "111111": ("return 0", "illegal column", "column 1 is full (it answered 0)"),
}


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.isolated), 2])
@pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name")
def test_who_is_at_fault_forfeits_only_this_game(folder, jobs):
    """With one worker it is at fault as the first player, with two as the second."""
    before = ["import asyncio, ctypes, os, sys"]
    faults = [
        "heights = observation['observation'].sum((0, 2))",
        f"at_fault = heights.sum() % 2 == {jobs - 1}",
        "opening = str(heights.argmax() + 1) * int(heights[:6].sum())",
    ]
    for opening, (does, *_) in FAULTS.items():
        faults += [f"if at_fault and opening == {opening!r}:", f"    {does}"]
    agent(folder, "wrong.py", *faults, before=before)
    agent(folder, "right.py", "return 6")
    players = ["wrong.py", "right.py"]
    run = evaluation.round_robin(players, [*FAULTS], movetime=1, jobs=jobs)
    at_fault = {game.opening: game for game in run.games if game.players[jobs - 1] == "wrong.py"}
    for opening, (_, ending, reason) in FAULTS.items():
        game = at_fault[opening]
        assert (game.ending, reason in game.reason) == (ending, True), game
        assert game.forfeited_by == jobs - 1
        assert game.moves == opening + "7" * ((len(opening) + jobs - 1) % 2)
    others = [game for game in run.games if game.players[jobs - 1] == "right.py"]
    assert [game.ending for game in others] == ["four"] * len(FAULTS)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), SystemExit(2)])
def test_an_object_that_raises_in_this_process_forfeits(error):
    def wrong(observation):
        raise error

    assert endings({"wrong": wrong, "random": "random"}) == [("exception", "wrong")] * 2


def test_an_object_that_cannot_be_copied_plays_with_one_job():
    class Locked:
        lock = None

        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, observation):
            with self.lock:
                return first_legal(observation)

    field = {"locked": Locked(), "random": "random"}
    assert set(endings(field)) <= {("four", None)}
    with pytest.raises(InvalidOption, match=r"'locked' cannot be copied .*expected jobs=1, or a"):
        endings(field, jobs=2)


def test_a_function_that_remembers_its_game_is_not_shared():
    """A copy of a function is the function itself."""

    def remembers(observation):
        return first_legal(observation)

    remembers.reset = lambda seed: None
    assert endings({"remembers": remembers, "random": "random"})
    for field, jobs in (({"one": remembers, "two": remembers}, 1), ({"one": remembers}, 2)):
        with pytest.raises(InvalidOption, match=r"the reset of a function .* would be shared"):
            endings(field | {"random": "random"}, jobs=jobs)


def test_numbas_threads_are_refused_in_two_threads():
    """Its threading layer "workqueue" would end the process."""

    class Threaded(agents.Agent):
        def __init__(self):
            self.value = numba.njit(parallel=True)(lambda mine, theirs: 0.0)

        def choose(self, position):
            return position.legal_columns()[0]

    field = {"threaded": Threaded(), "random": "random"}
    assert endings(field)
    with pytest.raises(InvalidOption, match=r"'threaded': .* parallel=True.*expected jobs=1, or a"):
        endings(field, jobs=2)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.isolated)])
def test_what_agents_print_or_redirect_leaves_the_answer_alone(folder, capfd, jobs):
    silence = "os.dup2(os.open(os.devnull, os.O_WRONLY), 2); print('said'); os.write(1, b'said')"
    agent(folder, "silent.py", before=["import os", silence])
    agent(folder, "loud.py", f"print('said', flush=True); {silence}", before=["import os"])
    command = ["run", "silent.py", "loud.py", "--openings", "0", "--quiet", "--format", "csv"]
    assert main([*command, "--jobs", jobs]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("rank_best,")
    assert "said" not in out
    assert "crash" not in out + err


def test_what_is_printed_after_agents_played_here_is_printed_to_stdout(capfd):
    with stdout_to_stderr():
        print("said")
        os.write(1, b"written\n")
    print("result")
    os.write(1, b"more\n")
    assert capfd.readouterr() == ("result\nmore\n", "said\nwritten\n")


@pytest.mark.parametrize("jobs", [2, pytest.param(1, marks=pytest.mark.isolated)])
def test_modules_beside_an_agents_file_are_its_own(folder, jobs):
    """One is imported with the file, another at the first move."""
    before = {*sys.modules}
    for name, column in (("a", 0), ("b", 6)):
        write(folder, f"{name}/helper.py", f"from deeper import COLUMN\nassert COLUMN == {column}")
        write(folder, f"{name}/deeper.py", f"COLUMN = {column}")
        write(folder, f"{name}/later.py", f"COLUMN = {column}")
        body = ["    import later", "    assert later.COLUMN == COLUMN", "    return COLUMN"]
        start = ["from helper import COLUMN", "def agent(observation):"]
        write(folder, f"{name}/agent.py", *start, *body)
    run = evaluation.round_robin({"a": "a/agent.py", "b": "b/agent.py"}, 0, jobs=jobs)
    assert [game.moves for game in run.games] == ["1717171", "7171717"]
    for name, own in run.header.code.items():
        files = ("agent", "helper", "deeper")  # not what a move imports
        paths = [Path(name, f"{file}.py") for file in files]
        assert own == identity(contents_of(paths, os.getcwd()))
    assert "helper" not in {*sys.modules} - before


CHANGES = {
    "the folder": ("os.chdir('/')", "assert open('weights.txt').read() == '3'"),
    "sys.path": ("sys.path.clear()", "import colorsys"),
    "the floats of NumPy": ("np.seterr(all='raise')", "np.float64(1) / np.float64(0)"),
    "standard output": ("os.close(1); sys.stdout = None", "print('said')"),
    "standard input": ("sys.stdin.read()", "assert sys.stdin.read() == ''"),
}


@pytest.mark.parametrize(("change", "relies"), but_the_first(CHANGES.values()))
def test_what_an_agent_changes_is_nobody_elses_matter(folder, change, relies):
    (folder / "weights.txt").write_text("3")
    before = ["import os, sys, warnings", "import numpy as np", "warnings.simplefilter('ignore')"]
    agent(folder, "changes.py", before=[*before, change])
    agent(folder, "relies.py", relies, before=before)
    assert set(endings(["changes.py", "relies.py"])) == {("four", None)}


STARTS = [
    ("mine.py", "assert pickle.loads(pickle.dumps(helper.Thing())).value == 3"),
    ("mine:agent", "assert importlib.import_module('later').VALUE == 7"),
    ("mine.py", "with multiprocessing.Pool(1) as pool: assert pool.map(work, [4]) == [5]"),
    ("mine.py", "with multiprocessing.get_context('spawn').Pool(1) as pool: pool.map(work, [4])"),
    ("mine:agent", "with ProcessPoolExecutor(1) as pool: assert [*pool.map(work, [4])] == [5]"),
]


@pytest.mark.parametrize(("spec", "does"), but_the_first(STARTS))
def test_an_agent_is_ordinary_python(folder, spec, does):
    write(folder, "helper.py", "class Thing:", "    value = 3")
    write(folder, "later.py", "VALUE = 7")
    before = [
        "import importlib, multiprocessing, pickle",
        "from concurrent.futures import ProcessPoolExecutor",
        "import helper",
        "def work(n): return n + 1",
        "asked = []",
    ]
    agent(folder, "mine.py", "if not asked:", "    asked.append(0)", f"    {does}", before=before)
    assert set(endings({"mine": spec, "random": "random"})) <= {("four", None)}


DRAWS = [  # the generator, when it is loaded, and a draw
    ("random", "kaggle", "random.choice(range(len(legal)))"),
    ("numpy", "with the file", "np.random.randint(len(legal))"),
    ("numba", "with the file", "numba.njit(lambda n: random.randrange(n))(len(legal))"),
    ("torch", "with the file", "torch.randint(len(legal), (1,))"),
]


@pytest.mark.parametrize(
    ("library", "when", "draw"),
    but_the_first(DRAWS),
    ids=["random", "numpy", "numba", "torch"],
)
def test_draws_from_the_global_generators_repeat_beside_an_agent_that_seeds_them(
    folder, library, when, draw
):
    pytest.importorskip(library)
    before = ["import random", "import numpy as np"]
    if when == "kaggle":  # which loads the file at the first move of each game
        body = ["legal = [c for c in range(7) if not observation.board[c]]"]
    else:
        body = ["legal = np.flatnonzero(observation['action_mask'])"]
    (body if when == "in a move" else before).append(f"import {library}")
    agent(folder, "draws.py", *body, f"return int(legal[int({draw})])", before=before)
    agent(folder, "seeds.py", "random.seed(0); np.random.seed(0)", before=before)
    draws = "kaggle:draws.py" if when == "kaggle" else "draws.py"
    first, again, other = (
        evaluation.round_robin([draws, "seeds.py"], 0, seed=seed, jobs=jobs)
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert first.digest == again.digest != other.digest


def test_a_class_that_overrides_the_call_plays_its_choice(folder):
    class Calls(Greedy):
        def __call__(self, observation):
            raise AssertionError("nobody calls this")

    run = evaluation.round_robin({"it": Calls(), "random": "random"}, 0, seed=3)
    plain = evaluation.round_robin({"it": "greedy", "random": "random"}, 0, seed=3)
    assert run.digest == plain.digest


def test_who_cannot_be_made_is_refused_before_the_run(folder):
    for line, words in (
        ("import os; os._exit(3)", "cannot be made: its process ended with exit code 3"),
        ("1 / 0", "importing .* raised ZeroDivisionError: division by zero .wrong.py, line 1"),
    ):
        name = agent(folder, "wrong.py", before=[line])
        with pytest.raises(UnknownAgent, match=words):
            evaluation.round_robin([name, "random"], 0, out="run")
        assert not (folder / "run").exists()


OURS = "greedy", "random"


def test_a_game_whose_process_ended_is_played_again_once(monkeypatch):
    """Nobody of the two is at fault."""
    plays, deaths = Referee._play, []

    def dies(*arguments):
        if deaths:
            raise EngineFault(deaths.pop())
        return plays(*arguments)

    monkeypatch.setattr(Referee, "_play", dies)
    with closing(Referee(name_players(OURS), seed=1)) as referee:
        game = referee.play(OURS, "")
        deaths += ["killed"]
        assert referee.play(OURS, "").moves == game.moves
        deaths += ["killed", "killed"]
        with pytest.raises(Unavailable, match="ended twice in a game of greedy and random"):
            referee.play(OURS, "")


def test_the_memory_of_agents_that_do_not_play_is_given_back():
    field = {
        name: Spec.parse(f"deepening:nodes=10,table_mb={mb}")
        for name, mb in (("a", 1), ("b", 2), ("c", 3))
    }
    with closing(Referee(field, seed=1)) as referee:
        for pair in (("a", "b"), ("a", "c")):
            referee.play(pair, "")
        assert [len(referee.agent(name)._table) > 0 for name in "abc"] == [True, False, True]


@pytest.mark.isolated
def test_a_plain_function_plays_in_a_process_without_compiled_code(folder):
    loaded = "assert not {'numba', 'llvmlite'} & {*sys.modules}, 'compiled code'"
    agent(folder, "mine.py", loaded, before=["import sys"])
    assert set(endings(["mine.py", "random"])) <= {("four", None)}


def test_linear_algebra_has_one_thread_per_player_unless_the_user_says_otherwise(
    folder, monkeypatch
):
    """Two players with a thread for each core would wait for each other in every product."""
    lines = "assert os.environ['OMP_NUM_THREADS'] == '{}', os.environ['OMP_NUM_THREADS']"
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    agent(folder, "one.py", lines.format(1), before=["import os"])
    assert set(endings(["one.py", "random"])) <= {("four", None)}
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    agent(folder, "three.py", lines.format(3), before=["import os"])
    assert set(endings(["three.py", "random"])) <= {("four", None)}

    before = blas_threads()
    seen = []
    evaluation.round_robin(
        ["greedy", "random"], 0, on_game=lambda game: seen.append(blas_threads()), jobs=2
    )
    assert set(seen) <= {1}
    assert blas_threads() == before


def blas_threads():
    return max((p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"), default=1)


@pytest.mark.isolated
def test_an_agent_process_runs_the_c4env_of_its_run(folder):
    """Not another one, which may be installed, or lie in the current folder."""
    for name in ("c4env", "other/c4env"):
        (folder / name).mkdir(parents=True)
        write(folder, f"{name}/__init__.py", "raise AssertionError")
    agent(folder, "where.py", "raise ValueError(c4env.__file__)", before=["import c4env"])
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from c4env import evaluation\n"
        "print(evaluation.round_robin(['where.py', 'random'], 0).games[0].reason)"
    )
    installed = environment(PYTHONPATH=str(folder / "other"))
    done = run_python("-P", "-c", script, cwd=folder, env=installed, check=True)
    assert str(ROOT / "c4env" / "__init__.py") in done.stdout
