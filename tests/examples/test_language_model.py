"""docs/examples/language_model.py, at a server of the tests' own."""

import pytest

from tests.helpers.chat import KEY, Fault, chatting, rows_of
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python

pytest.importorskip("openai")
pytestmark = pytest.mark.slow

SPEC = f"llm={ROOT / 'docs' / 'examples' / 'language_model.py'}:agent:model=tiny,retries=1"
RUN = ("-m", "c4env.evaluation", "run", SPEC, "random", "--openings", "0", "--out", "run")


@pytest.fixture
def server():
    with chatting() as server:
        yield server


@pytest.fixture
def play(server, tmp_path):
    def run(*options, **variables):
        known = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        here = environment(**known | variables)
        return run_python(*RUN, *options, cwd=tmp_path, env=here)

    return run


def test_a_run_that_breaks_off_goes_on_and_repeats_no_request(server, play, tmp_path):
    server.script = ["Move: 9\nMove: 1"] * 3 + [Fault(401, body=KEY.encode())]
    broken = play()
    assert "the same command resumes the run" in broken.stderr
    assert KEY not in broken.stdout + broken.stderr
    answers = tmp_path / "answers.jsonl"
    assert len(rows_of(answers)) == 3
    with answers.open("a") as file:
        file.write('\n{"key": "cut o')
    done = play()
    assert done.returncode == 0, done.stderr
    assert len(server.asked) - 1 == answers.read_text().count('"answer"')


def test_a_run_ends_when_its_tokens_are_used_up(server, play):
    assert "tokens or more (BUDGET); 0 of 2 games are in run" in play(BUDGET="200").stderr
    assert len(server.asked) == 2
    assert play().returncode == 0


def test_an_illegal_answer_is_asked_again_and_the_second_forfeits(server, play, tmp_path):
    server.answer = lambda body: f"Move: {KEY}"
    done = play()
    message = " ".join(done.stdout.split())
    assert (
        "llm forfeited 2 games (2 exception), for example: exception: EngineFault: tiny" in message
    )
    assert [len(body["messages"]) for body in server.asked] == [1, 3, 1, 3]
    assert rows_of(tmp_path / "answers.jsonl")[0]["answer"] == "Move: [key]"


def test_without_a_key_an_answer_is_kept_as_it_is(server, play, tmp_path):
    server.answer = lambda body: "There is none"
    assert play(OPENAI_API_KEY="").returncode == 0
    assert rows_of(tmp_path / "answers.jsonl")[0]["answer"] == "There is none"
