"""kaggle: ConnectX submissions in our games."""

import sys
from contextlib import closing

import pytest

from c4env import Position, agents, evaluation
from c4env.evaluation.games.players import Seats
from tests.helpers.paths import DATA

RULES = f"kaggle:{DATA / 'kaggle' / 'rules.py'}"


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """The agent of a source."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def make(source, options=""):
        path = tmp_path / "submission.py"
        path.write_text(source)
        return agents.make(f"kaggle:{path}{options}")

    return make


SHOWN = (
    "observation.board[28:] == [0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2]",  # from the top
    "type(observation.board) is list and observation['board'][:28] == [0] * 28",
    "(observation.mark, observation['mark'], observation.step) == (2, 2, 5)",
    "observation.remainingOverageTime == 0 == observation.get('remainingOverageTime')",
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
def test_what_goes_wrong_is_an_error_and_in_a_run_a_fault(submitted, source, kind, words):
    agent = submitted(source)
    with pytest.raises(kind, match=words):
        agent.choose(Position.parse("111111"))
    with closing(Seats({"it": agent.name}, None)) as seats:
        fault = seats["it"].ask(Position(), "", None)
    assert fault.ending == "exception"
    assert kind.__name__ in fault.reason


def test_each_game_loads_the_file_anew_and_has_its_seed(submitted):
    source = (
        "import random\nimport numpy as np\nseen = []\n"
        "def agent(obs):\n"
        "    seen.append(0)\n"
        "    return (len(seen) + random.randrange(7) + np.random.randint(7)) % 7\n"
    )
    agent = submitted(source)
    with closing(Seats({"it": agent.name}, None)) as seats:

        def columns(seed):
            assert seats["it"].reset(seed) is None
            return [seats["it"].ask(Position(), "", None) for _ in range(12)]

        assert columns(2**63 + 5) == columns(2**63 + 5) != columns(6)


def test_a_late_submission_loses_its_process_and_the_game(submitted):
    agent = submitted("import time\ndef agent(obs): time.sleep(100)", ",timeout=0.5")
    with closing(Seats({"it": agent.name}, None)) as seats:
        seats["it"].reset(1)
        fault = seats["it"].ask(Position(), "", None)
    assert (fault.ending, fault.reason) == ("time", "its process gave no answer within 0.5 s")


@pytest.mark.slow
def test_a_submission_with_a_memory_wins_its_games_whoever_else_plays():
    field = {"rules": RULES, "random": "random", "greedy": "greedy"}
    result = evaluation.round_robin(field, openings=0, seed=2)
    assert result.table.forfeits == {}
    for game in result.games:
        if set(game.players) == {"rules", "random"}:
            assert game.players[game.winner] == "rules"
    del field["greedy"]
    again = evaluation.round_robin(field, openings=0, seed=2)
    assert {game.moves for game in again.games} <= {game.moves for game in result.games}


SUBMITTED = [
    "def agent(obs): return 3",
    "def agent(obs, config): return obs.board[:config.columns].index(0)",
    "import numpy as np\ndef agent(obs): return np.int64(3)",
    "def agent(obs): return True",
    "def agent(obs): return '3'",
    "def agent(obs): return None",
    "def agent(obs): return 7",
    "def agent(obs, config): return len(config['__raw_path__']) % 7",
    "agent = lambda obs, config: (obs.step + obs.mark) % config.columns\nname = 'x'",
    "from dataclasses import dataclass\nfrom typing import ClassVar\n"
    "@dataclass\nclass Book:\n    lines: ClassVar[dict] = {}\n"
    "def agent(obs): return 3 - obs['mark']",
    "class Agent:\n    def __call__(self, obs, config): return 2\nagent = Agent()",
    "import helper_of_this\ndef agent(obs): return helper_of_this.COLUMN",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SUBMITTED)
def test_a_submission_plays_as_in_kaggles_environment(submitted, tmp_path, source):
    kaggle_environments = pytest.importorskip("kaggle_environments")
    (tmp_path / "helper_of_this.py").write_text("COLUMN = 5")
    agent = submitted(source)
    agent.reset(1)
    environment = kaggle_environments.make("connectx")
    steps = environment.run([agent.file, lambda obs: obs.board[:7].index(0)])
    assert len(steps) > 1
    moves = ""
    for ply, states in enumerate(steps[1:]):
        action = states[ply % 2].action
        if ply % 2 == 0 and states[0].status in ("ERROR", "INVALID"):
            with pytest.raises((Exception, SystemExit)):  # of the submission
                agent.choose(Position.parse(moves))
        elif ply % 2 == 0:
            assert agent.choose(Position.parse(moves)) == action
        moves += str(int(action or 0) + 1)
