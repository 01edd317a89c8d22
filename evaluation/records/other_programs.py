"""Read the JSON objects that other programs write of a game.

A format is recognised by the keys of its object, and by the game's name if the format has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c4env.errors import C4Error, UnreadableRun, brief
from c4env.evaluation.records.game import Ending
from c4env.evaluation.tables import shortened
from c4env.geometry import BOARD_SIZE, COLUMNS, CONNECT, ROWS
from c4env.position import format_moves

KAGGLE_ENDINGS: Final[Mapping[str, Ending]] = {
    "INVALID": "illegal column", "ERROR": "exception", "TIMEOUT": "time",
}  # fmt: skip
PLYBENCH_RESULTS: Final = {0: "1-0", 1: "0-1", 2: "1/2-1/2"}  # 3 and 4: a player had no move
PLYBENCH_ENDINGS: Final[Mapping[str, Ending]] = {
    "Wrong action format": "unreadable",
    "Illegal action selected": "illegal column",
    "Refusal": "no answer",
    "Prompt blocked": "no answer",
    "No action": "no answer",
}
"""What PlyBench writes after ``FAIL:`` in place of a move."""
_DISC: Final = re.compile(r"([xo])(\d+)")  # of OpenSpiel: x3 is the first player's column 3
_COLUMN: Final = re.compile(r"<C(\d+)>")
_FAILED: Final = re.compile(r"FAIL: (.+) \(.*\)", re.DOTALL)
_STATE: Final = re.compile(r"\[Game\]\s*(.*?)\s*\[State\](.*)", re.DOTALL)

DAMAGE: Final = KeyError, IndexError, TypeError, ValueError, AttributeError
"""The errors that a missing or unexpected value raises."""


def damage(error: Exception) -> str:
    """Return what is wrong with a game, for a reader who knows no Python."""
    if isinstance(error, KeyError):
        return f"{brief(error.args[0])} is missing"
    return "a value is missing, or is of another kind than expected"


Names = tuple[str, str]
"""The first and the second player."""


class Stated(NamedTuple):
    """What a source says of a game, beside the players."""

    moves: str  # 1-based columns
    result: str = ""  # one of RESULTS, or "" if it says nothing
    ending: Ending | Literal[""] = ""  # "" if it says nothing
    opening: str = ""  # the moves of no player, with which ``moves`` begins
    asked_again: tuple[int, int] = (0, 0)


class Format(NamedTuple):
    """A format of another program, and how to recognise it."""

    title: str
    keys: frozenset[str]
    read: Callable[[Mapping[str, Any]], tuple[Names | None, Stated]]
    name: str = ""  # the value of "name", if the format has one

    def fits(self, item: Mapping[str, Any]) -> bool:
        """Whether an object has this format."""
        return self.keys <= item.keys() and (not self.name or item["name"] == self.name)

    def __str__(self) -> str:
        return f"{self.title} (name {self.name})" if self.name else self.title


def read_object(item: Mapping[str, Any]) -> tuple[Names | None, Stated] | None:
    """Read an object of one of ``FORMATS``; None for another format.

    Raises:
        UnreadableRun: the game is damaged, or is not Connect Four on this board.
    """
    for known in FORMATS:
        if known.fits(item):
            try:
                return known.read(item)
            except C4Error:
                raise
            except DAMAGE as error:
                raise UnreadableRun(f"{known.title} is damaged: {damage(error)}") from None
    return None


def unknown_object(item: Mapping[str, Any]) -> str:
    """Return the message about an object that has none of the ``FORMATS``."""
    for known in FORMATS:
        if known.name and item.get("name") == known.name:
            return f"{known.title} without {', '.join(sorted(known.keys - item.keys()))}"
    has = shortened(", ".join(map(str, item)), 60) or "nothing"
    name = f" and the name {brief(item['name'])}" if "name" in item else ""
    return (
        f"an object with {has}{name} is not a game: expected {', '.join(map(str, FORMATS))}, or an "
        "object with first, second and moves"
    )


def moves_of_list(columns: Sequence[Any]) -> str:
    """Return the 1-based moves of 0-based columns."""
    for column in columns:
        if isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise UnreadableRun(f"{brief(column)} in a list of columns: expected integers")
        if not 0 <= column < COLUMNS:
            raise UnreadableRun(
                f"{column} is not a 0-based column 0..{COLUMNS - 1}, which a list has; write "
                "1-based moves as a text, '4455'"
            )
    return format_moves(columns)


def told_apart(first: str, second: str) -> Names:
    """Return the names of two players, with their seats if both have one name."""
    if first == second:
        return f"{first} (first)", f"{second} (second)"
    return first, second


def _require_board(what: str, rows: int, columns: int, connect: int) -> None:
    if (rows, columns, connect) != (ROWS, COLUMNS, CONNECT):
        size = f"{rows:d}x{columns:d}x{connect:d}"
        raise UnreadableRun(f"{what} on a board of {size}: expected {BOARD_SIZE}")


def _result(difference: float) -> str:
    """Return the result in which the first player is ahead by a difference."""
    return "1/2-1/2" if not difference else "1-0" if difference > 0 else "0-1"


def _of_connectx(episode: Mapping[str, Any]) -> tuple[Names | None, Stated]:
    """Read an episode of Kaggle's ConnectX, as ``env.toJSON()`` and the site write it."""
    board = episode["configuration"]
    _require_board("an episode of connectx", board["rows"], board["columns"], board["inarow"])
    columns, loser = [], None
    ending: Ending | Literal[""] = ""
    steps: list[list[dict[str, Any]]] = episode["steps"]
    for number, (before, after) in enumerate(pairwise(steps)):
        mover = number % 2
        if before[mover]["status"] != "ACTIVE":
            raise UnreadableRun(f"step {number}: player {mover} is not to move")
        if (status := after[mover]["status"]) in KAGGLE_ENDINGS:
            ending, loser = KAGGLE_ENDINGS[status], mover
            break
        columns.append(after[mover]["action"])
    rewards = episode["rewards"]
    result = "" if None in rewards else _result(rewards[0] - rewards[1])
    if loser is not None:
        result = _result(2 * loser - 1)
    elif len(steps) > 1 and "DONE" not in episode["statuses"]:
        result = ""  # the episode was cut
    teams = (episode.get("info") or {}).get("TeamNames")
    players = (str(teams[0]), str(teams[1])) if teams else None
    return players, Stated(moves_of_list(columns), result, ending)


def _of_game_arena(episode: Mapping[str, Any]) -> tuple[Names | None, Stated]:
    """Read an episode of Kaggle's Game Arena; each text that a model returned was one request."""
    given: dict[str, int] = {"rows": ROWS, "columns": COLUMNS, "x_in_row": CONNECT}
    given |= episode["configuration"].get("openSpielGameParameters") or {}
    what = f"an episode of {episode['name']}"
    _require_board(what, given["rows"], given["columns"], given["x_in_row"])
    info = episode.get("info") or {}
    opening = [int(action) for action in info.get("initialActions") or ()]
    columns, again, refused = [*opening], [0, 0], None
    for number, step in enumerate(episode["steps"]):
        for seat in (0, 1):
            action, seen = step[seat]["action"] or {}, step[seat].get("info") or {}
            again[seat] += max(len(action.get("generate_returns") or ()) - 1, 0)
            submitted = seen.get("actionSubmitted")
            refused = seat if submitted is not None and seen["actionApplied"] is None else refused
            told = action.get("actionString")
            if not told or refused is not None:
                continue
            disc = _DISC.fullmatch(told)
            if disc is None or seat != len(columns) % 2 or disc[1] != "xo"[seat]:
                wanted = "xo"[len(columns) % 2]
                raise UnreadableRun(
                    f"step {number}: {brief(told)} of player {seat}: expected {wanted} and a column"
                )
            columns.append(int(disc[2]))
    moves, rewards = moves_of_list(columns), episode["rewards"]
    result = "" if None in rewards else _result(rewards[0] - rewards[1])
    failed = [seat for seat in (0, 1) if episode["statuses"][seat] in KAGGLE_ENDINGS]
    ending: Ending | Literal[""] = ""
    if len(failed) == 1:
        ending, result = KAGGLE_ENDINGS[episode["statuses"][failed[0]]], _result(2 * failed[0] - 1)
    elif refused is not None and result:
        ending = "illegal column"
    names = info.get("TeamNames") or [agent["Name"] for agent in info.get("Agents") or ()]
    players = told_apart(str(names[0]), str(names[1])) if names else None
    opened = moves_of_list(opening)
    return players, Stated(moves, result, ending, opened, (again[0], again[1]))


def _of_spin_bench(log: Mapping[str, Any]) -> tuple[Names | None, Stated]:
    """Read a game that SPIN-Bench wrote."""
    players = log["player1_model"]["model"], log["player2_model"]["model"]
    winners = {"Player 1": "1-0", "Player 2": "0-1", "Draw": "1/2-1/2"}
    moves = list(log["game_log"])
    while moves and moves[-1]["action"] is None:  # PettingZoo's steps after the end
        moves.pop()
    illegal = str(log["status"]).endswith("illegal move!")
    if illegal and moves:
        moves.pop()
    for number, move in enumerate(moves):
        if move["agent"] != f"player_{number % 2}":
            raise UnreadableRun(f"move {number + 1} is of {move['agent']}: expected turns")
    columns = [int(move["action"]) for move in moves]
    result = winners[log["winner"]]
    return players, Stated(moves_of_list(columns), result, "illegal column" if illegal else "")


def _of_plybench(game: Mapping[str, Any]) -> tuple[Names | None, Stated]:
    """Read a game that PlyBench wrote; ``i_player`` has the first move."""
    columns: list[int] = []
    failure: Ending | Literal[""] = ""
    for number, step in enumerate(game["steps"], start=1):
        state = _STATE.search(step["serialized_state"])
        if state is None or state[1] != "connect_four()":
            name = brief(state[1] if state else step["serialized_state"])
            raise UnreadableRun(f"a game {name} of PlyBench: expected connect_four()")
        if failure or [*map(int, state[2].split())] != columns:
            raise UnreadableRun(f"step {number} does not follow from the moves before it")
        if failed := _FAILED.fullmatch(step["move"]):
            failure = PLYBENCH_ENDINGS[failed[1]]
        elif column := _COLUMN.fullmatch(step["move"]):
            columns.append(int(column[1]) - 1)
        else:
            raise UnreadableRun(f"step {number}: {brief(step['move'])}: expected such as <C4>")
    result = PLYBENCH_RESULTS.get(game["ending"]["result"], "") if game["ending"] else ""
    if failure:
        result = _result(2 * (len(columns) % 2) - 1)
    players = told_apart(str(game["i_player"]), str(game["o_player"]))
    return players, Stated(moves_of_list(columns), result, failure)


_EPISODE: Final = frozenset({"configuration", "rewards", "statuses", "steps", "name"})
FORMATS: Final = (
    Format("an episode of Kaggle's ConnectX", _EPISODE, _of_connectx, "connectx"),
    Format(
        "an episode of Kaggle's Game Arena", _EPISODE, _of_game_arena, "open_spiel_connect_four"
    ),
    Format(
        "a log of SPIN-Bench",
        frozenset({"game_log", "player1_model", "player2_model", "status", "winner"}),
        _of_spin_bench,
    ),
    Format(
        "a game of PlyBench",
        frozenset({"ending", "i_player", "instance_params", "o_player", "steps"}),
        _of_plybench,
    ),
)
