"""Connect Four in words: the templates, the reader of answers, the environment."""

import json
import re

import pytest
from gymnasium.utils.env_checker import check_env

from c4env.envs.single import ConnectFourEnv
from c4env.envs.text import TextEnv, fill, read_final_answer, read_move, template
from c4env.errors import C4Error, IllegalMove, InvalidAction, InvalidPosition, WrongOrder
from c4env.position import Position
from tests.helpers.paths import ROOT

KINDS = [
    shown + legal + answer
    for shown in ("board", "moves", "both")
    for legal in ("", "+legal")
    for answer in ("", "+answer")
]
ANSWERS = [
    json.loads(line) for line in (ROOT / "tests/data/answers.jsonl").read_text().split("\n") if line
]
FULL_2 = Position.parse("222222")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_shows_what_its_name_says_and_leaves_no_place_open(kind):
    text = fill(template(kind), FULL_2, "222222")
    assert ("1 2 3 4 5 6 7" in text) == (not kind.startswith("moves"))
    assert (". o . ." in text) == (not kind.startswith("moves"))
    assert ("2 2 2 2 2 2\n" in text) == (not kind.startswith("board"))
    assert ("1, 3, 4, 5, 6, 7" in text) == ("legal" in kind)
    assert ("Think" in text) == ("answer" not in kind)
    assert "first player, with the discs x" in text
    assert not re.search(r"[{}]", text)


@pytest.mark.parametrize("kind", [*KINDS, *(f"{kind}+example" for kind in KINDS)])
def test_a_template_echoed_is_not_an_answer(kind):
    for position, moves in ((Position(), ""), (FULL_2, "222222"), (Position.parse("4"), "4")):
        with pytest.raises(InvalidAction):
            read_move(fill(template(kind), position, moves), position)


@pytest.mark.parametrize("line", ANSWERS, ids=lambda line: repr(line["answer"])[:50])
def test_answers_as_models_write_them(line):
    if line["read"] == "unreadable":
        with pytest.raises(InvalidAction):
            read_move(line["answer"], FULL_2)
    elif line["read"] == "illegal":
        with pytest.raises(IllegalMove, match="column"):
            read_move(line["answer"], FULL_2)
    else:
        assert read_move(line["answer"], FULL_2) + 1 == line["read"]


@pytest.mark.parametrize(
    "long", ["[" * 10**6 + "x" + "]" * 10**6, f"#{' ' * 10**6}x", "*" * 10**6 + "x"]
)
def test_a_long_answer_is_refused_without_a_long_look(long):
    with pytest.raises(InvalidAction, match="the last line is") as caught:
        read_move(long, Position())
    assert len(str(caught.value)) < 200


def test_gymnasium_accepts_it():
    class Deciding(TextEnv):
        """Samples are texts that no template allows: the checker plays column 4."""

        def step(self, action):
            return super().step("Move: 4")

    check_env(Deciding(render_mode="ansi"), skip_render_check=True)


def test_a_game_is_the_same_as_with_numbers():
    words, numbers = TextEnv(seat=0), ConnectFourEnv(seat=0)
    text, info = words.reset(seed=3)
    _, plain = numbers.reset(seed=3)
    over = False
    while not over:
        assert info["ply"] == len(info["moves"])
        assert str(words.position) in text
        assert info["legal"] == [c + 1 for c in words.position.legal_columns()]
        assert Position.parse(info["moves"]) == words.position == numbers.position
        column = info["legal"][0]
        text, reward, over, cut, info = words.step(f"Move: {column}")
        *_, plain_reward, plain_over, _, plain = numbers.step(column - 1)
        assert (reward, over, cut) == (plain_reward, plain_over, False)
    assert reward == 1.0
    assert text.endswith("You won.")
    assert (info["winner"], info["legal"]) == (plain["winner"], []) == (0, [])


@pytest.mark.parametrize("seat", [0, 1])
def test_the_moves_shown_are_the_moves_that_were_played(seat):
    environment = TextEnv(lambda _: 3, seat=seat, kind="moves")
    for start in ({"position": ["446712"]}, {"moves": "446712"}):
        text, info = environment.reset(options=start)
        assert info["moves"] == "446712" + "4" * seat
    assert f"first move on: {' '.join(info['moves'])}\n" in text
    _, info = environment.reset(options={"position": Position.parse("446712")})
    assert sorted(info["moves"]) == sorted("446712" + "4" * seat)
    assert info["moves"].endswith("4" * seat)
    assert Position.parse(info["moves"]) == environment.position
    assert environment.reset()[1]["moves"] == "4" * seat
    before = environment.position
    with pytest.raises(InvalidPosition):
        environment.reset(options={"position": Position.from_bitboards(2, 1)})
    assert environment.position == before


@pytest.mark.parametrize("answer", ["what?", "Move: 2", "Move: 9", ""])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_bad_answer_loses_or_raises(answer, seat):
    environment, start = TextEnv(lambda _: 6, seat=seat), {"moves": "222222" + "7" * seat}
    environment.reset(options=start)
    text, reward, over, _, info = environment.step(answer)
    assert (reward, over, info["illegal"], info["winner"]) == (-1.0, True, True, 1 - seat)
    assert info["problem"]
    assert text.endswith("You lost.")
    with pytest.raises(WrongOrder):
        environment.step("Move: 1")
    patient = TextEnv(lambda _: 6, seat=seat, illegal="raise")
    patient.reset(options=start)
    with pytest.raises(C4Error):
        patient.step(answer)
    assert patient.step("Move: 1")[1:4] == (0.0, False, False)


def test_the_caller_may_move_second_and_use_its_own_words():
    environment = TextEnv(lambda _: 3, seat=1, kind="{moves}; {disc}?")
    assert environment.reset()[0] == "4; o?"
    assert environment.step("4")[0] == "4 4 4; o?"
    with pytest.raises(InvalidAction, match="expected a text"):
        environment.step(3)


def test_the_kind_kaggle_counts_from_0_and_lists_no_columns():
    text = fill(template("kaggle"), FULL_2, "222222")
    assert ".o.....\n.x.....\n" in text
    assert "1 2 3" not in text
    assert "0, 2, 3" not in text
    env = TextEnv(seat=0, kind="kaggle")
    assert "Final Answer: <column>" in env.reset(seed=1)[0]
    assert env.step("The centre.\nFinal Answer: 3")[4]["moves"].startswith("4")
    with pytest.raises(C4Error, match=r"'kaggle\+legal': expected .*; or kaggle$"):
        template("kaggle+legal")


@pytest.mark.parametrize(
    ("answer", "column"),
    [
        ("Final Answer: 0", 0),
        ("Final Answer: 2\nNo, wait.\n**final answer :  6**", 6),  # the last one counts
        ("Final Answer: 3\nThat blocks 2 threats.", 3),
        ("Final Answer:\n\n**4**.", 4),
        ("Final Answer: <5>", 5),
        ("<think>Final Answer: 1</think>\n3", 3),
    ],
)
def test_a_final_answer_is_read_wherever_it_stands(answer, column):
    assert read_final_answer(answer, FULL_2) == column


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("There are 4 threats. Final Answer: 7", "column 7 is not on the board: expected 0 to 6"),
        ("Column 2 loses at once. Final Answer: 1", "column 1 is full"),
        ("Final Answer: 3\nFinal Answer: 1", "column 1 is full"),
        *((f"Final Answer: {said}", f"states 'Final Answer: {said}'") for said in ("-1", "3.5")),
        ("I choose 5, not column 2.", "'I choose 5, not column 2.': expected Final Answer"),
        ("I play 5.\n. x o . . . .\n0 1 2 3 4 5 6", "the last line is '0 1 2 3 4 5 6'"),
        ("<think>Final Answer: 2</think> I am not sure", "the last line is 'I am not sure'"),
        ("<think>Final Answer: 2", "the reasoning does not end"),
        ("Final Answer: 2 or 3", "states 'Final Answer: 2 or 3': expected"),
        ("", "empty"),
    ],
)
def test_no_other_number_stands_in_for_a_final_answer(answer, told):
    with pytest.raises((IllegalMove, InvalidAction), match=re.escape(told)):
        read_final_answer(answer, FULL_2)
