"""Explain an agent's losses by colour, by opening, by ply, and by its costliest moves.

A blunder turns a win into a draw or a draw into a loss (cost: half a point), or a win into a loss
(cost: one point). Blunders count as one mistake if their positions and moves are equal or mirror
images.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from c4env.bitboard import CELLS, COLUMNS, discs_at_end, sign, winning_moves
from c4env.errors import InvalidOption
from c4env.evaluation.exact.moves import (
    BAND,
    JudgedMove,
    MoveQuality,
    Quality,
    band_name,
    bands,
    judge_games,
)
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.ratings.tally import WinTable
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.tables import Column, Result, Table, plural
from c4env.openings import canonical
from c4env.position import DIGITS, Position, format_moves
from c4env.render import SIDES, drawing, words_of

SHOWN: Final = 10  # mistakes shown with their positions
OPENINGS_SHOWN: Final = 5  # openings listed, the costliest first
OTHERS: Final = ""  # the name that all opponents of the agent share
MISSED_WIN, MISSED_BLOCK, OPENED_WIN, DEEPER, ENDGAME = KINDS = (
    "missed win", "missed block", "opened a win", "deeper", "endgame",
)  # fmt: skip
"""Kinds of mistakes, in the same order:

- A winning disc was not played.
- A winning disc of the opponent was not blocked.
- The move lets the opponent win on top of it.
- Best play ends the game later.
- Best play ends within the last six discs of the board, where sides run out of safe columns.
"""


class Mistake(NamedTuple):
    """A move that gives away a win or a draw, and how often an agent played it."""

    moves: str  # 1-based columns that led to the position in the first game with the mistake
    column: int  # the column played in that game, 0-based
    best: tuple[int, ...]  # the columns with the best score, 0-based
    score: int  # the score of the best columns, for the mover
    own: int  # the score of the move, for the mover
    games: tuple[int, ...]  # indices in the run; a game with the blunder twice is here twice

    @property
    def cost(self) -> float:
        """The points that the mistake gave away, summed over all games."""
        return len(self.games) * (sign(self.score) - sign(self.own)) / 2

    @property
    def kind(self) -> str:
        """One of :data:`KINDS`."""
        plies, position = len(self.moves), Position.parse(self.moves)
        if self.score > 0 and discs_at_end(plies, self.score) == plies + 1:
            return MISSED_WIN
        if self.own < 0 and discs_at_end(plies, self.own) == plies + 2:
            return MISSED_BLOCK if winning_moves(position.theirs, position.mine) else OPENED_WIN
        # Exact play shows the mistake with the win that was missed, or with the loss.
        end = min(discs_at_end(plies, score) for score in (self.score, self.own) if score)
        return DEEPER if end <= CELLS - 6 else ENDGAME

    def describe(self) -> str:
        """Describe the mistake: its kind, its cost, the score of the move and the best score."""
        columns = " or ".join(format_moves(self.best))
        own, best = (words_of(score, len(self.moves)) for score in (self.own, self.score))
        cost = f"{self.cost:g} {'point' if self.cost == 1 else 'points'}"
        times = f"{plural(len(self.games), 'time')}, first in game {self.games[0] + 1}"
        played = f"column {DIGITS[self.column]} {own}"
        return f"{self.kind}, {cost}, {times}: {played}; best {columns}: {best}."


class FirstLoss(NamedTuple):
    """The games of an agent whose first losing move is of one kind.

    A losing move is a blunder after which exact play loses. A ply is the number of discs on the
    board before the move. A game of the agent against itself counts twice.
    """

    kind: str  # one of KINDS, "any", or "none"
    games: int
    ply: float | None = None  # the median over the games
    earliest: int | None = None  # the least ply
    game: int | None = None  # index in the run of the game with the least ply


class Part(NamedTuple):
    """A group of an agent's games or moves, and the moves of its opponents in the same games."""

    where: str
    games: int | None  # None if the part is a band of plies
    score: float | None  # points per game, 0..1
    own: MoveQuality  # of the agent's moves
    opponents: float  # the accuracy of the opponents; nan without a critical move
    forfeits: int | None = None  # games that the agent forfeited, which its score includes


PART_COLUMNS: Final = (
    Column("where"),
    Column("games"),
    Column("score", ".1%"),
    Column("critical", of=lambda part: part.own.critical),
    Column("blunders", of=lambda part: part.own.blunders),
    Column("given_away", ".1f", lambda part: part.own.given_away),
    Column("accuracy", ".1%", lambda part: part.own.accuracy.value),
    Column("opponents", ".1%"),
)
"""The columns of :class:`Part`; "given_away" is in points."""

FIRST_LOSS_COLUMNS: Final = (
    *map(Column, ("kind", "games", "ply", "earliest")),
    Column("game", of=lambda loss: None if loss.game is None else loss.game + 1),
)
"""The columns of :class:`FirstLoss`; games count from 1."""

MISTAKE_COLUMNS: Final = (
    Column("moves"),
    Column("column", of=lambda m: DIGITS[m.column]),
    Column("kind"),
    Column("best", of=lambda m: format_moves(m.best)),
    Column("score"),
    Column("own"),
    Column("times", of=lambda m: len(m.games)),
    Column("cost"),
    Column("game", of=lambda m: m.games[0] + 1),
)
"""The columns of :class:`Mistake`; columns and games count from 1."""


@dataclass(frozen=True)
class Mistakes(Result):
    """The points that an agent gave away, by colour, opening and ply, and its mistakes.

    Attributes:
        player: the agent's name.
        parts: a row for all games, then rows for colours, openings (costliest first) and plies.
        mistakes: first missed wins, missed blocks and opened wins, then deeper mistakes, then
            mistakes of the endgame. The costliest mistake of each group comes first.
        left_out: the number of openings that ``parts`` leaves out.
        forfeits: a sentence on the forfeited games.
        first_losses: a row for the games with a losing move ("any"), a row for each kind of the
            first one, and a row for the games without ("none").
    """

    player: str
    parts: tuple[Part, ...]
    mistakes: tuple[Mistake, ...]
    left_out: int = 0
    forfeits: tuple[str, ...] = ()
    first_losses: tuple[FirstLoss, ...] = ()

    @classmethod
    def of(cls, games: Sequence[GameRecord], player: str, judge: Judge) -> Mistakes:
        """Find the mistakes of an agent in some games.

        Args:
            games: games of a run, in the order of the run.
            player: the agent's name in the games.
            judge: the source of exact scores; it solves positions that it does not know.

        Raises:
            InvalidOption: the agent is not in the games, or never chose a column.
        """
        names = dict.fromkeys(name for game in games for name in game.players)
        if player not in names:
            raise InvalidOption(f"agent {player!r} is not in the run: expected {', '.join(names)}")
        numbers = [n for n, game in enumerate(games) if player in game.players]
        judged = [(n, move) for n in numbers for move in _judged(games[n], player, judge)]
        moves = [(n, move) for n, move in judged if move.player == player]
        if not moves:
            raise InvalidOption(f"agent {player!r} chose no column in these games")
        sides = tuple({move.player: None for _, move in judged})
        quality = Quality(tuple(move for _, move in judged), sides)
        played = [games[n] for n in numbers]
        parts, left_out = _parts(played, quality, player)
        forfeits = tuple(WinTable.of(played).reasons_of_forfeits())
        mistakes, losses = _grouped(games, moves), tuple(_first_losses(games, moves))
        return cls(player, tuple(parts), mistakes, left_out, forfeits, losses)

    def tables(self) -> dict[str, Table]:
        """A row for each mistake, for each part, and for each kind of first losing move."""
        forfeits = [Column("forfeits")] if any(part.forfeits for part in self.parts) else []
        return {
            "mistakes": Table(MISTAKE_COLUMNS, self.mistakes),
            "parts": Table([*PART_COLUMNS, *forfeits], self.parts),
            "first_losses": Table(FIRST_LOSS_COLUMNS, self.first_losses),
        }

    def summary(self) -> str:
        """The numbers of blunders by kind, and what the tables leave out."""
        counts = Counter(mistake.kind for mistake in self.mistakes for _ in mistake.games)
        lines = [f"Blunders by kind: {', '.join(f'{kind} {counts[kind]}' for kind in KINDS)}."]
        if not self.mistakes:
            lines = [f"No move of {self.player} gave anything away."]
        if self.left_out:
            lines.append(f"Not shown: {plural(self.left_out, 'opening')} that cost no more.")
        return "\n".join([*lines, *self.forfeits])

    def text(self) -> str:
        """The table, and the costliest mistakes with drawings of their positions."""
        parts = [self.tables()["parts"].as_text(), self.summary()]
        if self.mistakes:
            shown = plural(min(len(self.mistakes), SHOWN), "move")
            more = f", of {len(self.mistakes)} (--format csv has all)"
            more = more if len(self.mistakes) > SHOWN else ""
            order = "deeper and endgame mistakes last, the costliest first"
            parts.append(f"The {shown} of {self.player} to fix{more}: {order}")
        for place, mistake in enumerate(self.mistakes[:SHOWN], 1):
            position, moves = Position.parse(mistake.moves), mistake.moves
            last = DIGITS.index(moves[-1]) if moves else None
            board = drawing(position, last, colour=True).replace("\n", "\n   ")
            page = f"--html page: #game={mistake.games[0] + 1}&ply={len(moves)}"
            turn = f"{SIDES[position.to_move]} to move; {page}\n    c4 solve {moves or '-'}"
            parts.append(f"{place}. {mistake.describe()}\n   {board}    {turn}")
        return "\n\n".join(parts)

    def facts(self) -> dict[str, Any]:
        """The agent's name, which JSON shows beside the tables."""
        return {"player": self.player}


def _judged(game: GameRecord, player: str, judge: Judge) -> list[JudgedMove]:
    """Judge a game's moves; the group of a move is the opening; opponents share one name."""
    return [
        move._replace(group=game.opening, player=player if move.player == player else OTHERS)
        for move in judge_games([game], judge)
    ]


def _parts(games: Sequence[GameRecord], quality: Quality, player: str) -> tuple[list[Part], int]:
    """Return the parts of :class:`Mistakes`, and the number of openings that they leave out."""
    parts = [_part("all games", games, quality, player)]
    for colour, where in enumerate(("moving first", "moving second")):
        if some := [game for game in games if game.players[colour] == player]:
            parts.append(_part(where, some, quality, player, colour=colour))
    openings = defaultdict[str, list[GameRecord]](list)
    for game in games:
        openings[game.opening].append(game)
    left_out = 0
    if len(openings) > 1:
        by_opening = [
            _part(f"opening {opening or '-'}", some, quality, player, group=opening)
            for opening, some in openings.items()
        ]
        by_opening.sort(key=lambda part: (-part.own.given_away, part.score or 0.0))
        parts += by_opening[:OPENINGS_SHOWN]
        left_out = len(by_opening[OPENINGS_SHOWN:])
    for band in bands(BAND):
        part = _part(band_name(band), [], quality, player, plies=band)
        if part.own.moves + part.own.forced:
            parts.append(part)
    return parts, left_out


def _part(
    where: str, games: Sequence[GameRecord], quality: Quality, player: str, **selection: Any
) -> Part:
    own = quality.slice(player, **selection)
    seats = [selection["colour"]] if "colour" in selection else [0, 1]
    if len(seats) == 1:
        selection["colour"] = 1 - seats[0]
    opponents = math.nan
    if OTHERS in quality.players:
        opponents = quality.slice(OTHERS, **selection).accuracy.value
    counted = [game for game in games if game.counted]
    points = [game.points[s] for game in counted for s in seats if game.players[s] == player]
    score = sum(points) / len(points) if points else None
    lost = [game.players[game.forfeited_by] for game in counted if game.forfeited_by is not None]
    forfeits = lost.count(player) if counted else None
    return Part(where, len(counted) or None, score, own, opponents, forfeits)


def _mistake(games: Sequence[GameRecord], n: int, move: JudgedMove) -> Mistake:
    """Return the blunder of game ``n``."""
    best = tuple(c for c, score in enumerate(move.scores) if score == move.best)
    before = games[n].moves[: move.ply]
    return Mistake(before, move.column, best, move.best, move.best - move.loss, (n,))


def _first_losses(
    games: Sequence[GameRecord], moves: Sequence[tuple[int, JudgedMove]]
) -> Iterator[FirstLoss]:
    """Yield the rows of :class:`FirstLoss` of numbered moves, which are in order."""
    found: dict[tuple[int, int], Mistake] = {}
    for n, move in moves:
        if move.blunder and move.best - move.loss < 0:
            found.setdefault((n, move.ply & 1), _mistake(games, n, move))
    for kind in ("any", *KINDS):
        some = [mistake for mistake in found.values() if kind in ("any", mistake.kind)]
        if not some:
            yield FirstLoss(kind, 0)
            continue
        plies = [len(mistake.moves) for mistake in some]
        (game,) = some[plies.index(min(plies))].games
        yield FirstLoss(kind, len(some), statistics.median(plies), min(plies), game)
    yield FirstLoss("none", len({(n, move.ply & 1) for n, move in moves}) - len(found))


def _grouped(
    games: Sequence[GameRecord], moves: Sequence[tuple[int, JudgedMove]]
) -> tuple[Mistake, ...]:
    """Group the blunders among numbered moves, mirror images together.

    Deeper mistakes and mistakes of the endgame come last. In each group the costliest come first.
    """
    mistakes: dict[tuple[Position, int], Mistake] = {}
    for n, move in moves:
        if move.blunder:
            new = _mistake(games, n, move)
            position = Position.parse(new.moves)
            image, mirrored = canonical(position), COLUMNS - 1 - move.column
            column = move.column if image == position else mirrored
            if position == position.mirror():
                column = min(move.column, mirrored)
            mistake = mistakes.get((image, column), new._replace(games=()))
            mistakes[image, column] = mistake._replace(games=(*mistake.games, n))

    def place(mistake: Mistake) -> tuple[int, float, int, str]:
        group = max(KINDS.index(OPENED_WIN), KINDS.index(mistake.kind))
        return group, -mistake.cost, mistake.own - mistake.score, mistake.moves

    return tuple(sorted(mistakes.values(), key=place))
