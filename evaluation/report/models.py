"""The language models of a run: answers, tokens and blunders for tables, messages for the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from c4env.evaluation.exact.moves import Quality
from c4env.evaluation.store.run_files import GameRecord
from c4env.evaluation.store.transcripts import Spoken
from c4env.evaluation.tables import Column, Result, Table, shortened
from c4env.position import DIGITS

LONGEST: Final = 4000  # characters of a message on the page


@dataclass
class ModelRow:
    """The counts of one player's answers in finished games."""

    player: str
    games: int = 0
    answers: int = 0
    unreadable: int = 0
    illegal: int = 0
    again: int = 0  # answers to repeated questions
    asked_tokens: int = 0
    answered_tokens: int = 0
    seconds: float = 0.0


MODEL_COLUMNS: Final = (
    Column("language model", of=lambda row: row.player),
    *map(Column, ("games", "answers", "unreadable", "illegal", "again")),
    Column("asked_tokens", ".0f", lambda row: row.asked_tokens / row.games),
    Column("answered_tokens", ".0f", lambda row: row.answered_tokens / row.games),
    Column("seconds", ".3g", lambda row: row.seconds / row.answers),
)
"""The columns of language models; tokens are per game, seconds per answer."""


def model_rows(games: Sequence[GameRecord], spoken: Iterable[Spoken]) -> list[ModelRow]:
    """Make a row for each player that is a language model, ordered by their first answers.

    Args:
        games: the finished games of the run; answers in unfinished games do not count.
        spoken: the prompts and answers of the run.
    """
    finished = {game.fixture for game in games}
    rows: dict[str, ModelRow] = {}
    for answer in spoken:
        if answer.fixture not in finished:
            continue
        exchange, row = answer.exchange, rows.setdefault(answer.player, ModelRow(answer.player))
        row.answers += 1
        row.unreadable += exchange.fault == "unreadable"
        row.illegal += exchange.fault == "illegal"
        row.again += exchange.attempt > 0
        row.seconds += exchange.seconds
        asked, answered = exchange.tokens or (0, 0)
        row.asked_tokens += asked
        row.answered_tokens += answered
    for row in rows.values():
        row.games = sum(row.player in game.players for game in games)
    return list(rows.values())


@dataclass(frozen=True)
class Models(Result):
    """The results of a run's language models; ``quality`` is None if their moves are not judged."""

    rows: Sequence[ModelRow]
    quality: Quality | None = None

    def tables(self) -> dict[str, Table]:
        """``"models"``: answers and tokens; ``"blunder_rates"``, if judged: blunders by ply."""
        tables = {"models": Table(MODEL_COLUMNS, self.rows)}
        return tables if self.quality is None else tables | {"blunder_rates": self.quality.rates()}


def conversations(
    games: Sequence[GameRecord], spoken: Iterable[Spoken]
) -> dict[int, list[dict[str, Any]]]:
    """Return the prompts and answers in each game for the page, keyed by the game's index.

    ``column`` is 1-based, or None. A repeated prompt has only its last message.
    """
    numbers = {game.fixture: number for number, game in enumerate(games)}
    talks: dict[int, list[dict[str, Any]]] = {}
    for answer in spoken:
        if answer.fixture not in numbers:
            continue
        exchange = answer.exchange
        new = exchange.messages[-1:] if exchange.attempt else exchange.messages
        asked, answered = exchange.tokens or (None, None)
        talk = {
            "ply": len(exchange.moves),
            "asked": [
                {key: shortened(m.get(key, ""), LONGEST) for key in ("role", "content")}
                for m in new
            ],
            "answer": shortened(exchange.answer, LONGEST),
            "column": None if exchange.column is None else DIGITS[exchange.column],
            "problem": exchange.problem,
            "asked_tokens": asked,
            "answered_tokens": answered,
            "seconds": exchange.seconds,
        }
        talks.setdefault(numbers[answer.fixture], []).append(talk)
    return talks
