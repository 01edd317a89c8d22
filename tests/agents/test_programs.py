"""Programs and ConnectX submissions in our games."""

import os
import signal
import sys
from contextlib import closing

import numpy as np
import pytest

from c4env import Position, agents
from c4env.agents.making.spec import Spec
from c4env.agents.programs.process import LONGEST_LINE, LineProcess
from c4env.errors import EngineFault, IllegalMove, LateAnswer
from c4env.evaluation.runs.referee import Referee
from c4env.evaluation.runs.turn import Forfeit, ask, begin
from tests.helpers.engines import FIRST, answering, lives, python, wait_for_the_end
from tests.helpers.processes import FORKS, in_a_fork, start_python

HALF = Position.parse("4455")  # columns 3 and 6 win in three plies


@pytest.fixture
def made(request):
    """agents.make, which closes what it made at the end."""

    def make(spec):
        agent = agents.make(spec)
        request.addfinalizer(agent.close)
        return agent

    return make


def test_a_program_plays_by_columns(tmp_path, made):
    command = answering(tmp_path, FIRST)
    agent = made(f"exec:{command},timeout=30")
    assert agent.name == f"exec:{command},timeout=30.0"
    assert (agent.choose(Position()), agent.choose(Position.parse("111111"))) == (0, 1)
    assert not agent.deterministic
    agent.close()
    assert agent.choose(HALF) == 0  # another process
    with pytest.raises(IllegalMove):
        agent.choose(Position.parse("1212121"))


def test_what_a_solver_prints_with_the_scores_of_columns_is_read(tmp_path, made):
    """Pons's solver with -a: the moves, then seven scores last."""
    answers = {
        "": "-2 -1 0 1 0 -1 -2",
        "4": "4 1 2 3 4 5 6",  # without the moves
        HALF.moves(): "x -4 -3 18 2 2 18 -3",
        Position.parse("333333").moves(): "333333 1 0 -1000 -9 1 . 0 nodes=7",
    }
    table = {position: line.replace("x", position) for position, line in answers.items()}
    agent = made(f"exec:{answering(tmp_path, f'print({table!r}[moves], flush=True)')},reply=scores")
    assert agent.choose(Position()) == 3
    assert agent.choose(Position.parse("4")) == 6
    assert agent.choose(HALF) == 2  # of two as good ones the left
    with pytest.raises(EngineFault, match=r"answered '\.': expected a score"):
        agent.choose(Position.parse("333333"))


def test_a_solver_that_scores_only_positions_is_asked_about_each_next_position(tmp_path, made):
    """As solvers print by default: the moves, the score of the side to move, and more."""
    message = "print(moves, {'2': -8, '6': 3}.get(moves, -2), 12345, 0.1, flush=True)"
    agent = made(f"exec:{answering(tmp_path, message)},reply=score")
    assert agent.choose(Position()) == 1
    assert agent.choose(Position.parse("4")) == 3  # of columns as good the nearest the centre


@pytest.mark.parametrize(
    ("statements", "options", "words"),
    [
        ("print(8, flush=True)", "", "answered '8': expected one column 1..7"),
        ("print('', flush=True)", "", "answered ''"),
        ("print(moves, -3, flush=True)", "", "expected one column 1..7 .reply=scores"),
        ("print(1, flush=True)", "", "answered '1': expected a column that is not full"),
        ("print(1, 2, 3, flush=True)", ",reply=scores", "each of the seven columns"),
        ("print(flush=True)", ",reply=score", "answered '': expected a score"),
    ],
)
def test_a_wrong_answer_is_a_fault_and_the_next_game_restarts_the_program(
    tmp_path, made, statements, options, words
):
    agent = made(f"exec:{answering(tmp_path, statements)}{options},timeout=60")
    with pytest.raises(EngineFault, match=words) as caught:
        agent.choose(Position.parse("111111"))
    assert caught.value.ending == ("illegal column" if "not full" in words else "unreadable")
    assert agent._process is None  # to see it else would take a program that counts its starts


def test_a_program_that_answers_either_of_two_lines_is_ready(tmp_path):
    for statements in (f"len(moves) < 30 or sys.exit(3); {FIRST}", f"moves or 1 / 0; {FIRST}"):
        agents.make(f"exec:{answering(tmp_path, statements)}").ready()
    with pytest.raises(EngineFault, match=r"engine\.py ended with exit code 3") as caught:
        agents.make(f"exec:{answering(tmp_path, 'sys.exit(3)')}").ready()
    assert caught.value.ending == "crash"


def test_a_greeting_is_refused_whenever_it_comes(tmp_path):
    """Before the first request, or after it, when it looks like the answer."""
    answers = "for line in sys.stdin: print(4, flush=True)\n"
    for pause in (0, 0.5):
        source = f"import sys, time\ntime.sleep({pause})\nprint('hello', flush=True)\n{answers}"
        with pytest.raises(EngineFault, match="without a request") as caught:
            agents.make(f"exec:{python(tmp_path, source)}").ready()
        assert "hello" in str(caught.value)


def test_a_late_answer_is_a_fault(tmp_path, made, monkeypatch):
    monkeypatch.setattr("c4env.agents.programs.exec.STARTUP", 0.1)
    agent = made(f"exec:{answering(tmp_path, 'time.sleep(60)')},timeout=0.1")
    with pytest.raises(LateAnswer, match=r"gave no answer within 0\.2 s; does it flush"):
        agent.choose(HALF)


def test_the_time_of_a_start_is_not_the_time_of_a_move(tmp_path, made):
    """As of a program that loads before it reads, and compiles at its first move."""
    command = answering(tmp_path, "time.sleep(0.7 * (moves != '4'))\n    print(4, flush=True)")
    agent = made(f"exec:{command},timeout=0.5,newgame=reset")
    for _ in range(2):  # the second time in another process
        agent.reset(1)
        assert [agent.choose(Position.parse(moves)) for moves in ("", "4")] == [3, 3]
        with pytest.raises(LateAnswer, match=r"gave no answer within 0\.5 s$"):
            agent.choose(Position.parse("44"))


def test_all_questions_of_a_first_move_share_the_time_of_the_start(tmp_path, made):
    source = "import sys, time\ntime.sleep(0.7)\nfor line in sys.stdin: print(0, flush=True)\n"
    agent = made(f"exec:{python(tmp_path, source)},reply=score,timeout=0.5")
    assert agent.choose(Position()) == 3


def test_a_late_answer_names_the_time_of_the_whole_move(tmp_path, made):
    body = "time.sleep(0.0 if len(moves) < 3 else 60)\n    print(0, flush=True)"
    agent = made(f"exec:{answering(tmp_path, body)},reply=score,timeout=0.3")
    assert agent.choose(Position.parse("4")) == 3
    with pytest.raises(LateAnswer, match=r"gave no answer within 0\.3 s$"):
        agent.choose(Position.parse("44"))


# Counts what it was asked, and says of a new game what it heard.
COUNTER = """
count = globals().get('count', 0) + 1
    if moves.startswith('reset'):
        seed = moves.removeprefix('reset').strip()
        count = 0
        print('ok', flush=True)
    else:
        print(count, 'nodes=' + (globals().get('seed') or '999'), flush=True)
"""


@pytest.mark.parametrize(
    ("newgame", "columns", "nodes"),
    [("none", [0, 1, 2, 3], 999), ("reset", [0, 1, 0, 1], 5), ("restart", [0, 1, 0, 1], 999)],
)
def test_a_new_game_is_told_as_asked(tmp_path, made, newgame, columns, nodes):
    agent = made(f"exec:{answering(tmp_path, COUNTER.strip())},newgame={newgame}")
    played = []
    for _ in range(2):
        agent.reset(seed=5)
        played += [agent.choose(Position()), agent.choose(HALF)]
    assert (played, agent.nodes) == (columns, nodes)
    agent.reset(np.random.SeedSequence(3))
    agent.reset()


# Prints its own process and its child's process.
FAMILY = """
import os, subprocess, sys, time
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
pids = [os.getpid()]
pids.append(subprocess.Popen(sleep).pid)
for line in sys.stdin:
    print(*pids, flush=True)
"""


def family(folder):
    return python(folder, FAMILY).split()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("raise KeyError(7)", "ended with exit code 1: KeyError: 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by signal SIGSEGV"),
        # A child holds the output:
        ("import os, subprocess; subprocess.Popen(['sleep', '60']); os.abort()", "signal SIGABRT"),
        ("print('x' * (1 << 17), end='', flush=True); time.sleep(60)", f"more than {LONGEST_LINE}"),
        ("sys.stdout.close(); import os; os.close(1); time.sleep(60)", "closed its output"),
    ],
)
def test_how_a_program_ended_is_said(tmp_path, statements, words):
    process = LineProcess(answering(tmp_path, statements).split(), "it")
    with pytest.raises(EngineFault, match=rf"^it .*{words}"):
        process.ask("44", 30)


def test_the_child_of_a_launcher_answers(tmp_path):
    child = answering(tmp_path, FIRST).split()
    launcher = f"import subprocess; subprocess.Popen({child!r})"
    process = LineProcess(python(tmp_path, launcher, "launcher.py").split(), "it")
    assert process.ask("", 30) == "1"
    process._process.wait()
    assert process.ask("111111", 30) == "2"
    process.close()


@FORKS
def test_a_fork_starts_a_program_of_its_own(tmp_path, made):
    """On shared pipes the parent would read the answers to the fork."""
    agent = made(f"exec:{answering(tmp_path, COUNTER.strip())}")
    assert [agent.choose(Position()) for _ in range(2)] == [0, 1]
    running = agent._process

    def play():
        with pytest.raises(EngineFault, match="is a fork, and has to start its own"):
            running.ask("", 1)
        columns = [agent.choose(Position()) for _ in range(2)]
        agent.close()
        running.close()  # which ends nothing of another process
        return columns

    assert in_a_fork(play) == [0, 1]
    assert agent.choose(Position()) == 2
    assert agent._process is running


def test_a_hang_ends_with_the_time_and_the_program_ends_too(tmp_path):
    process = LineProcess(family(tmp_path), "it")
    pids = [int(pid) for pid in process.ask("", 20).split()]
    assert all(map(lives, pids))
    os.kill(pids[0], signal.SIGSTOP)
    with pytest.raises(LateAnswer, match=r"it gave no answer within 0.1 s"):
        process.ask("", 0.1)
    process.close()
    assert wait_for_the_end(pids) == []


def test_a_talker_on_stderr_neither_blocks_nor_gains_time(tmp_path):
    message = "sys.stderr.write('word ' * 100_000); print(4, flush=True)"
    process = LineProcess(answering(tmp_path, message).split(), "it")
    assert process.ask("", 30) == "4"
    process.close()
    process.close()
    endless = "\n    while True: sys.stderr.write('word\\n')"
    with pytest.raises(LateAnswer):
        LineProcess(answering(tmp_path, endless).split(), "it").ask("", 0.5)


OWNER = """
import sys, time
from c4env.agents.programs.process import LineProcess
process = LineProcess(sys.argv[1:], "it")
print(process.ask("", 20), flush=True)
time.sleep(600)
"""


def test_no_program_outlives_a_process_that_dies(tmp_path):
    """A killed process kills nothing, but the program's input ends."""
    with start_python("-c", OWNER, *family(tmp_path)) as owner:
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert len(pids) == 2
        owner.kill()
    assert wait_for_the_end(pids[:1]) == []
    os.kill(pids[1], signal.SIGKILL)
    assert wait_for_the_end(pids) == []


def test_a_message_quotes_output_with_its_control_characters_escaped():
    assert str(EngineFault("é\x1b[2J\n")) == "é\\x1b[2J\\n"


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])

    def make(source, options=""):
        path = tmp_path / "submission.py"
        path.write_text(source)
        return agents.make(f"kaggle:{path}{options}")

    return make


def test_a_submission_remembers_the_game_of_each_board(submitted):
    agent = submitted("turn = -1\ndef agent(o):\n    global turn\n    turn += 1\n    return turn\n")
    games, discs = agent.games(2), np.zeros((2, 2), np.int64)

    def ask(*boards):
        return games.choose(np.array(boards), discs[: len(boards)], discs[0]).tolist()

    games.begin(np.arange(2), discs[0])
    assert [ask(0, 1), ask(0), ask(0, 1)] == [[0, 0], [1], [2, 1]]
    games.begin(np.array([0]), discs[0])
    assert ask(0, 1) == [0, 2]
    for _ in range(2):  # a pool asks it about boards of which it knows no game
        assert agent.choose_many(discs, discs[0]).tolist() == [0, 0]


SHOWN = (
    "observation.board[28:] == [0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2]",  # from the top
    "type(observation.board) is list and observation['board'][:28] == [0] * 28",
    "(observation.mark, observation['mark'], observation.step) == (2, 2, 5)",
    "observation.remainingOverageTime == 60 == observation.get('remainingOverageTime')",
    "__import__('os').path.isfile(configuration['__raw_path__'])",
    "(configuration.rows, configuration.columns, configuration.inarow) == (6, 7, 4)",
    "(configuration['rows'], configuration['columns'], configuration['inarow']) == (6, 7, 4)",
    "configuration.actTimeout == configuration.timeout == 2",
    "configuration.agentTimeout == 60",
    "isinstance(observation, dict) and isinstance(configuration, dict)",
    "not hasattr(observation, 'colour') and __name__ != '__main__'",
)


def test_a_submission_sees_what_the_competition_shows(submitted):
    checks = "".join(f"    assert {shown}, {shown!r}\n" for shown in SHOWN)
    source = f"def agent(observation, configuration):\n{checks}    return 3\n"
    assert submitted(source).choose(Position.parse("44371")) == 3


@pytest.mark.parametrize(
    "source",
    [
        "def agent(obs): return 3",
        "def helper(): ...\ndef agent(obs, config, depth=4): return depth - 1",
        "agent = lambda obs, config: 3\nname = 'no agent'",
        "from dataclasses import dataclass\nfrom typing import ClassVar\n"
        "@dataclass\nclass Book:\n    lines: ClassVar[dict] = {}\ndef agent(obs): return 3",
                "from helper import agent",
        "from http import HTTPStatus\ndef agent(obs): return 3 if HTTPStatus.OK == 200 else 0",
    ],
)  # fmt: skip
def test_the_last_callable_is_the_agent(submitted, tmp_path, source):
    (tmp_path / "helper.py").write_text("def agent(obs, config): return 3")
    assert submitted(source).choose(Position()) == 3


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("def agent(obs): return 1 / 0", ZeroDivisionError, "division by zero"),
        ("def agent(obs) return 3", SyntaxError, "expected"),
        ("import numpy\ndef agent(obs): return numpy.int64(3)", TypeError, "is not an int"),
        ("import nothing_of_this_name", ModuleNotFoundError, "No module"),
        ("answer = 3", ValueError, "the file defines no callable"),
        ("def agent(obs): return '3'", TypeError, "is not an int"),
        ("def agent(obs): return True", TypeError, "True of <class 'bool'>"),
        ("def agent(obs): return 7", ValueError, r"action 7: expected 0\.\.6"),
        ("def agent(obs): return -1", ValueError, "action -1"),
        ("class A:\n def __call__(self, obs, c): return 3\na = A()", AttributeError, "__code__"),
        ("def agent(obs): raise SystemExit(1)", SystemExit, "1"),
    ],
)
def test_what_goes_wrong_is_an_error(submitted, source, kind, words):
    with pytest.raises(kind, match=words):
        submitted(source).choose(Position.parse("111111"))


def test_each_game_loads_the_file_again_and_has_its_seed(submitted):
    source = (
        "import random\nimport numpy as np\nseen = []\n"
        "def agent(obs):\n"
        "    seen.append(0)\n"
        "    return (len(seen) + random.randrange(7) + np.random.randint(7)) % 7\n"
    )
    agent = submitted(source)
    with closing(Referee({"it": Spec.parse(agent.name)})) as referee:

        def columns(seed):
            begin(referee.agent("it"), seed)
            return [ask(referee.agent("it"), Position()) for _ in range(12)]

        assert columns(2**63 + 5) == columns(2**63 + 5) != columns(6)


@pytest.mark.parametrize(
    ("load", "place"),
    [("open(PATH)", ""), ("os.listdir(PATH)", "    "), ("np.load(Path(PATH))", "    ")],
)
def test_a_submission_that_misses_its_unpacked_files_is_told_where_they_are(submitted, load, place):
    source = (
        "import os\nimport numpy as np\nfrom pathlib import Path\n"
        "PATH = '/kaggle_simulations/agent/book'\n"
        f"def agent(observation, configuration):\n    0\n{place}{load}\n"
    )
    if not place:
        source += "def agent(observation, configuration):\n    return 3\n"
    hint = "make /kaggle_simulations/agent a link to your folder.*'/kaggle_simulations/agent/book'"
    with pytest.raises(FileNotFoundError, match=hint):
        submitted(source).choose(Position())


def test_another_missing_file_is_reported_as_it_is(submitted):
    with pytest.raises(FileNotFoundError, match=r"directory: 'nowhere'$"):
        submitted("def agent(observation):\n    return open('nowhere')\n").choose(Position())


def test_a_late_submission_loses_its_process_and_the_game(submitted):
    source = "import time\ndef agent(obs): time.sleep(100)"
    agent = submitted(source, ",timeout=0.3,overage=0.2")
    with closing(Referee({"it": Spec.parse(agent.name)})) as referee:
        begin(referee.agent("it"), 1)
        limits = "0.3 s for a move and 0.2 s of overage for all moves of a game"
        with pytest.raises(Forfeit, match=f"^time: it took longer than {limits}$"):
            ask(referee.agent("it"), Position())


@pytest.mark.parametrize("in_a_run", [False, True])
def test_the_moves_of_a_game_share_its_overage(submitted, in_a_run):
    """Submissions warm up in their first move, and read what is left afterwards."""
    source = (
        "import time\nlefts = []\n"
        "def agent(observation, configuration):\n"
        "    lefts.append(observation.remainingOverageTime)\n"
        "    assert configuration.agentTimeout == 3.5\n"
        "    if len(lefts) < 2:\n"
        "        assert lefts == [3.5]\n"
        "        time.sleep(0.7)\n"
        "    elif len(lefts) < 3:\n"
        "        assert 0 < lefts[1] <= 3, lefts\n"
        "        time.sleep(lefts[1] + 0.3)\n"
        "    return 3\n"
    )
    agent = submitted(source, ",timeout=0.2,overage=3.5")
    with closing(Referee({"it": Spec.parse(agent.name)})) as referee:
        player = referee.agent("it") if in_a_run else agent
        for _ in range(2):  # a game begins with a whole bank
            begin(player, 1)
            assert ask(player, Position()) == (3, 0)
        with pytest.raises(Forfeit, match=r"^time: .*0\.2 s for a move and 3\.5 s of overage"):
            ask(player, Position.parse("41"))
