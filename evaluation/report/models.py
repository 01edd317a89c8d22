"""The language models of a run: answers, tokens, and blunders by ply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from c4env.evaluation.exact.quality import Quality, nested
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.store.transcripts import Spoken
from c4env.evaluation.tables import Rows, Tables, shortened, with_heading
from c4env.position import DIGITS

LONGEST: Final = 4000  # the most characters of a message on the page


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


def model_rows(games: Sequence[GameRecord], spoken: Iterable[Spoken]) -> list[ModelRow]:
    """Make a row for each player that is a language model, ordered by their first answers.

    Args:
        games: the finished games of the run; answers in unfinished games do not count.
        spoken: the prompts and answers of the run.
    """
    over = {game.fixture for game in games}
    rows: dict[str, ModelRow] = {}
    for each in spoken:
        if each.fixture not in over:
            continue
        said, row = each.exchange, rows.setdefault(each.player, ModelRow(each.player))
        row.answers += 1
        row.unreadable += said.fault == "unreadable"
        row.illegal += said.fault == "illegal"
        row.again += said.attempt > 0
        row.seconds += said.seconds
        asked, answered = said.tokens or (0, 0)
        row.asked_tokens += asked
        row.answered_tokens += answered
    for row in rows.values():
        row.games = sum(row.player in game.players for game in games)
    return list(rows.values())


@dataclass(frozen=True)
class Models(Tables):
    """The results of a run's language models; ``quality`` is None if their moves are not judged."""

    rows: Sequence[ModelRow]
    quality: Quality | None = None

    def tables(self) -> list[Rows]:
        """Tables of answers and tokens, and of blunders by ply."""
        answers = [["language model", "games", "answers", "unreadable", "illegal", "asked again"]]
        answers[0] += ["tokens asked a game", "answered", "s an answer"]
        for row in self.rows:
            counts = [row.games, row.answers, row.unreadable, row.illegal, row.again]
            tokens = [f"{n / row.games:.0f}" for n in (row.asked_tokens, row.answered_tokens)]
            seconds = f"{row.seconds / row.answers:.3g}"
            answers.append([row.player, *map(str, counts), *tokens, seconds])
        return [answers, *([self.quality.rates()] if self.quality is not None else [])]

    def summary(self) -> str:
        """Return "", because the tables have no notes."""
        return ""

    def records(self) -> Rows:
        """A row for each model, with sums over its games."""
        return with_heading([dict(vars(row)) for row in self.rows])

    def as_dict(self) -> dict[str, Any]:
        """The whole result as plain Python objects, with blunders by ply if moves were judged."""
        return {"models": self.by_model()}

    def by_model(self) -> list[dict[str, Any]]:
        """A dictionary for each model, with sums over its games."""
        found = []
        for row in self.rows:
            values = dict(vars(row))
            if self.quality is not None:
                mine = (q for q in self.quality.by_ply() if q.player == row.player)
                values["by_ply"] = [nested(q) for q in mine]
            found.append(values)
        return found


def conversations(
    games: Sequence[GameRecord], spoken: Iterable[Spoken]
) -> dict[int, list[list[Any]]]:
    """Return the prompts and answers in each game for the page, keyed by the game's index.

    Each item has the ply of the move, the prompt as pairs of role and text, the answer, the 1-based
    column or None, the problem, tokens and seconds. A repeated prompt has only its last message.
    """
    where = {game.fixture: number for number, game in enumerate(games)}
    found: dict[int, list[list[Any]]] = {}
    for each in spoken:
        if each.fixture not in where:
            continue
        said = each.exchange
        new = said.messages[-1:] if said.attempt else said.messages
        found.setdefault(where[each.fixture], []).append(
            [
                len(said.moves),
                [[shortened(m.get(k, ""), LONGEST) for k in ("role", "content")] for m in new],
                shortened(said.answer, LONGEST),
                None if said.column is None else DIGITS[said.column],
                said.problem,
                said.tokens,
                said.seconds,
            ]
        )
    return found
