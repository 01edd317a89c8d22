"""chat: language models, and the endpoints they stand behind; the server is one of our own."""

import copy
import json
import logging
import pickle

import pytest

pytest.importorskip("openai")

from c4env import Position, agents
from c4env.agents.programs.chat import Answers, Reply, find_prompt, open_client
from c4env.envs.text import fill, template
from c4env.errors import EngineFault, IllegalMove, InvalidOption, Unavailable, Unwritable
from tests.helpers.chat import KEY, Fault, rows_of, server_with_key
from tests.helpers.processes import FORKS, in_a_fork

FULL_2 = Position.parse("222222")


server = pytest.fixture(server_with_key)


def said(text, reason, **more):
    message = {"role": "assistant", "content": text, **more}
    return {"message": message, "finish_reason": reason}


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": ""}}


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
        ("Move: 8", "column 8 is not on the board"),
        ("I like the centre.", "'I like the centre.'"),
        ("", "empty"),
        (said("Move: 4", "length"), "cut off"),
        ("x" * (4 << 20), "the last line is"),
        (said(None, "stop"), "empty"),
        (said("Move: 4", "content_filter"), "a content filter stopped the answer"),
        (said(None, "stop", refusal="I do not play."), "the model refuses: 'I do not play.'"),
        (said(None, "tool_calls", tool_calls=[CALL]), "the answer calls a tool"),
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


def busy(**body):
    return Fault(200, {"Retry-After": "0"}, json.dumps(body).encode())


@pytest.mark.parametrize(
    "body",
    [
        *({"error": {"message": "Busy", "code": code}} for code in (429, "503", "overloaded")),
        *({"error": {"message": "Busy"}}, {"error": "Busy"}, {"choices": []}, {"choices": None}),
    ],
)
def test_an_error_with_status_200_is_repeated_and_shown_at_last(server, body):
    server.script = [busy(**body), busy(**body), "Move: 6"]
    assert agents.make(server.spec).choose(Position()) == 5
    assert len(server.asked) == 3
    server.answer = lambda _: busy(**body)
    shown = "'Busy'" if "error" in body else "'the answer has no choices'"
    with pytest.raises(Unavailable, match=rf"status (429|50[23]): {shown}"):
        agents.make(server.spec).choose(Position())


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
        *((Fault(200, body=body), NO_CHAT) for body in (b"not JSON", b'{"choices": 1}')),
        *((Fault(200, body=body), NO_CHAT) for body in (b"[" * 100000, b" " * (10 << 20))),
    ],
)
def test_a_server_that_keeps_failing_is_not_the_models_fault(server, fault, words):
    server.answer = lambda body: fault
    with pytest.raises(Unavailable, match=rf"127\.0\.0\.1:\d+{words}"):
        agents.make(server.spec).choose(Position())


@pytest.mark.parametrize(
    ("status", "message", "is_about_the_key"),
    [
        (400, "Unsupported value: temperature", False),
        (400, "API key not valid", True),
        *((status, f"bad {KEY}\x1b[31m", True) for status in (401, 403, 404, 422)),
    ],
)
def test_a_refusal_is_not_waited_out_and_says_if_it_is_about_the_key(
    server, status, message, is_about_the_key
):
    server.script = [Fault(status, body=json.dumps({"error": {"message": message}}).encode())]
    with pytest.raises(Unavailable, match=f"status {status}: .{message[:4]}") as caught:
        agents.make(server.spec).choose(Position())
    assert ("; the key is" in str(caught.value)) == is_about_the_key
    assert KEY not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    server.script = [busy(error={"message": "No credit", "code": 402})]
    with pytest.raises(Unavailable, match="status 402: 'No credit'; the key is"):
        agents.make(server.spec).choose(Position())
    assert len(server.asked) == 2


@FORKS
def test_a_fork_has_a_client_of_its_own(server):
    client = open_client(server.url, 120.0)
    assert open_client(server.url, 120.0) is client
    assert in_a_fork(lambda: open_client(server.url, 120.0) is not client)


# -- secrets --------------------------------------------------------


def test_the_key_is_nowhere_but_in_the_request(server, tmp_path, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    answers = tmp_path / "answers.jsonl"
    agent = agents.make(f"{server.spec},answers={answers}")
    server.script = [Fault(500), f"your key is {KEY}", f"{KEY}\nMove: 4"]
    agent.reset(1)
    assert agent.choose(Position()) == 3
    assert server.keys == [f"Bearer {KEY}"] * 3
    assert [row["text"] for row in rows_of(answers)] == ["your key is [key]", "[key]\nMove: 4"]
    shown = map(repr, (agent, vars(agent), open_client(agent.base_url, 120.0), server.asked))
    shown = [*shown, answers.read_text(), caplog.text, *capsys.readouterr()]
    assert KEY not in "".join(shown)
    assert KEY.encode() not in pickle.dumps(agent)


@pytest.mark.parametrize("key", ["1", "x", "o", "Move", "none", "1234567"])
def test_a_dummy_key_changes_no_answer(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.script = ["Move: 1234567, or none", "Move: 1"]
    assert agents.make(server.spec).choose(Position()) == 0
    assert server.asked[1]["messages"][1]["content"] == "Move: 1234567, or none"
    assert "'Move: 1234567, or none'" in server.asked[1]["messages"][2]["content"]


def test_no_part_of_the_key_is_in_a_quoted_end_of_an_answer(server):
    server.script = [f"{KEY}{'.' * (80 - len(KEY) // 2)}", "Move: 1"]
    agents.make(server.spec).choose(Position())
    assert KEY[-5:] not in json.dumps(server.asked[1])


@pytest.mark.parametrize("key", [" ", f"{KEY}\n", f" {KEY}", f"{KEY[:9]}\t{KEY}", f"é{KEY}"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InvalidOption, match="OPENAI_API_KEY: expected printable ASCII") as caught:
        agents.make(server.spec)
    assert KEY[:9] not in str(caught.value)


# -- prompts ----------------------------------------------------------------------------


def test_a_name_is_a_kind_or_a_file():
    assert find_prompt("board+legal") == template("board+legal")
    with pytest.raises(
        InvalidOption, match=r"'bord': not a file, and kind 'bord': expected board.*both"
    ):
        find_prompt("bord")


def test_a_file_of_the_user(server, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("Play {disc}:\n{board}\n{not a place}")
    server.script = ["Move: 4"]
    agents.make(f"chat:m,base_url={server.url},prompt={file}").choose(Position.parse("4"))
    (message,) = server.asked[0]["messages"]
    assert message["content"] == f"Play o:\n{Position.parse('4')}\n{{not a place}}"
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InvalidOption, match="text file"):
        find_prompt(str(file))
    file.write_text("Columns with room: {legal}. End with Move: N")  # the same at most moves
    with pytest.raises(InvalidOption, match=r"txt': expected \{board\} or \{moves\} in the text"):
        find_prompt(str(file))


def test_kaggle_asks_again_in_one_message(server):
    agent = agents.make(f"chat:m,base_url={server.url},prompt=kaggle")
    server.script = ["The first, not 2.", "Final Answer: 1", "Final Answer: 0"]
    assert agent.choose(FULL_2) == 0
    first, second, third = ([m["content"] for m in body["messages"]] for body in server.asked)
    assert [len(texts) for texts in (first, second, third)] == [1, 1, 1]
    assert second[0].startswith(first[0])
    assert second[0].endswith("ended with:\nThe first, not 2.")
    assert "column 1 is full" in third[0]
    assert third[0].startswith(first[0])
    assert third[0].endswith("ended with:\nFinal Answer: 1")
    assert "The first." not in third[0]


def test_kaggles_questions_are_asked_again_though_they_repeat(server, tmp_path):
    file = tmp_path / "answers.jsonl"
    agent = agents.make(f"chat:m,base_url={server.url},prompt=kaggle,answers={file}")
    for _ in range(2):
        agent.reset(5)
        server.script = ["None."] * 2 + ["Final Answer: 3"]
        assert agent.choose(Position()) == 3
        assert len(server.asked) == 3


# -- answers that are kept --------------------------------------------------------------


@pytest.fixture
def kept(server, tmp_path):
    file = tmp_path / "answers.jsonl"
    return f"{server.spec},answers={file}", file


def play(spec, *seeds, moves=""):
    """The columns that an agent plays first in the games of these seeds."""
    agent, columns = agents.make(spec), []
    for seed in seeds:
        agent.reset(seed)
        columns.append(agent.choose(Position.parse(moves)) + 1)
    return columns


def test_an_answer_is_known_by_its_game_and_its_request(server, kept):
    spec, file = kept
    server.script = ["Move: 8", "Move: 3", "Move: 4", "Move: 5", "Move: 6"]
    assert play(spec, 1, 2) == [3, 4]
    assert play(spec, 1, moves="1") == [5]
    assert play(f"{spec},temperature=1", 1) == [6]
    assert len(server.asked) == 5
    assert play(spec, 2, 1, 2) == [4, 3, 4]
    assert play(f"{spec},retries=5,timeout=9", 1) == [3]  # patience changes no answer
    assert len(server.asked) == 5
    first, second, *_ = rows_of(file)
    assert first["messages"] == server.asked[0]["messages"]
    assert (first["text"], first["is_cut"], first["tokens"]) == ("Move: 8", False, [100, 10])
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "user"]


def test_another_server_is_asked_again_wherever_its_address_stands(server, kept, monkeypatch):
    server.script = ["Move: 3", "Move: 4"]
    spec = f"chat:m,answers={kept[1]}"
    for host, column in (("127.0.0.1", 3), ("localhost", 4), ("127.0.0.1", 3)):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("127.0.0.1", host))
        assert play(spec, 1) == [column]
    assert len(server.asked) == 2


def test_the_answers_of_a_game_without_a_seed_are_not_stored(server, kept):
    spec, file = kept
    server.script = ["Move: 1", "Move: 2"]
    assert play(spec, None, None) == [1, 2]
    assert not file.exists()


def test_the_part_of_a_line_that_a_kill_leaves_spoils_no_other_line(server, kept):
    spec, file = kept
    server.answer = lambda body: "Move: 4"
    play(spec, 1)
    for length in range(1, 40):
        whole = file.read_bytes()
        with file.open("ab") as part:
            part.write(whole[: 1 + length])
        play(spec, length)
        assert len(server.asked) == length
        assert file.read_bytes().count(b'"text"') == length
    assert play(spec, *range(1, 40)) == [4] * 39
    assert len(server.asked) == 39


def test_copies_share_the_answers_and_a_deleted_file_is_forgotten(server, kept):
    spec, file = kept
    agent = agents.make(spec)
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), agents.make(spec)):
        assert twin.answers is agent.answers
    play(spec, 1)
    assert play(spec, 1) == [1]
    assert len(server.asked) == 1
    file.unlink()
    del agent, twin
    play(spec, 1)
    assert len(server.asked) == 2


def test_a_file_that_holds_something_else_is_refused_and_stays(server, tmp_path):
    file = tmp_path / "prompt.txt"
    others = "Play well.\n", '["greedy",0,3]\n', '{"key"; no', '\n{"key": "1", "answer": "4"}'
    for content in others:
        file.write_text(content)
        with pytest.raises(InvalidOption, match=r"answers='.*prompt.txt': expected a new file"):
            agents.make(f"{server.spec},answers={file}")
        assert file.read_text() == content
    with pytest.raises(Unwritable, match="is a folder"):
        agents.make(f"{server.spec},answers={tmp_path}")
    with pytest.raises(Unwritable, match="cannot be written"):
        agents.make(f"{server.spec},answers={tmp_path}/none/answers.jsonl")


def test_an_answer_that_cannot_be_written_is_not_the_models_fault(tmp_path):
    answers = Answers(str(tmp_path / "answers.jsonl"))
    (tmp_path / "answers.jsonl").mkdir()
    with pytest.raises(Unavailable, match=r"answers\.jsonl: Is a directory"):
        answers.find(1, "", {}, lambda: Reply("Move: 1", False, None))
