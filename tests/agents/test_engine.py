"""exec: programs of any language in our games."""

import time

import numpy as np
import pytest

from c4env import Position, agents, evaluation
from c4env.errors import EngineFault, IllegalMove, LateAnswer
from tests.helpers.engines import FIRST, answering, python, wait_for_the_end
from tests.helpers.processes import start_python

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
        HALF.moves(): "x -4 -3 18 2 2 18 -3",
        Position.parse("333333").moves(): "333333 1 0 -1000 -9 1 . 0 nodes=7",
    }
    table = {position: line.replace("x", position) for position, line in answers.items()}
    agent = made(f"exec:{answering(tmp_path, f'print({table!r}[moves], flush=True)')},reply=scores")
    assert agent.choose(Position()) == 3
    assert agent.choose(HALF) == 2  # of two as good ones the left
    with pytest.raises(EngineFault, match=r"answered '\.': expected a score"):
        agent.choose(Position.parse("333333"))


def test_a_solver_of_positions_alone_is_asked_about_each_next_one(tmp_path, made):
    """As solvers print by default: the moves, the score of the side to move, and more."""
    said = "print(moves, {'2': -8, '6': 3}.get(moves, -2), 12345, 0.1, flush=True)"
    agent = made(f"exec:{answering(tmp_path, said)},reply=score")
    assert agent.choose(Position()) == 1
    assert agent.choose(Position.parse("4")) == 3  # of columns as good the nearest the centre


@pytest.mark.parametrize(
    ("statements", "options", "words"),
    [
        ("print(8, flush=True)", "", "answered '8': expected one column 1..7"),
        ("print(0, flush=True)", "", "expected one column 1..7"),
        ("print('', flush=True)", "", "answered ''"),
        ("print(chr(0x664), flush=True)", "", "expected one column"),
        ("print(moves, -3, flush=True)", "", "expected one column 1..7 .reply=scores"),
        ("print(1, flush=True)", "", "answered '1': expected a column that is not full"),
        ("print('error: tired', flush=True)", "", "answered 'error: tired'"),
        ("print(1, 2, 3, flush=True)", ",reply=scores", "each of the seven columns"),
        ("print(*[moves, 'nan'] * 7, flush=True)", ",reply=scores", "expected a score"),
        ("print(flush=True)", ",reply=score", "answered '': expected a score"),
    ],
)
def test_a_wrong_answer_is_a_fault_and_the_next_game_begins_afresh(
    tmp_path, made, statements, options, words
):
    agent = made(f"exec:{answering(tmp_path, statements)}{options},timeout=60")
    with pytest.raises(EngineFault, match=words):
        agent.choose(Position.parse("111111"))
    assert agent._process is None  # to see it else would take a program that counts its starts


def test_a_late_answer_is_a_fault(tmp_path, made, monkeypatch):
    monkeypatch.setattr("c4env.agents.adapters.programs.STARTUP", 0.1)
    agent = made(f"exec:{answering(tmp_path, 'time.sleep(60)')},timeout=0.1")
    with pytest.raises(LateAnswer, match=r"gave no answer within 0\.\d+ s; does it flush"):
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


def test_faults_forfeit_games_with_the_reason_and_the_run_goes_on(tmp_path):
    crash = "print(7 if len(moves) == 41 else {}[7], flush=True)"
    hang = "time.sleep(60 * (1 < len(moves) < 41)); print(1, flush=True)"
    field = {
        "good": f"exec:{answering(tmp_path, FIRST, 'good.py')}",
        "crash": f"exec:{answering(tmp_path, crash, 'crash.py')}",
        "hang": f"exec:{answering(tmp_path, hang, 'hang.py')},timeout=0.1",
        "random": "random",
    }
    result = evaluation.round_robin(field, openings=0, seed=1)
    reasons = {game.reason for game in result.games if game.reason}
    assert any("ended with exit code 1: KeyError: 7" in reason for reason in reasons)
    assert any("gave no answer within" in reason for reason in reasons)
    assert {game.ending for game in result.games if "within" in game.reason} == {"time"}
    for game in result.games:
        if "good" in game.players and "random" in game.players:
            assert game.ending in ("four", "full board")
        else:
            loser = game.players[game.forfeited_by]
            assert loser in ("crash", "hang")


NOTING = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
for line in sys.stdin:
    moves = line.strip()
    time.sleep(float(sys.argv[2]))
    print(next(c for c in '4352617' if moves.count(c) < 6), flush=True)
"""


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("how", ["end", "kill"])
def test_no_program_outlives_its_run(tmp_path, how):
    pids = tmp_path / "pids"
    pids.mkdir()
    engine = f"exec:{python(tmp_path, NOTING)} {pids} {0 if how == 'end' else 1}"
    command = ["-m", "c4env.evaluation", "run", engine, "random", "--openings", "0", "--jobs", "2"]
    with start_python(*command, "--quiet") as run:
        if how == "end":
            assert " forfeited" not in run.communicate()[0]
            assert run.returncode == 0
        else:
            while run.poll() is None and not any(pids.iterdir()):
                time.sleep(0.02)
            run.kill()  # the main process alone
    known = [int(path.name) for path in pids.iterdir()]
    assert known
    assert wait_for_the_end(known) == []
