"""A run as one web page: tables, figures, and every game with exact scores.

The page is ``static/report.html`` with the styles, the scripts and the run as JSON inside. It needs
no network and works from a file. Its tables are those of ``--format json``: rows of named values.
What is long, the games and the pairings, is stored by column, with numbers for the agents.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final

from c4env.evaluation.rating.sprt import states
from c4env.evaluation.tables import Column, Table

from ...position import Position
from ..exact.mistakes import SHOWN, Mistakes
from ..exact.moves import Quality, bands
from ..exact.scores import Judge, Scores, positions_in
from ..games.tournament import Tournament
from ..rating.ratings import FIRST, Ratings
from ..rating.tally import costs
from ..store.run_files import GameRecord
from ..studies.match import Match
from .summary import command_of, labels, remarks, sentence, standings

STATIC: Final = files("c4env.evaluation.report") / "static"
"""The folder of the styles and scripts."""


def inlined(template: str) -> str:
    """Replace a page's references to styles and scripts with the content of the files."""

    def content(found: re.Match[str]) -> str:
        tag = "style" if found[1].endswith(".css") else "script"
        return f"<{tag}>\n{STATIC.joinpath(found[1]).read_text('utf-8')}</{tag}>"

    named = r'<(?:link rel="stylesheet" href|script src)="static/([\w.]+)">(?:</script>)?'
    return re.sub(named, content, template)


PLACE: Final = '"REPORT"'  # the template's placeholder for the run
CURVE_BAND: Final = 4  # plies for each point of the blunder curve
HOLLOW: Final = 5  # a point with fewer critical moves is hollow
TOPS: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # possible ends of the blunder curves' scale
_SCORES: Final = string.ascii_letters
_MIDDLE: Final = 22  # the letter of score 0; a full column is "."


def format_scores(scores: Scores) -> str:
    """Encode seven scores as seven letters, which keeps a page with 100,000 scores small."""
    return "".join("." if s is None else _SCORES[s + _MIDDLE] for s in scores)


def contents(
    run: Tournament,
    ratings: Ratings | None = None,
    judge: Judge | None = None,
    title: str = "run",
    date: str | None = None,
    talk: Mapping[int, Sequence[Any]] | None = None,
) -> dict[str, Any]:
    """Return the content of the page as JSON values, with agents in order of strength.

    Args:
        run: a run of at least one game.
        ratings: ratings of the players; None uses the run's own ratings.
        judge: finds exact scores; None leaves out everything that needs exact scores.
        title: the page's title.
        date: the run's date, shown as given.
        talk: conversations of language models
            (:func:`c4env.evaluation.report.page.conversations`).
    """
    games, header = run.games, run.header
    ratings = (ratings or run.ratings).with_costs(costs(games))
    players = [rating.player for rating in ratings]
    pairs = replace(run.table, players=tuple(players)).tables()["pairs"]
    quality = None
    if judge is not None and any(positions_in(game) for game in games):
        quality = Quality.of_games(games, judge)
    return {
        "title": title,
        "version": header.c4env,
        "seed": header.seed,
        "digest": run.digest,
        "date": date,
        "command": command_of(header),
        "headline": [
            *run.table.reasons_of_forfeits(),
            sentence(run, ratings),
            *ratings.warnings(),
            *remarks(run, ratings),
        ],
        "first": FIRST,
        "first_move": ratings.first_move._asdict(),
        "exact": ratings.exact,
        "method_note": ratings.method_note(),
        "notes": list(run.notes),
        "labels": [*labels(players).values()],
        "standings": standings(ratings, run.table).records(),
        "pairs": by_column(pairs, players),
        "games": by_column(Table(GAME_COLUMNS, games), players),
        "test": test_of(run),
        "quality": None if quality is None else quality.tables()["overall"].records(),
        "curves": None if quality is None else curves(quality),
        "mistakes": None if quality is None or judge is None else mistakes(run, quality, judge),
        "scores": None if judge is None else [encoded(game, judge) for game in games],
        "talk": {str(game): said for game, said in (talk or {}).items()},
    }


GAME_COLUMNS: Final = (
    Column("first", of=lambda game: game.players[0]),
    Column("second", of=lambda game: game.players[1]),
    *map(Column, ("opening", "moves", "winner", "ending", "reason")),
)
"""The columns of the games on the page; ``moves`` includes the opening."""


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
    question = f"{one} is {states(run.sprt.h1, other)}, or {states(run.sprt.h0, other)}"
    return {"question": question, "lower": lower, "upper": upper, "llr": run.course()}


def curves(quality: Quality) -> dict[str, Any]:
    """Blunders per critical move by bands of plies, in a row for each agent and band."""
    rows = [
        (player, *plies, part.critical, part.blunder_rate)
        for player in quality.players
        for plies in bands(CURVE_BAND)
        if (part := quality.slice(player, plies=plies)).critical
    ]
    most = max((row[-1].value for row in rows), default=0.0)
    points = Table.of(dict.fromkeys(CURVE_COLUMNS, ""), rows).records()
    return {"points": points, "few": HOLLOW, "top": next(top for top in TOPS if most <= top)}


CURVE_COLUMNS: Final = ("agent", "first_ply", "last_ply", "critical", "blunder_rate")
"""The columns of the blunder curves."""


def mistakes(run: Tournament, quality: Quality, judge: Judge) -> dict[str, Any]:
    """Where each agent loses, and its costliest moves, by agent."""
    whole = {player: Mistakes.of(run.games, player, judge) for player in quality.players}
    return {
        player: replace(each, mistakes=each.mistakes[:SHOWN]).content()
        for player, each in whole.items()
    }


def encoded(game: GameRecord, judge: Judge) -> str:
    """The exact scores of the positions in which a player chose a column or forfeited."""
    positions = positions_in(game)
    last = Position.parse(game.moves)
    if last.outcome is None:
        positions.append(last)
    return "".join(format_scores(judge.scores(position)) for position in positions)


def page(content: Mapping[str, Any]) -> str:
    """Make the page from the result of :func:`contents`."""
    text = json.dumps(_finite(content), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Names and reasons may be any text, which must not end the script element.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    before, _, after = inlined(STATIC.joinpath("report.html").read_text("utf-8")).partition(PLACE)
    return before + text + after


def _finite(value: Any) -> Any:
    """Replace infinities, which JSON does not have, with None; round other numbers."""
    if isinstance(value, float):
        return round(value, 9) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
