from __future__ import annotations

import pytest

from c4env import agents
from c4env.evaluation.play import HUMAN, TerminalGame
from c4env.position import Position
from c4env.view.rendering import drawing


class Left:
    """Plays the leftmost legal column."""

    name = "left"
    nodes = 3

    def __call__(self, observation):
        return int(observation["action_mask"].argmax())

    def reset(self, seed=None):
        self.seed = seed


def game(answers, names=(HUMAN, "left"), zoo=None, **settings):
    """A game with these lines typed; returns it, its record, and what was shown."""
    lines = iter(answers)
    shown: list[str] = []

    def ask(prompt):
        shown.append(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    first, second = ((zoo or {"left": Left()}).get(name) for name in names)
    hint = agents.make("minimax:depth=2")
    table = TerminalGame(names, (first, second), hint, ask, shown.append, **settings)
    return table, table.play(), "\n".join(shown)


def test_a_person_wins():
    _, record, shown = game("4444")
    assert record.moves == "4141414"
    assert (record.winner, record.ending, record.nodes) == (0, "four", (0, 9))
    assert "you (red x) win" in shown
    assert "[X]" in shown  # the last disc, in the winning line


def test_a_person_moves_second():
    _, record, _ = game("4444", names=("left", HUMAN))
    assert record.players == ("left", HUMAN)
    assert record.winner == 0


def test_bad_input_is_answered_and_asked_again():
    _, record, shown = game(["", "0", "8", "x", "44", " 4 ", *"444"])
    assert record.moves == "4141414"
    for wrong in ("''", "'0'", "'8'", "'x'", "'44'"):
        assert f"{wrong} is not a column" in shown


def test_take_back_undoes_both_moves():
    table, record, _ = game(["3", "u", *"4444"])
    assert record.moves == "4141414"
    assert len(record.seconds) == 2
    assert table.position == Position.parse("4141414")


def test_hint_is_the_searching_agents():
    _, _, shown = game(["h"])
    assert "hint: column 4: value " in shown


@pytest.mark.parametrize("leave", [["4", "q"], ["4"]])
def test_leaving_after_moves_is_recorded_as_abandoned(leave):
    _, record, _ = game(leave)
    assert (record.ending, record.winner, record.moves) == ("abandoned", 1, "41")


def test_an_agent_that_plays_nonsense_forfeits():
    class Bad(Left):
        def __call__(self, observation):
            return 9

    _, record, shown = game("4", zoo={"left": Bad()})
    assert (record.winner, record.forfeited_by, record.ending) == (0, 1, "nonsense")
    assert "forfeits" in shown


@pytest.mark.parametrize(
    ("opening", "names", "typed", "moves", "winner", "nodes"),
    [
        ("4141", (HUMAN, "left"), "24", "41412141", 1, (0, 6)),
        ("4141", (HUMAN, "left"), "2u44", "4141414", 0, (0, 3)),
        ("41414", ("left", HUMAN), "u3", "4141431", 0, (3, 0)),  # the person then leaves
        ("414", ("left", HUMAN), "2", "41421", 0, (3, 0)),
    ],
)
def test_a_game_begins_after_the_columns_given(opening, names, typed, moves, winner, nodes):
    _, record, shown = game(typed, names, opening=opening)
    assert (record.opening, record.moves, record.winner) == (opening, moves, winner)
    assert record.nodes == nodes
    assert shown.startswith(drawing(Position.parse(opening), int(opening[-1]) - 1))
    assert ("nothing to take back" in shown) == typed.startswith("u")
