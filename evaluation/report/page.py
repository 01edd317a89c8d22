"""A run as one web page: tables, figures, and every game with exact scores.

The page is ``static/report.html`` with the styles, the scripts and the run as JSON inside. It needs
no network and works from a file. Its tables are those of ``--format json``: rows of named values.
What is long, the games and the pairings, is stored by column, with numbers for the agents.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final

from c4env.evaluation.exact.mistakes import SHOWN, Mistakes
from c4env.evaluation.exact.moves import Quality, bands
from c4env.evaluation.exact.scores import Judge, positions_in
from c4env.evaluation.games.run import choose_openings
from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.rating.ratings import FIRST, Ratings
from c4env.evaluation.rating.sprt import compared
from c4env.evaluation.rating.tally import costs
from c4env.evaluation.report.summary import MOST_PLIES, remarks, sentence, standings
from c4env.evaluation.store.header import RunHeader
from c4env.evaluation.store.run_files import GameRecord
from c4env.evaluation.studies.match import Match
from c4env.evaluation.tables import Column, Table, width
from c4env.position import Position

STATIC: Final = files("c4env.evaluation.report") / "static"
"""The folder of the styles and scripts."""


GAME_COLUMNS: Final = (
    Column("first", of=lambda game: game.players[0]),
    Column("second", of=lambda game: game.players[1]),
    *map(Column, ("opening", "moves", "winner", "ending", "reason")),
)
"""The columns of the games on the page; ``moves`` includes the opening."""

CURVE_COLUMNS: Final = ("agent", "first_ply", "last_ply", "critical", "blunder_rate")
"""The columns of the blunder curves."""

LABEL: Final = 28
"""The greatest width of a label, in characters."""
_PARTS: Final = re.compile(r"[^:,/ ]*[:,/ ]|[^:,/ ]+")
_KEY: Final = re.compile(r"\b\w+=")
PLACE: Final = '"REPORT"'  # the template's placeholder for the run
CURVE_BAND: Final = 4  # plies for each point of the blunder curve
HOLLOW: Final = 5  # a point with fewer critical moves is hollow
TOPS: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # possible ends of the blunder curves' scale
_SCORES: Final = string.ascii_letters
_MIDDLE: Final = 22  # the letter of score 0; a full column is "."


def contents(
    run: Tournament,
    ratings: Ratings | None = None,
    judge: Judge | None = None,
    title: str = "run",
    date: str | None = None,
) -> dict[str, Any]:
    """Return the content of the page as JSON values, with agents in order of strength.

    Args:
        run: a run of at least one game.
        ratings: ratings of the players; None uses the run's own ratings.
        judge: finds exact scores; None leaves out everything that needs exact scores.
        title: the page's title.
        date: the run's date, shown as given.
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
    }


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


def mistakes(run: Tournament, quality: Quality, judge: Judge) -> dict[str, Any]:
    """Where each agent loses, and its costliest moves, by agent."""
    by_player = {player: Mistakes.of(run.games, player, judge) for player in quality.players}
    return {
        player: replace(of_player, mistakes=of_player.mistakes[:SHOWN]).content()
        for player, of_player in by_player.items()
    }


def encoded(game: GameRecord, judge: Judge) -> str:
    """Encode the exact scores of the positions in which a player chose a column or forfeited.

    A score is a letter, which keeps a page with 100,000 scores small.
    """
    positions = positions_in(game)
    last = Position.parse(game.moves)
    if last.outcome is None:
        positions.append(last)
    scores = [score for position in positions for score in judge.scores(position)]
    return "".join("." if s is None else _SCORES[s + _MIDDLE] for s in scores)


def command_of(header: RunHeader) -> str | None:
    """Return the ``c4`` command that repeats the run with this header, or None.

    For example, no command repeats a run with a Python object as an agent, or openings from a file.
    """
    players, openings, alone = header.players, header.openings, header.challengers
    if not players or not openings or header.seed is None or len(alone) > 1:
        return None
    if any(spec.startswith("<") for spec in players.values()):
        return None
    agents = {name: spec if spec == name else f"{name}={spec}" for name, spec in players.items()}
    words = ["c4", "match" if header.kind == "match" else "run"]
    words += [agents[name] for name in players if name not in alone]
    if header.sprt is not None:
        h0, h1, alpha, beta = header.sprt
        words += ["--sprt", f"{h0:g},{h1:g}"]
        for option, rate in (("--alpha", alpha), ("--beta", beta)):
            words += [option, f"{rate:g}"] if rate != 0.05 else []
    plies = len(openings[0])
    whole = choose_openings(plies, header.seed) if plies <= MOST_PLIES else []
    if whole[: len(openings)] != list(openings):
        return None
    words += ["--only", agents[alone[0]]] if alone else []
    words += ["--openings", str(plies)]
    words += ["--limit", str(len(openings))] if len(openings) < len(whole) else []
    words += ["--seed", str(header.seed)] if header.seed else []
    if header.movetime is not None:
        words += ["--movetime", f"{header.movetime:g}", "--margin", f"{header.margin:g}"]
    return shlex.join(words)


def labels(names: Iterable[str], columns: int = LABEL) -> dict[str, str]:
    """Return a distinct label for each name, at most ``columns`` characters wide.

    A name that fits is its own label. Of longer names with one beginning, such as
    ``alphabeta:``, the label leaves out what all of them share; if the rest is too long, the names
    of options; and if that is too long, the middle, which two dots mark.
    """
    names = list(dict.fromkeys(names))
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_PARTS.findall(name)[0] if name else "", []).append(name)
    shown = {name: name for name in names}
    for group in groups.values():
        if max(map(width, group)) > columns:
            shown.update(zip(group, _short(group, columns), strict=True))
    taken = {name for name in names if shown[name] == name and width(name) <= columns}
    for name in names:
        if name not in taken:
            shown[name] = _distinct(shown[name], taken, columns)
            taken.add(shown[name])
    return shown


def _short(group: Sequence[str], columns: int) -> list[str]:
    """Leave out what the names share, then keys; cut the middle of what is still too long."""
    rests = _differing(group)
    for shortened in (rests, [_KEY.sub("", rest) for rest in rests]):
        short = [text or name for text, name in zip(shortened, group, strict=True)]
        if max(map(width, short)) <= columns and len({*short}) == len(short):
            return short
    return [rest or name for rest, name in zip(rests, group, strict=True)]


def _differing(group: Sequence[str]) -> list[str]:
    """Return the names without the parts that all of them have at the beginning and the end."""
    parts = [_PARTS.findall(name) for name in group]
    if len(parts) < 2:
        return list(group)
    start = _shared(parts)
    parts = [part[start:] for part in parts]
    end = _shared([part[::-1] for part in parts])
    return ["".join(part[: len(part) - end]).strip(" ,:/") for part in parts]


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """Return how many first items the lists share."""
    count = 0
    for items in zip(*lists, strict=False):
        if len({item.rstrip(",") for item in items}) > 1:
            break
        count += 1
    return count


def _distinct(text: str, taken: Iterable[str], columns: int) -> str:
    """Return the text, without its middle or with a number if it is too wide or taken."""
    short, number = _without_middle(text, columns), 1
    while short in taken:
        number += 1
        short = _without_middle(text, columns - len(f"~{number}")) + f"~{number}"
    return short


def _without_middle(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns and head + tail:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"


def inlined(template: str) -> str:
    """Replace a page's references to styles and scripts with the content of the files."""

    def content(reference: re.Match[str]) -> str:
        tag = "style" if reference[1].endswith(".css") else "script"
        return f"<{tag}>\n{STATIC.joinpath(reference[1]).read_text('utf-8')}</{tag}>"

    references = r'<(?:link rel="stylesheet" href|script src)="static/([\w.]+)">(?:</script>)?'
    return re.sub(references, content, template)


def _finite(value: Any) -> Any:
    """Replace infinities, which JSON does not have, with None; round other numbers."""
    if isinstance(value, float):
        return round(value, 9) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
