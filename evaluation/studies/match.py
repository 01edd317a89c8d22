"""A match of two: colour-swapped pairs of games, all of them or until a test has decided."""

from __future__ import annotations

__any_board__ = True

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from c4env.arrays import Float64s
from c4env.cores import usable_cores
from c4env.evaluation.errors import InvalidRun, UnreadableRun
from c4env.evaluation.games.settings import Settings, SettingsByName, takes_settings
from c4env.evaluation.games.tournament import Tournament, play, prepare
from c4env.evaluation.plan.field import Players, name_players
from c4env.evaluation.plan.header import RunHeader, SprtPlan
from c4env.evaluation.plan.openings import Openings, choose_openings
from c4env.evaluation.rating.loss import Loss, LossSprt
from c4env.evaluation.rating.ratings import TAILS, Interval, Rating, Ratings, scores
from c4env.evaluation.rating.sprt import SCORES, Decision, Sprt
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.store.record import GameRecord, read_games
from c4env.evaluation.tables import plural, signed

if TYPE_CHECKING:
    from c4env.evaluation.exact.judge import Judge

Pairs = Float64s
"""``(N, 5)``: of each pair of games the points of the first agent, the value it gave away and its
critical moves, and both of the second; all but the points are not a number where nobody judged."""


@dataclass(frozen=True)
class Match(Tournament):
    """What a match of two found, from the view of the first agent named.

    Its games come in pairs from one opening, none after the pair that decided; its openings are
    those there were to play.

    Attributes:
        pairs: what the test sees of the games (:data:`Pairs`).
        sprt: the test, if the match had one.
    """

    pairs: tuple[tuple[float, ...], ...] = ()
    sprt: Sprt | None = None

    @classmethod
    def of(
        cls, header: RunHeader, games: Sequence[GameRecord], judge: Judge | None = None
    ) -> Match:
        """The match of a run directory's header and games, as :func:`play_match` left it.

        Args:
            header: of the directory.
            games: of the directory.
            judge: says what was given away; a test on that is left out without it.
        """
        one, _ = header.players
        sprt = None
        if header.sprt is not None and (judge is not None or header.sprt.on == "elo"):
            *values, on = header.sprt
            sprt = (LossSprt if on == "loss" else Sprt)(*values)
        found = {game.fixture: game for game in games}
        inside = [found[fixture] for fixture in header.schedule() if fixture in found]
        return cls(header, *_until_decided(inside, sprt, one, judge), sprt)

    @functools.cached_property
    def counts(self) -> tuple[int, ...]:
        """Pairs that brought 0, 1/2, 1, 3/2 and 2 points."""
        kinds = [round(2 * points) for points, *_ in self.pairs]
        return tuple(kinds.count(kind) for kind in range(len(SCORES)))

    @functools.cached_property
    def loss(self) -> Loss | None:
        """Points of value given away per 100 critical moves, if exact play judged the games."""
        pairs = np.array(self.pairs).reshape(-1, 5)
        return None if not len(pairs) or np.isnan(pairs).any() else Loss.of(pairs)

    def course(self) -> list[float]:
        """The test's log likelihood ratio after the first pair, after two, ..."""
        assert self.sprt is not None
        return [*map(float, self.sprt.llr(np.cumsum(self.sprt.of_pairs(self.pairs), 0)))]

    @functools.cached_property
    def decision(self) -> Decision | None:
        """The hypothesis the test accepted, if there was one and it did."""
        if self.sprt is None:
            return None
        return self.sprt.decide(self.sprt.of_pairs(self.pairs).sum(0))

    @functools.cached_property
    def ratings(self) -> Ratings:
        """Elo of both, the second at 0: that of the first is the difference."""
        return self.rate(anchor=(self.players[1], 0))

    @property
    def elo(self) -> Rating:
        """How much stronger the first is."""
        return next(rating for rating in self.ratings if rating.player == self.players[0])

    @property
    def score(self) -> Interval:
        """Points a game of the first, 0..1, and how sure they are."""
        tally = Tally.of(self.games, self.players)
        i = tally.players.index(self.players[0])
        ((score, drawn),) = scores([tally])
        return Interval(float(score[i]), *map(float, np.percentile(drawn[:, i], TAILS)))

    @property
    def measured(self) -> str:
        """The difference that the test is on, as found, with its interval."""
        if self.sprt is not None and self.sprt.on == "loss":
            return (self.loss or Loss.of([])).found()
        elo = self.elo
        return f"{signed(elo.elo)} ({signed(elo.low)} .. {signed(elo.high)})"

    def as_dict(self) -> dict[str, Any]:
        """What :meth:`report` says, for programs; Elo is the difference, the first's view."""
        elo = self.elo
        found: dict[str, Any] = {
            "players": self.players,
            "score": self.score._asdict(),
            "elo": {"value": elo.elo, "low": elo.low, "high": elo.high},
            "pairs": {f"{2 * points:g}": n for points, n in zip(SCORES, self.counts, strict=True)},
            "openings": len(self.openings),
            "loss": None,
            "sprt": None,
        }
        if self.loss is not None:
            found["loss"] = {**self.loss._asdict(), "by_pair": [pair[1:] for pair in self.pairs]}
        if self.sprt is not None:
            test = self.sprt
            found["sprt"] = {
                "on": test.on,
                f"{test.on}0": test.h0,
                f"{test.on}1": test.h1,
                "alpha": test.alpha,
                "beta": test.beta,
                "llr": self.course()[-1] if self.pairs else 0.0,
                "bounds": test.bounds,
                "decision": self.decision,
            }
        return found

    def report(self) -> str:
        """What the test decided, then score and Elo difference, as lines for a terminal."""
        one, other = self.players
        total, score, elo = self.table.total(one), self.score, self.elo
        if not self.games:
            return "\n".join([*self._verdict(), f"{one} against {other}: no games yet."])
        name = "spread" if self.ratings.exact else "95 %"
        pairs = [f"{2 * p:g}: {n}" for p, n in zip(SCORES, self.counts, strict=True)]
        lines = [
            *self._verdict(),
            f"{one} against {other}: {plural(total.wins, 'win')}, {plural(total.draws, 'draw')}, "
            f"{total.losses} {'loss' if total.losses == 1 else 'losses'}",
            f"score {score.value:.1%} ({name}: {score.low:.1%} .. {score.high:.1%}), "
            f"Elo difference {signed(elo.elo)} ({signed(elo.low)} .. {signed(elo.high)})",
            *([] if self.loss is None else [self.loss.shown(one, other)]),
            "pairs of games by points: " + ", ".join(pairs),
            self.ratings.basis(),
            *(self.ratings.caution() if self.sprt is None else ()),
        ]
        return "\n".join(lines)

    def _verdict(self) -> list[str]:
        if self.sprt is None:
            return []
        test, (low, high) = self.sprt, self.sprt.bounds
        ratio = (
            f"Log likelihood ratio {self.course()[-1] if self.pairs else 0:+.2f}, "
            f"bounds {low:+.2f} and {high:+.2f}"
        )
        after = f"after {plural(len(self.pairs), 'pair')}"
        one, other = self.players
        verdict = test.verdict(self.decision, one, other, after, self.measured)
        if self.decision is None and len(self.pairs) < len(self.openings):
            return [verdict, f"{ratio}; the same command goes on."]
        if self.decision is None:
            count = len(self.openings)
            played = "The opening is" if count == 1 else f"All {count} openings are"
            return [
                verdict,
                f"{ratio}.",
                f"{played} played: name more of them, and the test goes on, or hypotheses "
                "further apart.",
            ]
        return [
            verdict,
            f"{ratio}; error rates: {test.alpha:.1%} to accept H1 where H0 "
            f"is true, {test.beta:.1%} to accept H0 where H1 is true.",
            "The match stopped because of its result, so the score leans to that side.",
        ]


@takes_settings
def play_match(
    players: Players,
    openings: Openings = 3,
    sprt: Sprt | None = None,
    judged: bool = False,
    on_pair: Callable[[Float64s], None] | None = None,
    **settings: Unpack[SettingsByName],
) -> Match:
    """Play two agents against each other, each opening with both colours.

    The test is put after each pair, in the order of the openings and not in that of the
    games' ends, so it decides alike for any number of workers and after any interruption.
    More openings for the same ``out`` come after those there: the test goes on with them.

    Args:
        players: two agents, as :func:`evaluation.round_robin` takes them.
        openings: those of the match, shuffled by the seed
            (:func:`c4env.evaluation.plan.openings.choose_openings`).
        sprt: stop as soon as this test is decided; without it, all openings are played.
        judged: find after each pair what both gave away, by exact play; also done for a test
            on that (:class:`c4env.evaluation.rating.loss.LossSprt`). Scores are kept in ``out``.
        on_pair: called after each pair, with its row ``(5,)`` of :data:`Pairs`.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...:
            see :class:`c4env.evaluation.games.settings.Settings`.

    Raises:
        InvalidRun: not two agents, or a bad number.
        UnreadableRun: ``out`` holds something else.
        FileInUse: another process writes to it.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    chosen = Settings.of("play_match", settings)
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    named = name_players(players)
    if len(named) != 2:
        raise InvalidRun(f"{len(named)} agent(s) given: a match is between two")
    one, _ = named
    if sprt is not None:
        starts = _going_on(starts, chosen.out)
    test = None if sprt is None else SprtPlan(sprt.h0, sprt.h1, sprt.alpha, sprt.beta, sprt.on)
    plan = prepare(named, starts, chosen, "match", sprt=test)
    jobs = min(chosen.jobs, usable_cores())
    judging = judge_if(judged or isinstance(sprt, LossSprt), chosen.out)
    with closing(play(plan, ordered=True)) as played, judging as judge:
        games, pairs = _until_decided(played, sprt, one, judge, jobs, on_pair)
    return Match(plan.header, games, pairs, sprt)


def read_run(folder: str | Path) -> Tournament:
    """A run from its directory, finished or not; or the games that people played.

    It is what playing the run returned: a match is a :class:`Match`.

    Raises:
        UnreadableRun: the directory holds something else, or is damaged.
    """
    header, games = read_games(Path(folder))
    if header.kind == "match":
        asked = header.sprt is not None and header.sprt.on == "loss" and bool(games)
        with judge_if(asked, folder) as judge:
            return Match.of(header, games, judge)
    order = {fixture: number for number, fixture in enumerate(header.schedule())}
    return Tournament(header, tuple(sorted(games, key=lambda game: order.get(game.fixture, 0))))


def judge_if(asked: bool, folder: str | Path | None) -> AbstractContextManager[Judge | None]:
    """Exact play as a judge that keeps scores in a folder, or None; it is not for every board."""
    if not asked:
        return nullcontext()
    from c4env.evaluation.exact.judge import Judge

    return Judge(folder)


def _given_away(games: Sequence[GameRecord], one: str, judge: Judge, jobs: int) -> Float64s:
    """``[2, 2]``: points given away and critical moves of one in both games, and of the other."""
    from c4env.evaluation.exact.judge import positions_backwards
    from c4env.evaluation.exact.quality import given_away

    judge.judge(positions_backwards(games), jobs)
    sides = [given_away(g, judge)[:: 1 if g.players[0] == one else -1] for g in games]
    return np.asarray(sides[0] + sides[1])


def _until_decided(
    games: Iterable[GameRecord],
    sprt: Sprt | None,
    one: str,
    judge: Judge | None = None,
    jobs: int = 1,
    on_pair: Callable[[Float64s], None] | None = None,
) -> tuple[tuple[GameRecord, ...], tuple[tuple[float, ...], ...]]:
    """The games up to the pair that decides the test, if there is one, and what it sees of them."""
    taken: list[GameRecord] = []
    pairs: list[tuple[float, ...]] = []
    before: GameRecord | None = None
    sums: Float64s | float = 0.0
    for game in games:
        taken.append(game)
        if before is None or before.opening != game.opening:
            before = game
            continue
        both, before = (before, game), None
        given = np.full((2, 2), np.nan)
        if judge is not None:
            given = _given_away(both, one, judge, jobs)
        pair = np.array([_points(both, one), *given.ravel()])
        pairs.append(tuple(map(float, pair)))
        if on_pair is not None:
            on_pair(pair)
        if sprt is not None:
            sums = sums + sprt.of_pairs(pair)[0]
            if sprt.decide(sums) is not None:
                break
    return tuple(taken), tuple(pairs)


def _going_on(openings: list[str], out: str | Path | None) -> list[str]:
    """The openings of a test that goes on: those it was put to, then the new ones."""
    if out is None:
        return openings
    try:
        header, games = read_games(Path(out))
    except UnreadableRun:  # nothing yet, or opening it for the games says what is wrong
        return openings
    there = header.openings if games else ()
    return openings if {*openings} <= {*there} else list(dict.fromkeys([*there, *openings]))


def _points(games: Sequence[GameRecord], player: str) -> float:
    return sum(game.points[game.players.index(player)] for game in games)
