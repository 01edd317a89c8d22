"""What a command prints: results on stdout, progress on stderr, pages and figures as files.

    c4 run greedy random > table.txt      the table; what agents print goes to the screen

The progress is a bar on a terminal, and one line per minute in a log. Texts of agents are printed
safely, without control characters. A terminal with colours shows colours.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from c4env.evaluation.tables import Result, for_terminal, shortened, signed

if TYPE_CHECKING:
    from c4env.evaluation.exact.scores import Judge
    from c4env.evaluation.ratings.sprt import Sprt
    from c4env.evaluation.records.game import GameRecord
    from c4env.evaluation.results.tournament import Tournament


LOG_SECONDS: Final = 60.0  # between two lines in a log, and between two standings


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """A context that redirects what agents print to stderr, because stdout is for the result.

    The context also redirects file descriptor 1, because some code does not use ``sys.stdout``.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    stdout = -1
    with suppress(OSError):  # the process may have started without a standard stream
        stdout = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        for stream in (sys.stdout, sys.__stdout__):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()  # type: ignore[union-attr]  # before descriptor 1 is restored
        with suppress(OSError):
            os.dup2(stdout, 1)
            os.close(stdout)


def say(text: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Print a text; escape control characters, since the text may come from an agent.

    Raises:
        BrokenPipeError: nobody reads stdout any more. If nobody reads stderr, the text is lost.
    """
    out = sys.stdout if file is None else file
    with suppress(BrokenPipeError) if out is sys.stderr else nullcontext():
        print(for_terminal(text, in_colour(out)), end=end, file=out, flush=file is not None)


@contextmanager
def reader_may_end() -> Iterator[None]:
    """A context that ignores the end of stdout's reader (as of `head`), so the command goes on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print an error on stderr."""
    say(text, sys.stderr)


def is_terminal(stream: object) -> bool:
    """Whether a stream is a terminal; streams of services and logs may lack ``isatty``."""
    return bool(getattr(stream, "isatty", bool)())


def in_colour(file: TextIO | None = None) -> bool:
    """Whether to use colours: on a terminal with colours, unless NO_COLOR is set."""
    out = sys.stdout if file is None else file
    return is_terminal(out) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(result: Result, arguments: argparse.Namespace) -> None:
    """Print a result in the format of ``--format``."""
    say(getattr(result, arguments.format)())


class Progress:
    """A context that shows the progress on stderr and sends the output of agents there too."""

    def __init__(self, unit: str, quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._bar: Any = None
        self._logged = time.monotonic()
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
        if self._quiet or time.monotonic() - self._logged < LOG_SECONDS:
            return
        self._logged = time.monotonic()
        so_far = self.so_far()
        if self._bar.disable:
            say(f"{done} of {total} {self._unit}{so_far and ': '}{so_far}", sys.stderr)
        elif so_far:  # above the bar
            self._bar.write(shortened(so_far, (self._bar.ncols or 80) - 1), file=sys.stderr)

    def so_far(self) -> str:
        """The results so far as one line of text."""
        return ""

    def __enter__(self) -> Self:
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
    from c4env.evaluation.exact.scores import Judge, positions_backwards

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

    def watch(self, done: int, total: int) -> None:
        """Show the progress; say before the first game what the match can show."""
        if self._bar is None and not self._quiet:
            from c4env.evaluation.ratings.power import prospect

            say(prospect(total // 2, self._sprt), sys.stderr)
        super().watch(done, total)

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
        text = f"score {score:.1%}"
        if 0 < score < 1:
            text += f", Elo {signed(400 * math.log10(score / (1 - score)))}"
        if self._sprt is not None:
            low, high = self._sprt.bounds
            ratio = float(self._sprt.llr(self._counts))
            text += f", LLR {round(ratio, 2) + 0.0:.2f} ({low:.2f} .. {high:.2f})"  # no -0.00
        return text


def show_run(run: Tournament, arguments: argparse.Namespace, before: int) -> None:
    """Print a run's result, write its page, and name the folder of its games.

    Args:
        run: a run that was just played.
        arguments: the command's arguments.
        before: number of games that the directory had before the command.
    """
    with reader_may_end():
        show(run, arguments)
        if arguments.format == "text":
            if before:
                say(f"{before} of the games {'was' if before == 1 else 'were'} stored already")
            if arguments.out is not None:
                say(f"games in {arguments.out}; c4 report {arguments.out} shows all of them")
    write_pages(arguments, run, arguments.out)


def write_pages(
    arguments: argparse.Namespace,
    run: Tournament,
    folder: str | Path | None,
    source: Path | None = None,
) -> None:
    """Write the page of ``--html`` and the figures of ``--plots``, if these options were given.

    Args:
        arguments: the command's arguments, with ``--no-scores`` and ``--quiet``.
        run: a run; without games, nothing is written.
        folder: the run directory, which keeps the exact scores; None keeps no scores.
        source: the games' file or folder, whose name and date the page shows; by default
            ``folder``.
    """
    plots = getattr(arguments, "plots", None)
    if not run.games or not (arguments.html or plots):
        return
    from c4env.evaluation.records.run_folder import GAMES_FILE
    from c4env.evaluation.report.page import contents, page
    from c4env.files import write_whole

    title, seconds = "run", time.time()
    folder = None if folder is None else Path(folder)
    if (shown := source or folder) is not None:
        games = shown / GAMES_FILE
        title = shown.resolve().name
        seconds = (games if games.exists() else shown).stat().st_mtime
    date = time.strftime("%d %B %Y", time.localtime(seconds)).lstrip("0")
    scores = arguments.html and not arguments.no_scores  # figures show no scores
    with judged(folder, run.games, arguments.quiet) if scores else nullcontext() as judge:
        content = contents(run, judge, title, date)
    if arguments.html:
        write_whole(arguments.html, page(content))
        say(f"page in {arguments.html}", sys.stderr)
    if plots:
        from c4env.evaluation.report.plots import run_figures, write_plots

        for path in write_plots(plots, run_figures(content)):
            say(f"figure in {path}", sys.stderr)
