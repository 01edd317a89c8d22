"""kaggle: ConnectX submissions in our games."""

from __future__ import annotations

import pytest

from c4env import Position, agents, evaluation
from c4env.agents.adapters.programs.kaggle import observe
from c4env.agents.errors import EngineFault, InvalidSpec, InvalidValue, LateAnswer
from tests.helpers.paths import DATA

SUBMISSIONS = DATA / "kaggle"
LOOKAHEAD = f"kaggle:{SUBMISSIONS / 'lookahead.py'}"
RULES = f"kaggle:{SUBMISSIONS / 'rules.py'}"


@pytest.fixture
def submitted(tmp_path, request):
    """The agent of a source."""

    def make(source: str, options: str = ""):
        path = tmp_path / "submission.py"
        path.write_text(source)
        agent = agents.make(f"kaggle:{path}{options}")
        request.addfinalizer(agent.close)
        return agent

    return make


def reporting(expression: str) -> str:
    """A submission that answers 3 when an expression of its arguments is true."""
    return f"def agent(observation, configuration):\n    return 3 if {expression} else 99\n"


def test_a_board_is_shown_in_reading_order_from_the_top() -> None:
    shown = observe(Position.parse("4437"), 60.0)
    board = shown.pop("board")
    assert shown == {"mark": 1, "step": 4, "remainingOverageTime": 60.0}
    assert board[:28] == [0] * 28
    assert board[28:] == [0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0, 0, 2]
    assert observe(Position.parse("4"), 1.0)["mark"] == 2


@pytest.mark.parametrize(
    "expression",
    [
        "observation.board[35:] == [0, 0, 0, 1, 0, 0, 0] == observation['board'][35:]",
        "type(observation.board) is list and len(observation.board) == 42",
        "(observation.mark, observation['mark'], observation.step) == (2, 2, 1)",
        "observation.remainingOverageTime == 60 == observation.get('remainingOverageTime')",
        "(configuration.rows, configuration.columns, configuration.inarow) == (6, 7, 4)",
        "(configuration['rows'], configuration['columns'], configuration['inarow']) == (6, 7, 4)",
        "configuration.actTimeout == configuration.timeout == 2",
        "configuration.agentTimeout == 60",
        "isinstance(observation, dict) and isinstance(configuration, dict)",
        "not hasattr(observation, 'colour') and __name__ != '__main__'",
    ],
)  # fmt: skip
def test_a_submission_sees_what_the_competition_shows(submitted, expression):
    assert submitted(reporting(expression)).choose(Position.parse("4")) == 3


@pytest.mark.parametrize(
    "source",
    [
        "def agent(obs): return 3",
        "def helper(): ...\ndef agent(obs, config, depth=4): return depth - 1",
        "agent = lambda obs, config: 3\nname = 'no agent'",
        "class Agent:\n    def __call__(self, obs, config): return 3\nagent = Agent()",
        "import numpy as np\ndef agent(obs, config): return np.int64(3)",
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
        ("def agent(obs): return 1 / 0", "raised ZeroDivisionError: division by zero"),
        ("def agent(obs) return 3", "raised SyntaxError"),
        ("import nothing_of_this_name", "raised ModuleNotFoundError: No module"),
        ("answer = 3", "raised ValueError: the file defines no callable"),
        ("def agent(obs): return None", "raised TypeError"),
        ("def agent(obs): return '3'", "raised TypeError"),
        ("def agent(obs): return True", "raised TypeError: True is not a column"),
        ("def agent(obs): return 7", "answered 7: expected one of (1, 2, 3, 4, 5, 6)"),
        ("def agent(obs): return -1", "answered -1: expected"),
        ("def agent(obs): return 0", "answered 0: expected"),
        ("def agent(obs): raise SystemExit(1)", "raised SystemExit: 1"),
        ("import os\ndef agent(obs): os._exit(5)", "ended with exit code 5"),
    ],
)
def test_what_goes_wrong_is_a_fault(submitted, source, words):
    with pytest.raises(EngineFault) as caught:
        submitted(source).choose(Position.parse("111111"))
    assert words in str(caught.value)


SLOW = "import time\ndef agent(obs):\n    time.sleep(0.3)\n    return 3\n"


@pytest.mark.slow
def test_time_over_the_limit_comes_off_the_overage_of_the_game(submitted):
    agent = submitted(SLOW, ",timeout=0.1,overage=0.7")
    for _ in range(2):
        agent.reset(1)
        assert agent.choose(Position()) == 3
        with pytest.raises(LateAnswer, match=r"took 0.* expected at most 0.1 s, since the overage"):
            [agent.choose(Position()) for _ in range(4)]
    assert submitted(SLOW, ",timeout=20,overage=0").choose(Position()) == 3


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


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("kaggle", InvalidSpec, "kaggle: file is missing"),
        ("kaggle:none.py", InvalidValue, "file='none.py': expected a Python file"),
        (f"{RULES},python=/no/python", InvalidValue, "python='/no/python'"),
        (f"{RULES},overage=-1", InvalidValue, "overage='-1'"),
    ],
)
def test_a_bad_spec_is_refused(spec, error, words):
    with pytest.raises(error, match=words):
        agents.make(spec)


@pytest.mark.slow
def test_published_kinds_of_submission_play_a_round_robin():
    field = {"lookahead": LOOKAHEAD, "rules": RULES, "random": "random"}
    result = evaluation.round_robin(field, openings=0, seed=2)
    assert result.table.forfeits == {}
    assert {game.ending for game in result.games} <= {"four", "full board"}
    for game in result.games:
        if "random" in game.players:
            assert game.players[game.winner] != "random"
    del field["rules"]
    again = evaluation.round_robin(field, openings=0, seed=2)
    assert {game.moves for game in again.games} <= {game.moves for game in result.games}
