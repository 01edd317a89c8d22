"""A run as one web page: tables, figures, and every game with exact scores.

The page is ``static/report.html`` with the styles, the scripts and the run as JSON inside. The page
works from a file, without a network. The tables are the tables of ``--format json``, rows of named
values. The games and the pairings are stored by column, with numbers for the agents, to save space.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import combinations
from typing import Any, Final

from c4env.evaluation.exact.mistakes import SHOWN, Mistakes
from c4env.evaluation.exact.moves import Quality, bands, judge_games
from c4env.evaluation.exact.scores import Judge, positions_in
from c4env.evaluation.ratings.ratings import FIRST
from c4env.evaluation.ratings.sprt import compared
from c4env.evaluation.ratings.tally import WinTable
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.results.match import Match
from c4env.evaluation.results.tournament import Tournament
from c4env.evaluation.tables import Column, Table, plural, rounded
from c4env.position import DIGITS, Position
from c4env.rules import COLUMNS

STATIC: Final = files("c4env.evaluation.report") / "static"
"""The folder of the styles and scripts."""


GAME_COLUMNS: Final = (
    Column("first", of=lambda game: game.players[0]),
    Column("second", of=lambda game: game.players[1]),
    *map(Column, ("opening", "moves", "winner", "ending", "reason")),
)
"""The columns of the games on the page; ``moves`` includes the opening."""

CURVE_COLUMNS: Final = ("agent", "first_ply", "last_ply", "critical", "accuracy")
"""The columns of the curves of accuracy."""

FEW: Final = 4  # the most agents for which each pair gets a sentence
PLACE: Final = '"REPORT"'  # the template's placeholder for the run
CURVE_BAND: Final = 4  # plies for each point of a curve of accuracy
HOLLOW: Final = 5  # a point with fewer critical moves is hollow
BOTTOMS: Final = (0.9, 0.8, 0.6, 0.4, 0.2, 0.0)  # where the scale of the curves may begin
_SCORES: Final = string.ascii_letters
_MIDDLE: Final = 22  # the letter of score 0; a full column is "."


def contents(
    run: Tournament,
    judge: Judge | None = None,
    title: str = "run",
    date: str | None = None,
) -> dict[str, Any]:
    """Return the content of the page as JSON values, with agents in order of strength.

    Args:
        run: a run of at least one game.
        judge: finds exact scores; None leaves out everything that needs exact scores.
        title: the page's title.
        date: the run's date, shown as given.
    """
    games, header, ratings = run.games, run.header, run.ratings
    players = [rating.player for rating in ratings]
    pairs = replace(run.table, players=tuple(players)).tables()["pairs"]
    quality = None
    if judge is not None and any(positions_in(game) for game in games):
        quality = Quality.of_games(games, judge)
    return {
        "title": title,
        "summary": "; ".join(summary(run, len(players))),
        "digest": run.digest,
        "date": date,
        "command": None if header.command is None else shlex.join(header.command),
        "headline": [
            *run.forfeited(),
            run.headline(),
            *ratings.warnings(),
            *run.remarks(),
        ],
        "first": FIRST,
        "first_move": ratings.first_move._asdict(),
        "method_note": ratings.method_note(),
        "notes": list(run.notes),
        "standings": run.standings().records(),
        "results": [results(run.table, player) for player in players],
        "pairs": by_column(pairs, players),
        "pairs_in_words": pairs_in_words(run, players, judge) if len(players) <= FEW else [],
        "games": by_column(Table(GAME_COLUMNS, games), players),
        "test": test_of(run),
        "quality": None if quality is None else quality.tables()["overall"].records(),
        "curves": None if quality is None else curves(quality),
        "mistakes": None if quality is None or judge is None else mistakes(run, quality, judge),
        "scores": None if judge is None else [encoded(game, judge) for game in games],
    }


def summary(run: Tournament, agents: int) -> Iterator[str]:
    """Yield the size of a run, its seed, its digest and its version."""
    openings = plural(len({game.opening for game in run.games}), "opening")
    yield f"{plural(len(run.games), 'game')} of {plural(agents, 'agent')} over {openings}"
    if run.header.seed is not None:
        yield f"seed {run.header.seed}"
    yield f"digest {run.digest}"
    if run.header.c4env:
        yield f"c4env {run.header.c4env}"


def results(table: WinTable, player: str) -> dict[str, dict[str, Any]]:
    """A player's score and wins/draws/losses when moving first, moving second, and in all games."""
    first, second = table.as_first(player), table.as_second(player)
    cells = {"first": first, "second": second, "total": first + second}
    return {name: {"score": cell.score, "counts": str(cell)} for name, cell in cells.items()}


def pairs_in_words(run: Tournament, players: Sequence[str], judge: Judge | None) -> list[str]:
    """A sentence for each two players that met, the stronger player first."""
    sentences = []
    for one, other in combinations(players, 2):
        games = [game for game in run.games if game.counted and {*game.players} == {one, other}]
        if not games:
            continue
        first, second = run.table.cell(one, other), ~run.table.cell(other, one)
        both, leads = first + second, Counter[str]()
        for game in games:
            points = game.points[game.players.index(one)]
            leads[game.opening] += round(2 * points) - 1
        ahead, behind = (sum(sign * lead > 0 for lead in leads.values()) for sign in (1, -1))
        words = (
            f"{one} scores {both.points:.1f} of {plural(both.games, 'point')} "
            f"({rounded(both.score or 0.0, '.0%')}) against {other}: {first} moving first, "
            f"{second} moving second (wins/draws/losses). It is ahead over {ahead} of "
            f"{plural(len(leads), 'opening')} and behind over {behind}."
        )
        if judge is not None:
            counts = Counter(move.player for move in judge_games(games, judge) if move.blunder)
            rates = [rounded(counts[player] / len(games), ".1f") for player in (one, other)]
            words += f" Blunders per game: {' against '.join(rates)}."
        sentences.append(words)
    return sentences


def page(content: Mapping[str, Any]) -> str:
    """Make the page from the result of :func:`contents`."""
    text = json.dumps(_finite(content), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Names and reasons may be any text, which must not end the script element.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    before, _, after = inlined(STATIC.joinpath("report.html").read_text("utf-8")).partition(PLACE)
    return before + text + after


def by_column(table: Table, players: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of a table by name, with the numbers of ``players`` for their names."""
    number = {player: i for i, player in enumerate(players)}
    (heading, *rows) = table.raw()
    columns = {name: [row[i] for row in rows] for i, name in enumerate(heading)}
    for name in ("first", "second"):
        columns[name] = [number[player] for player in columns[name]]
    return columns


def test_of(run: Tournament) -> dict[str, Any] | None:
    """The log likelihood ratio of a match after each pair, and the bounds of its test, if any."""
    if not isinstance(run, Match) or run.sprt is None:
        return None
    one, other = run.players
    lower, upper = run.sprt.bounds
    question = f"{one} is {compared(run.sprt.h1, other)}, or {compared(run.sprt.h0, other)}"
    return {"question": question, "lower": lower, "upper": upper, "llr": run.course()}


def curves(quality: Quality) -> dict[str, Any]:
    """The accuracy by bands of plies, in a row for each agent and band."""
    rows = [
        (player, *plies, part.critical, part.accuracy)
        for player in quality.players
        for plies in bands(CURVE_BAND)
        if (part := quality.slice(player, plies=plies)).critical
    ]
    least = min((row[-1].value for row in rows), default=1.0)
    points = Table.of(dict.fromkeys(CURVE_COLUMNS, ""), rows).records()
    return {"points": points, "few": HOLLOW, "bottom": next(low for low in BOTTOMS if low <= least)}


def mistakes(run: Tournament, quality: Quality, judge: Judge) -> dict[str, Any]:
    """Where each agent loses, and its costliest moves as rows and in words, by agent."""
    found = {}
    for player in quality.players:
        of_player = Mistakes.of(run.games, player, judge)
        shown = of_player.mistakes[:SHOWN]
        content = replace(of_player, mistakes=shown).content()
        found[player] = {**content, "words": [mistake.describe() for mistake in shown]}
    return found


def encoded(game: GameRecord, judge: Judge) -> str:
    """Encode the exact scores of the positions in which a player chose a column or forfeited.

    A score is one letter, so that a page with 100,000 scores stays small. A position has a letter
    for each column. A finished game has one more letter, the score for the side that would move.
    """
    positions = positions_in(game)
    end = Position.parse(game.moves)
    scores = [score for position in [*positions, end] for score in judge.scores(position)]
    if end.outcome is not None:
        last = judge.scores(positions[-1])[DIGITS.index(game.moves[-1])]
        assert last is not None  # a played column is not full
        scores[-COLUMNS:] = [-last]
    return "".join("." if s is None else _SCORES[s + _MIDDLE] for s in scores)


def inlined(template: str) -> str:
    """Replace a page's references to styles and scripts with the content of the files."""

    def content(reference: re.Match[str]) -> str:
        tag = "style" if reference[1].endswith(".css") else "script"
        return f"<{tag}>\n{STATIC.joinpath(reference[1]).read_text('utf-8')}</{tag}>"

    references = r'<(?:link rel="stylesheet" href|script src)="static/([\w.]+)">(?:</script>)?'
    return re.sub(references, content, template)


def _finite(value: Any) -> Any:
    """Replace infinities with None, because JSON has no infinities; round other numbers."""
    if isinstance(value, float):
        return round(value, 9) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
