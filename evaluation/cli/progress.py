"""Progress on stderr: a bar on a terminal, a line per minute in a log."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from c4env.evaluation.cli.output import is_terminal, say
from c4env.evaluation.tables import shortened, signed

if TYPE_CHECKING:
    from c4env.evaluation.rating.sprt import Sprt

    from ..exact.scores import Judge
    from ..store.record import GameRecord

EVERY: Final = 60.0  # seconds between the lines in a log, and between standings


def announce_compiling() -> None:
    """Print a message when native code first compiles, to explain the slow start."""
    from c4env.jit import on_compiling

    on_compiling(lambda sentence: say(sentence, sys.stderr))


class Progress:
    """A context that shows the progress on stderr and sends the output of agents there too."""

    def __init__(self, unit: str, quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._bar: Any = None
        self._said = time.monotonic()
        self.before = 0  # done before this command began

    def watch(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` units are finished."""
        if self._bar is None:
            from tqdm import tqdm

            self.before = done
            self._bar = tqdm(
                total=total,
                initial=done,
                unit=f" {self._unit}",
                file=sys.stderr,
                disable=self._quiet or not is_terminal(sys.stderr),
                dynamic_ncols=True,
                leave=False,
            )
        self._bar.update(done - self._bar.n)
        if self._quiet or time.monotonic() - self._said < EVERY:
            return
        self._said = time.monotonic()
        so_far = self.so_far()
        if self._bar.disable:
            say(f"{done} of {total} {self._unit}{so_far and ': '}{so_far}", sys.stderr)
        elif so_far:  # above the bar
            self._bar.write(shortened(so_far, (self._bar.ncols or 80) - 1), file=sys.stderr)

    def so_far(self) -> str:
        """The results so far as one line of text."""
        return ""

    def __enter__(self) -> Self:
        from c4env.evaluation.games.processes import stdout_to_stderr

        self._stdout_to_stderr = stdout_to_stderr()
        self._stdout_to_stderr.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stdout_to_stderr.__exit__(*error)
        if self._bar is not None:
            self._bar.close()


@contextmanager
def judged(
    folder: Path | None,
    games: Sequence[GameRecord],
    quiet: bool,
    players: Collection[str] | None = None,
    jobs: int | None = None,
) -> Iterator[Judge]:
    """A context with a judge that has solved the positions of games.

    Args:
        folder: the run directory, which keeps the scores; None keeps no scores.
        games: the games.
        quiet: show no progress.
        players: solve the positions in which these players move; None solves all.
        jobs: number of threads; None uses all cores.
    """
    from ..exact.scores import Judge, positions_backwards

    with Judge(folder) as judge:
        with Progress("positions", quiet) as progress:
            judge.judge(positions_backwards(games, players), jobs, progress.watch)
        yield judge


class RunProgress(Progress):
    """A context that shows the progress of a run, with the standings so far."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__("games", quiet)
        self._points: dict[str, float] = {}
        self._games: dict[str, int] = {}

    def on_game(self, game: GameRecord) -> None:
        """Add a game to the standings."""
        for player, points in zip(game.players, game.points, strict=True):
            self._points[player] = self._points.get(player, 0) + points
            self._games[player] = self._games.get(player, 0) + 1

    def so_far(self) -> str:
        """Return each agent's points per game in percent, the greatest first."""
        shares = {player: self._points[player] / count for player, count in self._games.items()}
        ordered = sorted(shares, key=lambda player: -shares[player])
        return ", ".join(f"{player} {shares[player]:.0%}" for player in ordered)


class MatchProgress(RunProgress):
    """A context that shows a match's progress: score, Elo and sequential test."""

    def __init__(self, sprt: Sprt | None, quiet: bool = False) -> None:
        super().__init__(quiet)
        self._sprt = sprt
        self._counts = [0] * 5  # pairs by the points of the first agent, 0 to 2 in halves

    def on_pair(self, points: float) -> None:
        """Add a pair of games in which the first agent scored ``points`` (0 to 2)."""
        self._counts[round(2 * points)] += 1
        if self._bar is not None:
            self._bar.set_postfix_str(self.so_far(), refresh=False)

    def so_far(self) -> str:
        """The score and Elo of the first agent, and the test's log likelihood ratio."""
        count = sum(self._counts)
        if not count:
            return ""
        score = sum(kind * pairs for kind, pairs in enumerate(self._counts)) / count / 4
        said = f"score {score:.1%}"
        if 0 < score < 1:
            said += f", Elo {signed(400 * math.log10(score / (1 - score)))}"
        if self._sprt is not None:
            low, high = self._sprt.bounds
            ratio = float(self._sprt.llr(self._counts))
            said += f", LLR {round(ratio, 2) + 0.0:.2f} ({low:.2f} .. {high:.2f})"  # no -0.00
        return said
