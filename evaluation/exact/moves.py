"""Measure the quality of agents' moves by the exact scores of all columns.

A move is *critical* if the legal columns differ in result (win, draw or loss). A *blunder* is a
critical move with a worse result than the best column. The *accuracy* of a player is the share of
its critical moves that are not blunders. A move is *optimal* if it has the best score. The *loss*
of a move is the best score minus the move's score. A move is *forced* if only one column is legal.
The other measures leave out forced moves.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Float64s
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.exact.scores import Judge, Scores, positions_in
from c4env.evaluation.ratings.fit import DRAWS, FEW, UNKNOWN, Interval, weights_of
from c4env.evaluation.ratings.tally import FORFEIT_KINDS
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.tables import Column, Result, Table, plural, rounded
from c4env.position import DIGITS
from c4env.rules import CELLS, sign
from c4env.system import one_thread

BAND: Final = 7  # plies per band, so that a game has six bands
SENTENCES: Final = 4
"""The most players that get a sentence each; with more players, only the best gets one."""
TERMS: Final = (
    "moves", "forced", "critical", "blunders", "optimal", "loss", "given_away",
    "unanswered", "asked_again",
)  # fmt: skip
"""What a move adds to the sums of its group. An estimate is the quotient of two sums."""


class JudgedMove(NamedTuple):
    """A move, and the exact scores of all columns for the player who made it."""

    player: str
    group: str  #: the unit that the bootstrap resamples: the opening, or the position
    ply: int  #: discs on the board before the move: 0 for the first player's first move
    column: int  #: 0-based
    scores: Scores
    asked_again: int = 0  #: times that a language model was asked again
    fault: str = ""  #: how and why there was no answer; ``column`` is then the worst column

    @property
    def best(self) -> int:
        """The greatest score of any column."""
        return max(s for s in self.scores if s is not None)

    @property
    def loss(self) -> int:
        """The best score minus the move's own score."""
        score = self.scores[self.column]
        assert score is not None  # a played column is not full
        return self.best - score

    @property
    def forced(self) -> bool:
        """Whether only one column was legal."""
        return sum(s is not None for s in self.scores) == 1

    @property
    def critical(self) -> bool:
        """Whether the legal columns differ in result: win, draw or loss."""
        return len({sign(s) for s in self.scores if s is not None}) > 1

    @property
    def given_away(self) -> float:
        """The points given away: 1/2 from a win to a draw or a draw to a loss, 1 from a win."""
        return (sign(self.best) - sign(self.best - self.loss)) / 2

    @property
    def blunder(self) -> bool:
        """Whether the move turned a win into a draw or a loss, or a draw into a loss."""
        return self.given_away > 0

    def terms(self) -> dict[str, float]:
        """What the move adds to each of the sums of its group: ``TERMS``."""
        answers = {"unanswered": bool(self.fault), "asked_again": self.asked_again}
        if self.forced:
            return {**dict.fromkeys(TERMS, 0.0), "forced": 1, **answers}
        return {
            "moves": 1,
            "forced": 0,
            "critical": self.critical,
            "blunders": self.blunder,
            "optimal": self.loss == 0,
            "loss": self.loss,
            "given_away": self.given_away,
            **answers,
        }


def judge_games(
    games: Sequence[GameRecord], judge: Judge, players: Collection[str] | None = None
) -> list[JudgedMove]:
    """Judge the moves of some games, except the opening moves.

    The bootstrap resamples groups of moves. The group of a move is its opening, or its game if all
    games have the same opening. With ``players``, only the moves of these players are judged. To
    save time, first call :meth:`Judge.judge`, which uses all cores.
    """
    alike = len({game.opening for game in games}) < 2
    moves = []
    for number, game in enumerate(games):
        group = f"game {number}" if alike else game.opening
        for position in positions_in(game):
            ply = position.plies
            player, column = game.players[ply & 1], DIGITS.index(game.moves[ply])
            if players is None or player in players:
                moves.append(JudgedMove(player, group, ply, column, judge.scores(position)))
    return moves


class MoveQuality(NamedTuple):
    """The quality of a player's moves, or of a selection of the moves."""

    player: str
    moves: int  #: moves with a choice
    forced: int  #: moves with one legal column; the other fields do not count these moves
    critical: int
    blunders: int
    given_away: float  #: points: 1 from a win to a loss, 1/2 if the result was or is a draw
    optimal: Interval  #: share of the moves
    accuracy: Interval  #: share of the critical moves that keep the win or the draw
    loss: Interval  #: mean loss, in points of the score
    unanswered: int = 0  #: positions without an answer, forced or not, judged as the worst column
    asked_again: int = 0  #: times that a language model was asked again


QUALITY_COLUMNS: Final = (
    Column("player"),
    Column("accuracy", ".1%"),
    Column("optimal", ".1%"),
    Column("giving_away", ".1%", lambda q: q.blunders / q.moves if q.moves else math.nan),
    Column("loss", ".2f"),
    *map(Column, ("moves", "critical", "blunders", "forced")),
)
"""The columns of move quality; see :class:`MoveQuality`."""


@dataclass(frozen=True)
class Quality(Result):
    """The judged moves of several players.

    Attributes:
        moves: the judged moves.
        players: names in the order of the tables; by default the greatest accuracy comes first.
        unit: plural noun for the groups of moves that the bootstrap resamples.
        seed: seed of the bootstrap; all players share the samples.
        notes: lines below the tables.

    Example:
        >>> judged = quality("perfect", count=10)
        >>> judged.moves[0].column, judged.moves[0].scores
        (2, (-2, -2, 0, -2, 0, -2, -2))
    """

    moves: tuple[JudgedMove, ...]
    players: tuple[str, ...] = ()
    unit: str = "openings"
    seed: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_integer("seed", self.seed, 0, "an integer of 0 or more")
        if not self.moves:
            raise InvalidOption("no moves to judge: expected games with at least one move")
        if not self.players:
            names = tuple(dict.fromkeys(move.player for move in self.moves))
            object.__setattr__(self, "players", names)
            ranked = sorted(self.overall(), key=_place)
            object.__setattr__(self, "players", tuple(q.player for q in ranked))

    @classmethod
    def of_games(cls, games: Sequence[GameRecord], judge: Judge, seed: int = 0) -> Quality:
        """Judge the moves of games (``judge_games``)."""
        alike = len({game.opening for game in games}) < 2
        moves = judge_games(games, judge)
        return cls(tuple(moves), unit="games" if alike else "openings", seed=seed)

    def overall(self) -> list[MoveQuality]:
        """Return a row for each player, over all of its moves."""
        return [self.slice(player) for player in self.players]

    def slice(
        self,
        player: str,
        colour: int | None = None,
        plies: tuple[int, int] | None = None,
        group: str | None = None,
    ) -> MoveQuality:
        """Return the quality of a selection of a player's moves.

        Args:
            player: a judged player.
            colour: 0 for moves as the first player, 1 as the second player, None for both.
            plies: first and last number of discs on the board before the move; None for all.
            group: only moves of this group; None for all.

        Raises:
            InvalidOption: the player was not judged.
        """
        sums = self._sums(player, colour, plies, group)
        counts = ("moves", "forced", "critical", "blunders", "unanswered", "asked_again")
        return MoveQuality(
            player=player,
            **{name: int(sums[name].sum()) for name in counts},
            given_away=float(sums["given_away"].sum()),
            optimal=self._estimate(sums["optimal"], sums["moves"]),
            accuracy=_rest(self._estimate(sums["blunders"], sums["critical"])),
            loss=self._estimate(sums["loss"], sums["moves"], most=None),
        )

    def _sums(
        self,
        player: str,
        colour: int | None = None,
        plies: tuple[int, int] | None = None,
        group: str | None = None,
    ) -> dict[str, Float64s]:
        """Sum each of ``TERMS`` over a selection of a player's moves, by group."""
        if player not in self._terms:
            raise InvalidOption(
                f"player {player!r} was not judged: expected {', '.join(self._terms)}"
            )
        terms = self._terms[player]
        first, last = plies or (0, CELLS)
        chosen = (terms["ply"] >= first) & (terms["ply"] <= last)
        if colour is not None:
            chosen &= terms["ply"] % 2 == colour
        if group is not None:
            chosen &= terms["group"] == self._groups.get(group, -1)
        groups, count = terms["group"][chosen], len(self._groups)
        weights = {name: terms[name][chosen] for name in TERMS}
        return {name: np.bincount(groups, w, count).astype(float) for name, w in weights.items()}

    @functools.cached_property
    def _groups(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(dict.fromkeys(m.group for m in self.moves))}

    @functools.cached_property
    def _terms(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The N moves of each player as named arrays ``[N]``: group, ply, and ``TERMS``."""
        rows: dict[str, list[dict[str, float]]] = {}
        for move in self.moves:
            row = {"group": self._groups[move.group], "ply": move.ply, **move.terms()}
            rows.setdefault(move.player, []).append(row)
        return {
            player: {name: np.array([row[name] for row in moves]) for name in moves[0]}
            for player, moves in rows.items()
        }

    def _estimate(self, above: Float64s, below: Float64s, most: float | None = 1.0) -> Interval:
        """Return the quotient of the sums of groups, with its interval.

        ``most`` is the greatest quotient of a group; None is twice the greatest that occurred.
        """
        above, below = above[below > 0], below[below > 0]
        groups = len(below)
        if not groups:
            return UNKNOWN
        value = float(above.sum() / below.sum())
        if groups < 2:
            return Interval(value, math.nan, math.nan)
        weights, more = resampled(groups, self.seed)
        with one_thread():
            over, under = weights @ above, weights @ below
        if groups <= FEW or value in (0, 1):
            # The groups differ too little. Add another group, of the least or of the greatest mean.
            most = 2 * (above / below).max() if most is None else most
            over, under = over + more[0] * most * below.mean(), under + more.sum(0) * below.mean()
        return Interval.of(value, over / under)

    def sentence(self) -> str:
        """The accuracy of each player and where it loses most; with many players, only the best's.

        Positions without an answer come first, because they decide places.
        """
        shown = self.players if len(self.players) <= SENTENCES else self.players[:1]
        return "\n".join([*map(self._failures_of, self._faults), *map(self._in_words, shown)])

    @functools.cached_property
    def _faults(self) -> dict[str, list[JudgedMove]]:
        """The positions without an answer, by player."""
        faults: dict[str, list[JudgedMove]] = {}
        for move in self.moves:
            if move.fault:
                faults.setdefault(move.player, []).append(move)
        return faults

    def _endings(self, player: str) -> Counter[str]:
        """How a player failed to answer, as the endings of forfeited games."""
        return Counter(move.fault.partition(":")[0] for move in self._faults.get(player, ()))

    def _failures_of(self, player: str) -> str:
        counts = ", ".join(f"{n} {ending}" for ending, n in sorted(self._endings(player).items()))
        asked = sum(move.player == player for move in self.moves)
        return (
            f"{player} gave no answer in {len(self._faults[player])} of "
            f"{plural(asked, 'position')} ({counts}), judged as the worst column, for example: "
            f"{self._faults[player][0].fault}"
        )

    def _in_words(self, player: str) -> str:
        whole = self.slice(player)
        moves = f"over its {plural(whole.critical, 'critical move')}"
        if not whole.critical:
            return f"{player} had no critical move."
        if not whole.blunders:
            return f"{player} has an accuracy of 100% {moves}."
        share, least, most = (rounded(value, ".0%") for value in whole.accuracy)
        ends = "" if math.isnan(whole.accuracy.low) else f" (95 %: {least} .. {most})"
        failed = sum(move.blunder and not move.forced for move in self._faults.get(player, ()))
        without = f" {failed} of these blunders are positions without an answer." if failed else ""
        parts = {band: self.slice(player, plies=band) for band in bands(BAND)}
        worst = max(parts, key=lambda band: parts[band].given_away)
        return (
            f"{player} has an accuracy of {share} {moves}{ends}; it loses most at "
            f"{band_name(worst)}: {parts[worst].blunders} of its "
            f"{plural(whole.blunders, 'blunder')}.{without}"
        )

    def tables(self) -> dict[str, Table]:
        """A table of all moves, and a table of the accuracy by colour and by ply."""
        return {
            "overall": Table([*QUALITY_COLUMNS, *self._counts()], self.overall()),
            "accuracies": self.accuracies(),
        }

    def _counts(self) -> list[Column]:
        """Return the columns for missing answers, by kind, and for answers asked again."""

        def column(kind: str) -> Column:
            endings = FORFEIT_KINDS[kind]
            return Column(kind, of=lambda q: sum(self._endings(q.player)[e] for e in endings))

        failed = set[str]().union(*map(self._endings, self._faults))
        columns = [Column("unanswered")] if failed else []
        columns += [column(kind) for kind, endings in FORFEIT_KINDS.items() if failed & {*endings}]
        again = any(move.asked_again for move in self.moves)
        return [*columns, *([Column("asked_again")] if again else [])]

    def accuracies(self) -> Table:
        """A row for each player: its accuracy by colour and by ply."""
        slices: dict[str, tuple[int | None, tuple[int, int] | None]]
        slices = {"first": (0, None), "second": (1, None)}
        slices |= {band_name(band): (None, band) for band in bands(BAND)}
        columns = [Column("accuracy of", of=str)]
        for name, (colour, plies) in slices.items():
            sums = {player: self._sums(player, colour, plies) for player in self.players}
            shares = {
                player: 1 - float(terms["blunders"].sum() / terms["critical"].sum())
                for player, terms in sums.items()
                if terms["critical"].any()
            }
            if shares:  # without intervals, because a bootstrap takes time
                columns.append(Column(name, ".1%", shares.get))
        if self._faults:
            unanswered = {player: len(self._faults.get(player, ())) for player in self.players}
            columns.append(Column("unanswered", of=unanswered.get))
        return Table(columns, self.players)

    def summary(self) -> str:
        """The number of moves, and the unit of the intervals."""
        overall = self.overall()
        moves, forced = sum(q.moves for q in overall), sum(q.forced for q in overall)
        intervals = f"95 % intervals over {len(self._groups)} {self.unit}"
        if all(math.isnan(q.loss.low) for q in overall):
            intervals = f"no intervals, which need at least 2 {self.unit} of a player"
        line = f"{plural(moves, 'move')} and {forced} forced; {intervals}."
        return "\n".join([line, *self.notes])

    def facts(self) -> dict[str, Any]:
        """What the bootstrap resamples."""
        return {"groups": {"unit": self.unit, "count": len(self._groups)}}


@functools.lru_cache(maxsize=4)
def resampled(units: int, seed: int) -> tuple[Float64s, Float64s]:
    """Return bootstrap weights ``[DRAWS, units]``, and weights ``[2, DRAWS]`` of one more unit.

    The second weights belong to the two halves of that unit. In one half a player does its worst,
    in the other half its best.
    """
    generator = np.random.default_rng([seed, units])
    weights = weights_of(np.ones(units, dtype=np.bool_), generator)
    return weights, generator.standard_gamma(0.5, (2, DRAWS))


def _place(quality: MoveQuality) -> tuple[bool, list[float]]:
    """Return a player's sort key: the greatest accuracy first, then the least mean loss."""
    parts = [*_rest(quality.accuracy), *quality.loss]
    return math.isnan(parts[0]), [-math.inf if math.isnan(part) else part for part in parts]


def _rest(share: Interval) -> Interval:
    """Return 1 minus a share."""
    return Interval(1 - share.value, 1 - share.high, 1 - share.low)


def bands(width: int) -> list[tuple[int, int]]:
    """Return ranges of ``width`` plies that cover a game, both ends included."""
    return [(first, min(first + width, CELLS) - 1) for first in range(0, CELLS, width)]


def band_name(band: tuple[int, int]) -> str:
    """Return the name of a range of plies, such as ``ply 0-6``."""
    return f"ply {band[0]}-{band[1]}"
