"""Connect Four in words: prompts, the parser of answers, and an environment.

A prompt is a template with placeholders, which :func:`fill` fills. :func:`template` returns ready
templates; you can also write your own. :func:`read_move` reads the announced column from an answer.
Prompts and answers count columns from 1, as the drawn board does. Prompts and answers of the kind
``kaggle`` count columns from 0, and :func:`read_final_answer` reads the answers. :func:`reader`
returns the reader of a kind. No reader guesses a move.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from c4env.envs.opponents import AnyOpponent
from c4env.envs.single import ConnectFourEnv
from c4env.envs.starts import moves_in, starts_in
from c4env.errors import IllegalMove, InvalidAction, InvalidOption
from c4env.geometry import require_standard
from c4env.position import DISCS, Position, format_moves, require_position

require_standard(__name__)

VERSION: Final = 3
"""The version of the templates; every change of their wording changes it."""

RULES: Final = (  # begin the templates
    "This is Connect Four, on a board of 7 columns and 6 rows. A disc falls to the lowest free "
    "cell of the column it is dropped into; a column with 6 discs is full. Whoever first has four "
    "discs in a row, across, upright or diagonal, wins; a full board without is a draw.\n\n"
)

_BOARD: Final = (
    "The board now, x the discs of the first player, o those of the second, . a free cell, and "
    "the numbers of the columns below:\n\n{board}\n\n"
)
_MOVES: Final = "The columns played so far, from the first move on: {moves}\n\n"
_TURN: Final = "You are the {player} player, with the discs {disc}, and it is your turn.\n"
_LEGAL: Final = "The columns that are not full: {legal}\n"

_THINK: Final = (
    "Think as long as you like before you answer. End with a line that holds your move and nothing "
    "else: the word Move, a colon, and the number of the column, from 1 to 7."
)
_ANSWER: Final = (
    "Answer with one line and nothing else: the word Move, a colon, and the number of the column, "
    "from 1 to 7."
)
# Sentences, not lines of their own: an answer that repeats them announces no move.
_EXAMPLE: Final = (
    "\n\nFor example, an answer for the leftmost column ends with the line Move: 1, and an answer "
    "for the rightmost column ends with the line Move: 7."
)
_SHOWN: Final = {"board": _BOARD, "moves": _MOVES, "both": _BOARD + _MOVES}
KAGGLE: Final = "kaggle"
_KAGGLE: Final = (  # the facts and the form of Kaggle's Game Arena, in words of our own
    "You are an expert at Connect Four. Study the position below and choose the best move.\n\n"
    "The rules: the board has 6 rows and 7 columns. A disc falls to the lowest empty cell of its "
    "column. Whoever first has 4 discs in a row, across, upright or diagonal, wins. A column whose "
    "top cell is taken cannot be played. Columns are numbered from 0 on the left to 6. You play "
    "{disc}.\n\n"
    "The board now:\n\n{grid}\n\n"
    "First explain your reasoning. Then end with one new line in exactly this form:\n\n"
    "Final Answer: <column>\n\n"
    "where <column> is the number of one column, counted from 0. It is the turn of {disc}, you."
)
_PLACES: Final = re.compile(r"\{(board|grid|moves|legal|player|disc|ply)\}")

REWARDS: Final = ("result", "exact")
CHARSET: Final = frozenset(map(chr, range(0x20, 0x7F))) | {"\n"}

_MARKS: Final = "*_`$ \t"  # emphasis, code and formulas, as Markdown and LaTeX write them
_PAIRS: Final = (
    (r"\boxed{", "}"), (r"\text{", "}"), ("[", "]"), ("<", ">"), (r"\(", r"\)"), (r"\[", r"\]"),
)  # fmt: skip
_DEPTH: Final = 6  # nested marks that are removed; more would make long answers slow
_ITEM: Final = r"(?:(?:[-+•]|\d+[.)]|#+)[ \t])?"  # the mark of a list's item or of a heading
_NUMBER: Final = re.compile(r"\d{1,3}", re.ASCII)


class _Answer(NamedTuple):
    """How the answers to a kind of prompt state a column."""

    stated: re.Pattern[str]  # matches the words before the column; the group is the text after
    anywhere: bool  # True: the last match in the answer counts; False: only the last line counts
    first: int  # the number of the leftmost column
    expected: str


_MOVE: Final = _Answer(
    re.compile(rf"^{_ITEM}[{_MARKS}]*Move[{_MARKS}]*:(.*)$", re.IGNORECASE | re.ASCII),
    anywhere=False,
    first=1,
    expected="a last line that is Move, a colon and a number, and nothing else",
)
_FINAL: Final = _Answer(
    re.compile(rf"Final\s+Answer[{_MARKS}]*:\s*(.*)", re.IGNORECASE | re.ASCII),
    anywhere=True,
    first=0,
    expected="Final Answer, a colon and a number, and nothing else in the line",
)


def template(kind: str = "board") -> str:
    """Return the prompt template of a kind: ``board``, ``moves`` or ``both``, and any additions.

    The addition ``+legal`` lists the columns that are not full. ``+answer`` asks for the move
    without reasoning. ``+example`` shows how to write a move. A kind with all additions is
    ``both+legal+answer+example``. The kind ``kaggle`` is the prompt of Kaggle's Game Arena,
    reworded, and takes no additions.

    Placeholders are ``{board}``, ``{grid}`` (the board without numbers and blanks), ``{moves}``,
    ``{legal}``, ``{player}`` (first or second), ``{disc}`` (x or o) and ``{ply}`` (discs on the
    board).

    Raises:
        InvalidOption: the kind is unknown.
    """
    if kind == KAGGLE:
        return _KAGGLE
    shown, *additions = kind.split("+")
    if shown not in _SHOWN or sorted(set(additions)) != sorted(additions):
        additions = ["?"]
    if not set(additions) <= {"legal", "answer", "example"}:
        raise InvalidOption(
            f"kind {kind!r}: expected board, moves or both, and perhaps +legal, +answer, +example; "
            f"or {KAGGLE}"
        )
    legal = _LEGAL if "legal" in additions else ""
    ending = _ANSWER if "answer" in additions else _THINK
    example = _EXAMPLE if "example" in additions else ""
    return RULES + _SHOWN[shown] + _TURN + legal + ending + example


def fill(text: str, position: Position, moves: str) -> str:
    """Fill the placeholders of a template; other braces stay unchanged.

    Args:
        text: the template.
        position: the position in which to move; the prompt addresses the side to move.
        moves: the game that led to the position, as 1-based columns.
    """
    require_position(position)
    places = {
        "board": str(position),
        "grid": "\n".join(line.replace(" ", "") for line in str(position).splitlines()[:-1]),
        "moves": " ".join(moves) or "none",
        "legal": ", ".join(format_moves(position.legal_columns())),
        "player": ("first", "second")[position.to_move],
        "disc": DISCS[position.to_move],
        "ply": str(position.plies),
    }
    return _PLACES.sub(lambda place: places[place[1]], text)


def reader(kind: str) -> Callable[[str, Position], int]:
    """Return the function that reads answers to prompts of a kind, such as :func:`read_move`."""
    return read_final_answer if kind == KAGGLE else read_move


def read_final_answer(text: str, position: Position) -> int:
    """Return the 0-based column of a final answer in the form of Kaggle's Game Arena.

    The last ``Final Answer: 3`` anywhere in the answer counts. Without these words, the whole
    answer must be a number. As in :func:`read_move`, no other number in the answer is a move.

    Raises:
        InvalidPosition, InvalidAction, IllegalMove: as :func:`read_move`.
    """
    return _read(text, position, _FINAL)


def read_move(text: str, position: Position) -> int:
    """Return the 0-based column that an answer announces, without guessing.

    The last line must have the form ``Move: 4``, or the whole answer must be a number. Markdown,
    LaTeX and a full stop around the move are ignored, as in ``- **Move: 4**``, ``Move: [4]`` or
    ``$\\boxed{4}$``. Lines before the last line, and the text before ``</think>``, are ignored
    too.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        InvalidAction: the answer announces no move; the message says what is missing.
        IllegalMove: the column is full or not on the board.
    """
    return _read(text, position, _MOVE)


def _read(text: str, position: Position, form: _Answer) -> int:
    """Return the 0-based column that an answer states in a form."""
    require_position(position)
    _, closed, after = text.rpartition("</think>")
    if not closed and "<think>" in text:
        raise InvalidAction("the reasoning does not end, and no move follows it")
    lines = [line for line in after.splitlines() if line.strip(_MARKS + r"\[]")]
    if not lines:
        raise InvalidAction("the answer is empty")
    last = _bare(_bare(lines[-1]).removesuffix("."))
    number, seen = last if len(lines) == 1 else "", f"the last line is {lines[-1].strip()[-80:]!r}"
    for found in form.stated.finditer(after if form.anywhere else last):
        number = _bare(_bare(found[1]).removesuffix("."))
        if form.anywhere:
            seen = f"the answer states {found[0][:80]!r}"
    if not _NUMBER.fullmatch(number):
        raise InvalidAction(f"{seen}: expected {form.expected}")
    column = int(number) - form.first
    if position.is_legal(column):
        return column
    if not 0 <= column < 7:
        columns = f"{form.first} to {form.first + 6}"
        raise IllegalMove(f"column {number} is not on the board: expected {columns}")
    raise IllegalMove(f"column {number} is full")


def _bare(text: str) -> str:
    """Return a text without the Markdown and LaTeX around it."""
    for _ in range(_DEPTH):
        text = text.strip(_MARKS)
        for start, end in _PAIRS:
            if text.startswith(start) and text.endswith(end):
                text = text[len(start) : -len(end)]
    return text


class TextEnv(gymnasium.Env[str, str]):
    """One player of Connect Four in words, against an opponent: a :class:`ConnectFourEnv` in text.

    The observation is the filled template, by default with the board. The action is a text that
    announces a move in the form that the template asks for. An illegal or unreadable action loses
    the game or raises an error, depending on ``illegal``.

    The reward is 1 when the caller wins, -1 when the caller loses, else 0. With
    ``reward="exact"`` the reward is what ``c4env.agents.rewards.keeps`` gives the move, and
    ``info["exact_reward"]`` has it too.

    Info has the keys of :class:`ConnectFourEnv`, and these:

    - ``"legal"``: the legal 1-based columns;
    - ``"moves"``: the columns of a game that leads to the current position;
    - ``"problem"``, only after an illegal or unreadable action: the reason in words.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"]}  # type: ignore[misc]  # Gymnasium has it per instance

    def __init__(
        self,
        opponent: AnyOpponent = None,
        seat: int | str = "random",
        *,
        kind: str = "board",
        illegal: str = "lose",
        reward: str = "result",
        render_mode: str | None = None,
    ) -> None:
        """Make an environment; ``reset()`` starts its first game.

        Args:
            opponent, seat: as for :class:`ConnectFourEnv`.
            kind: a kind of :func:`template`, or your own template with placeholders.
            illegal: ``"lose"`` the game with -1, or ``"raise"`` an error and leave the game as
                it was.
            reward: ``"result"`` of the game, or ``"exact"``: 1 for a move that keeps the win or
                the draw, 0 for a move that gives the win or the draw away, -1 for an illegal or
                unreadable move.
            render_mode: None or ``"ansi"``, the drawn board.
        """
        self._read = reader(kind)
        self._template = kind if _PLACES.search(kind) else template(kind)
        if reward not in REWARDS:
            raise InvalidOption(f"reward={reward!r}: expected one of {list(REWARDS)}")
        self._exact = reward == "exact"
        self._env = ConnectFourEnv(
            opponent, seat, illegal=illegal, exact_reward=self._exact, render_mode=render_mode
        )
        self._lose = illegal == "lose"
        self.render_mode = render_mode
        self.observation_space = spaces.Text(100_000, charset=CHARSET)
        self.action_space = spaces.Text(1_000_000, min_length=0, charset=CHARSET)
        self._moves = ""

    @property
    def np_random(self) -> np.random.Generator:
        """Gymnasium's generator; see :attr:`ConnectFourEnv.np_random`."""
        return self._env.np_random

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._env.np_random = generator

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        return self._env.position

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start a game; an opponent that begins has already moved.

        Args:
            seed, options: as for :meth:`ConnectFourEnv.reset`, which also lists the errors.

        Returns:
            Observation and info; see the class.
        """
        (start,) = starts_in(options or {}) or [Position()]
        moves = moves_in(options or {})
        moves = start.moves() if moves is None else moves  # an error here begins no game
        _, env_info = self._env.reset(seed=seed, options=options)
        super().reset(seed=seed)  # Gymnasium requires a generator; the inner environment draws
        self._moves = moves + _move_between(start, self.position)
        info: dict[str, Any] = {**env_info}
        return self._observe(info), info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the announced move and the opponent's reply.

        Returns:
            Observation, reward, terminated, truncated (never true), info; see the class.

        Raises:
            InvalidAction, IllegalMove: the action is illegal or unreadable, and ``illegal`` is
                ``"raise"``; or the action is not a text.
        """
        if not isinstance(action, str):
            raise InvalidAction(f"{action!r}: expected a text")
        before = self.position
        try:
            column = self._read(action, before)
        except (InvalidAction, IllegalMove) as error:
            if not self._lose or before.outcome is not None:
                raise
            _, reward, over, cut, env_info = self._env.forfeit()
            info: dict[str, Any] = {**env_info, "problem": str(error)}
        else:
            _, reward, over, cut, env_info = self._env.step(column)
            info = {**env_info}
            after = before.play(column)
            self._moves += format_moves([column]) + _move_between(after, self.position)
        if self._exact:
            reward = info["exact_reward"]
        return self._observe(info), reward, over, cut, info

    def render(self) -> Any:
        """Return the drawn board if the render mode is ``"ansi"``."""
        return self._env.render()

    def _observe(self, info: dict[str, Any]) -> str:
        """Return the observation; add the legal columns and the moves to ``info``."""
        over = "winner" in info
        info["legal"] = [] if over else [c + 1 for c in self.position.legal_columns()]
        info["moves"] = self._moves
        if not over:
            return fill(self._template, self.position, self._moves)
        results = {-1: "It is a draw.", info["seat"]: "You won.", 1 - info["seat"]: "You lost."}
        return f"{self.position}\n\nThe game is over. {results[info['winner']]}"


def _move_between(before: Position, after: Position) -> str:
    """Return the 1-based column that leads from one position to the next; "" if they are equal."""
    return format_moves(c for c in before.legal_columns() if before.play(c) == after)
