"""chat: language models, and the endpoints they stand behind; the server is one of our own."""

import json
import logging
import pickle
import re
from dataclasses import asdict

import pytest

pytest.importorskip("openai")

from c4env import Position, agents
from c4env.agents.adapters.chat import Exchange, find_prompt, open_client
from c4env.envs.text import fill, template
from c4env.errors import EngineFault, IllegalMove, InvalidOption, Unavailable
from tests.helpers.chat import KEY, Fault, server_with_key

FULL_2 = Position.parse("222222")


server = pytest.fixture(server_with_key)


def said(text, reason):
    return {"message": {"role": "assistant", "content": text}, "finish_reason": reason}


# -- specs ------------------------------------------------------------------------------


def test_a_spec_carries_an_address_and_a_name_with_colons():
    spec = "chat:org/qwen2.5:7b,base_url=http://127.0.0.1:8000/v1,prompt=both+legal,retries=3"
    agent = agents.make(spec)
    assert (agent.name, agent.model, agent.retries) == (spec, "org/qwen2.5:7b", 3)
    assert (agent.base_url, agent.deterministic) == ("http://127.0.0.1:8000/v1", False)
    assert agents.make("chat", model="m", base_url="http://[::1]:1/").model == "m"


@pytest.mark.parametrize(
    "url", ["ftp://x", "127.0.0.1:8000", "http://", "http://u:hunter2@x/v1", "http://x?key=hunter2"]
)
def test_an_address_with_a_secret_or_without_a_host_is_refused_and_not_repeated(url):
    with pytest.raises(InvalidOption, match="OPENAI_API_KEY") as caught:
        agents.make("chat", model="m", base_url=url)
    assert "hunter2" not in str(caught.value)


# -- questions and answers --------------------------------------------------------------


def test_a_column_is_asked_for_and_played(server):
    agent = agents.make(server.spec)
    assert agent.choose(FULL_2) == 0
    (body,) = server.asked
    assert body["model"] == "tiny"
    assert set(body) == {"model", "messages"}  # what is not set is left to the endpoint
    (message,) = body["messages"]
    assert message == {"role": "user", "content": fill(template("board+legal"), FULL_2, "222222")}
    with pytest.raises(IllegalMove):
        agent.choose(Position.parse("1212121"))


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("Move: 2", "column 2 is full"),
        ("Move: 8", "no column 8"),
        ("I like the centre.", "'I like the centre.'"),
        ("", "empty"),
        (said("Move: 4", "length"), "cut off"),
        ("x" * (4 << 20), "the last line is"),
        (said(None, "stop"), "empty"),
    ],
)
def test_a_bad_answer_is_asked_again_told_what_was_wrong(server, bad, told):
    server.script = [bad, "Move: 4"]
    assert agents.make(server.spec).choose(FULL_2) == 3
    first, second = server.asked
    assert second["messages"][:1] == first["messages"]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "user"]
    assert told in second["messages"][2]["content"]
    assert "1, 3" not in second["messages"][2]["content"]  # what is legal is not given away


def test_without_a_try_left_the_model_is_at_fault(server):
    server.script = ["no", "Move: 2", "never"]
    with pytest.raises(EngineFault, match=r"tiny gave no legal move in 3 tries: .*'never'"):
        agents.make(server.spec).choose(FULL_2)
    assert len(server.asked) == 3
    server.script = ["\x1b[2J\x07<script>x</script>\ud800"]  # is shown harmlessly
    with pytest.raises(EngineFault, match="gave no legal move: ") as caught:
        agents.make(f"{server.spec},retries=0").choose(FULL_2)
    assert "\x1b" not in str(caught.value)
    str(caught.value).encode()


def test_the_moves_are_those_of_the_game_once_it_was_seen(server):
    agent = agents.make(f"chat:m,base_url={server.url},prompt=moves")
    server.answer = lambda body: "Move: 7"
    position = Position()
    agent.reset(1)
    for reply in (3, 2, 3):
        position = position.play(agent.choose(position)).play(reply)
    agent.choose(position)
    assert "from the first move on: 7 4 7 3 7 4\n" in server.asked[-1]["messages"][0]["content"]
    agent.reset(2)
    agent.choose(Position.parse("12"))
    assert "from the first move on: 1 2\n" in server.asked[-1]["messages"][0]["content"]


# -- a network that fails ---------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 503, 408, 0])
def test_the_client_repeats_a_request_after_a_passing_failure(server, status):
    late = Fault(200, body=b"{}", pause=1.0)
    again = Fault(status, {"Retry-After": "0"}, b"<html>busy</html>")
    server.script = [Fault(status) if status else late, again, "Move: 6"]
    assert agents.make(f"{server.spec},timeout=0.5").choose(Position()) == 5
    assert len(server.asked) == 3
    assert len({json.dumps(body) for body in server.asked}) == 1


def busy(error):
    return Fault(200, {"Retry-After": "0"}, json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    "error",
    [
        *({"message": "Provider busy", "code": code} for code in (429, "503", "overloaded")),
        *({"message": "Provider busy"}, "Provider busy"),
    ],
)
def test_an_error_with_status_200_is_repeated_and_shown_at_last(server, error):
    server.script = [busy(error), busy(error), "Move: 6"]
    assert agents.make(server.spec).choose(Position()) == 5
    assert len(server.asked) == 3
    server.answer = lambda body: busy(error)
    with pytest.raises(Unavailable, match=r"refuses with status (429|50[23]): .*Provider busy"):
        agents.make(server.spec).choose(Position())


def test_a_refusal_with_status_200_is_not_waited_out(server):
    server.script = [busy({"message": "No credit", "code": 402})]
    with pytest.raises(Unavailable, match="status 402: 'No credit'; the key is"):
        agents.make(server.spec).choose(Position())
    assert len(server.asked) == 1


@pytest.mark.parametrize("texts", [["Move: 5"], ["Thought.\n", "Move: 5"]])
def test_an_answer_of_parts_is_read(server, texts):
    parts = [{"type": "text", "text": text} for text in texts]
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Move: 1"}]}
    server.script = [said([thought, *parts], "stop"), said([thought], "stop"), "Move: 2"]
    agent = agents.make(server.spec)
    assert agent.choose(Position()) == 4
    assert agent.choose(Position()) == 1  # the answer without a text is asked again
    assert "empty" in server.asked[-1]["messages"][2]["content"]


def test_a_model_that_wants_max_completion_tokens_gets_them(server):
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    refusal = Fault(400, body=json.dumps({"error": {"message": message}}).encode())
    server.answer = lambda body: refusal if "max_tokens" in body else "Move: 4"
    agent = agents.make(f"{server.spec},max_tokens=500")
    assert [agent.choose(Position()) for _ in range(2)] == [3, 3]
    limits = [{key: body[key] for key in body if key.startswith("max")} for body in server.asked]
    assert limits == [{"max_tokens": 500}, *[{"max_completion_tokens": 500}] * 2]
    server.answer = lambda body: refusal
    with pytest.raises(Unavailable, match=r"status 400: .*max_completion_tokens"):
        agents.make(f"{server.spec},max_tokens=500").choose(Position())


NO_CHAT = ": the answer does not follow the chat protocol"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(500), " refuses with status 500"),
        (Fault(), " does not answer: "),
        *((Fault(200, body=body), NO_CHAT) for body in (b"not JSON", b'{"choices": []}')),
        *((Fault(200, body=body), NO_CHAT) for body in (b"[" * 100000, b" " * (10 << 20))),
    ],
)
def test_a_server_that_keeps_failing_is_not_the_models_fault(server, fault, words):
    server.answer = lambda body: fault
    with pytest.raises(Unavailable, match=rf"127\.0\.0\.1:\d+{words}"):
        agents.make(server.spec).choose(Position())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_waited_out(server, status):
    said = json.dumps({"error": {"message": f"bad key {KEY}\x1b[31m"}}).encode()
    server.script = [Fault(status, body=said)]
    with pytest.raises(Unavailable, match=f"status {status}") as caught:
        agents.make(server.spec).choose(Position())
    assert KEY not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(server.asked) == 1


# -- secrets --------------------------------------------------------


def test_the_key_is_nowhere_but_in_the_request(server, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    agent = agents.make(server.spec)
    server.script = [Fault(500), f"your key is {KEY}", f"{KEY}\nMove: 4"]
    seen = []
    agent.tape = lambda moves, attempt, ask: seen.append(ask()) or seen[-1]
    assert agent.choose(Position()) == 3
    assert server.keys == [f"Bearer {KEY}"] * 3
    assert "your key is [key]" in seen[0].answer
    shown = map(repr, (seen, agent, vars(agent), open_client(agent.base_url, 120.0), server.asked))
    assert KEY not in "".join([*shown, caplog.text, *capsys.readouterr()])
    assert KEY.encode() not in pickle.dumps(agents.make(server.spec))


@pytest.mark.parametrize("key", ["1", "x", "o", "Move", "none", "1234567"])
def test_a_dummy_key_changes_no_answer(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.script = ["Move: 1234567, or none", "Move: 1"]
    agent = agents.make(server.spec)
    seen = []
    agent.tape = lambda moves, attempt, ask: seen.append(ask()) or seen[-1]
    assert agent.choose(Position()) == 0
    assert [e.answer for e in seen] == ["Move: 1234567, or none", "Move: 1"]
    assert server.asked[1]["messages"][1]["content"] == "Move: 1234567, or none"
    assert "'Move: 1234567, or none'" in server.asked[1]["messages"][2]["content"]


def test_a_move_that_holds_the_key_is_read_and_a_stored_one_is_played_again(server, monkeypatch):
    key = "**Move:3"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.script = [f"I pass {key}", f"{key}**", "Move: 1", f"{key}9", "Move: 7"]
    stored = {}

    def tape(moves, attempt, ask):
        if (moves, attempt) not in stored:
            stored[moves, attempt] = ask()
        return Exchange(**json.loads(json.dumps(asdict(stored[moves, attempt]))))

    def game():
        agent = agents.make(server.spec)
        agent.tape = tape
        columns, position = [], Position()
        for _ in range(3):
            columns.append(agent.choose(position))
            position = position.play(columns[-1]).play(3)
        return columns

    assert game() == [2, 0, 6]
    assert key not in json.dumps([asdict(exchange) for exchange in stored.values()])
    asked = server.asked[-1]["messages"]
    assert asked[1]["content"] == "[key]9"
    assert "'[key]9'" in asked[2]["content"]
    assert (stored["3414", 0].fault, len(stored)) == ("illegal", 5)
    del stored["3414", 1]
    server.script = ["Move: 7"]
    assert game() == [2, 0, 6]
    assert server.asked[-1]["messages"] == asked


def test_no_part_of_the_key_is_in_a_quoted_end_of_an_answer(server):
    server.script = [f"{KEY}{'.' * (80 - len(KEY) // 2)}", "Move: 1"]
    agents.make(server.spec).choose(Position())
    assert KEY[-5:] not in json.dumps(server.asked[1])


def test_a_key_does_not_decide_what_a_refusal_says(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "max_completion_tokens")
    message = f"{'No. ' * 60}Use 'max_completion_tokens' instead of 'max_tokens'."
    refusal = Fault(400, body=json.dumps({"error": {"message": message}}).encode())
    server.answer = lambda body: refusal if "max_tokens" in body else "Move: 4"
    assert agents.make(f"{server.spec},max_tokens=500").choose(Position()) == 3


@pytest.mark.parametrize("key", [" ", f"{KEY}\n", f" {KEY}", f"{KEY[:9]}\t{KEY}", f"é{KEY}"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InvalidOption, match="OPENAI_API_KEY: expected printable ASCII") as caught:
        agents.make(server.spec)
    assert KEY[:9] not in str(caught.value)


# -- prompts ----------------------------------------------------------------------------


def test_ours_are_named_by_kind_and_hash():
    prompt = find_prompt("board+legal")
    assert re.fullmatch(r"board\+legal, sha256 [0-9a-f]{12}", str(prompt))
    assert prompt.text == template("board+legal")
    with pytest.raises(InvalidOption, match=r"'bord'.*both.*an existing file"):
        find_prompt("bord")


def test_a_file_of_the_user(server, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("Play {disc}:\n{board}\n{not a place}")
    server.script = ["Move: 4"]
    agents.make(f"chat:m,base_url={server.url},prompt={file}").choose(Position.parse("4"))
    (message,) = server.asked[0]["messages"]
    assert message["content"] == f"Play o:\n{Position.parse('4')}\n{{not a place}}"
    named = str(find_prompt(str(file)))
    file.write_text("other")
    assert str(find_prompt(str(file))) != named
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InvalidOption, match="text file"):
        find_prompt(str(file))
