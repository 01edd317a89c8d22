"""kaggle: ConnectX submissions in our games."""

import pytest

from c4env import Position, agents, evaluation
from c4env.errors import EngineFault
from tests.helpers.paths import DATA

RULES = f"kaggle:{DATA / 'kaggle' / 'rules.py'}"


@pytest.fixture
def submitted(tmp_path, request):
    """The agent of a source."""

    def make(source, options=""):
        path = tmp_path / "submission.py"
        path.write_text(source)
        agent = agents.make(f"kaggle:{path}{options}")
        request.addfinalizer(agent.close)
        return agent

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
        "import os\ndef agent(obs, config):\n    print('4'); os.write(1, b'5\\n')\n    return 3",
        "from helper import agent",
        "from http import HTTPStatus\ndef agent(obs): return 3 if HTTPStatus.OK == 200 else 0",
    ],
)  # fmt: skip
def test_the_last_callable_is_the_agent(submitted, tmp_path, source):
    (tmp_path / "helper.py").write_text("def agent(obs, config): return 3")
    assert submitted(source).choose(Position()) == 3


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def agent(obs): return 1 / 0", "error ZeroDivisionError: division by zero"),
        ("def agent(obs) return 3", "error SyntaxError"),
        ("import numpy\ndef agent(obs): return numpy.int64(3)", "error TypeError"),
        ("import nothing_of_this_name", "error ModuleNotFoundError: No module"),
        ("answer = 3", "error ValueError: the file defines no callable"),
        ("def agent(obs): return '3'", "error TypeError"),
        ("def agent(obs): return True", "error TypeError: True of <class 'bool'>"),
        ("def agent(obs): return 7", "error ValueError: action 7: expected 0..6"),
        ("def agent(obs): return -1", "error ValueError: action -1"),
        ("class A:\n def __call__(self, obs, config): return 3\na = A()", "error AttributeError"),
        ("def agent(obs): raise SystemExit(1)", "error SystemExit: 1"),
    ],
)
def test_what_goes_wrong_is_a_fault(submitted, source, words):
    with pytest.raises(EngineFault) as caught:
        submitted(source).choose(Position.parse("111111"))
    assert words in str(caught.value)


def test_each_game_has_a_fresh_process_and_its_seed(submitted):
    source = (
        "import random\nimport numpy as np\nseen = []\n"
        "def agent(obs):\n"
        "    seen.append(0)\n"
        "    return (len(seen) + random.randrange(7) + np.random.randint(7)) % 7\n"
    )
    agent = submitted(source)

    def columns(seed):
        agent.reset(seed)
        return [agent.choose(Position()) for _ in range(12)]

    assert columns(2**63 + 5) == columns(2**63 + 5) != columns(6)


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
    steps = environment.run([agent.title, lambda obs: obs.board[:7].index(0)])
    assert len(steps) > 1
    moves = ""
    for ply, states in enumerate(steps[1:]):
        action = states[ply % 2].action
        if ply % 2 == 0 and states[0].status in ("ERROR", "INVALID"):
            with pytest.raises(EngineFault):
                agent.choose(Position.parse(moves))
        elif ply % 2 == 0:
            assert agent.choose(Position.parse(moves)) == action
        moves += str(int(action or 0) + 1)
