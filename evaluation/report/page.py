"""A run as one web page: tables, figures, and every game with exact scores.

The page is ``static/report.html`` with the styles, the scripts and the run as JSON inside. It needs
no network and works from a file.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Mapping, Sequence
from typing import Any, Final

from c4env.evaluation.exact.mistakes import SHOWN, Mistakes
from c4env.evaluation.exact.moves import MoveQuality, Quality, bands
from c4env.evaluation.exact.scores import Judge, Scores, positions_of
from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.rating.ratings import FIRST, Ratings
from c4env.evaluation.rating.sprt import states
from c4env.evaluation.rating.tally import Cost, costs
from c4env.evaluation.rating.wintable import WinTable
from c4env.evaluation.report.headline import command_of, remarks, sentence
from c4env.evaluation.report.labels import labels
from c4env.evaluation.report.static import STATIC, inlined
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.studies.match import Match
from c4env.position import Position

PLACE: Final = '"REPORT"'  # the template's placeholder for the run
BAND: Final = 4  # plies for each point of the blunder curve
FEW: Final = 5  # a point with fewer critical moves is hollow
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
    """Return the content of the page as JSON values, with players in order of strength.

    Args:
        run: a run of at least one game.
        ratings: ratings of the players; None uses the run's own ratings.
        judge: finds exact scores; None leaves out everything that needs exact scores.
        title: the page's title.
        date: the run's date, shown as given.
        talk: conversations of language models
            (:func:`c4env.evaluation.report.models.conversations`).
    """
    games, header, ratings = run.games, run.header, ratings or run.ratings
    players = [r.player for r in ratings]
    index = {player: i for i, player in enumerate(players)}
    openings = list(dict.fromkeys(game.opening for game in games))
    where = {opening: i for i, opening in enumerate(openings)}
    table, spent = WinTable.of(games, players), costs(games)
    each = [spent.get(player, Cost()) for player in players]
    match = run if isinstance(run, Match) else None
    found: dict[str, Any] = {
        "title": title,
        "version": header.c4env,
        "seed": header.seed,
        "digest": run.digest,
        "date": date,
        "command": command_of(header),
        "headline": [
            *run.table.reasons_of_forfeits(),
            sentence(run, ratings),
            *remarks(run, ratings),
        ],
        "course": None if match is None or match.sprt is None else course(match),
        "players": players,
        "labels": [*labels(players).values()],
        "ratings": [[r.elo, r.low, r.high, *r.ranks, r.better, r.score, r.games] for r in ratings],
        "first_move": list(ratings.first_move),
        "first": FIRST,
        "exact": ratings.exact,
        "method_note": ratings.method_note(),
        "notes": list(run.notes),
        "cells": [[list(table.cell(a, b)) for b in players] for a in players],
        "cost": [[cost.nodes_a_move, cost.seconds_a_move] for cost in each],
        "openings": openings,
        "games": [
            [
                *(index[player] for player in game.players),
                where[game.opening],
                game.moves[len(game.opening) :],
                game.winner,
                game.ending,
                game.reason,
            ]
            for game in games
        ],
        "quality": None,
        "mistakes": None,  # by player: where it loses, and its costliest moves
        "scores": None,
        "talk": {str(game): said for game, said in (talk or {}).items()},
    }
    if judge is not None:
        if any(positions_of(game) for game in games):
            quality = Quality.of_games(games, judge)
            judged = {q.player: _quality(q) for q in quality.overall()}
            curves = [
                (index[player], *plies, q.critical, *q.blunder_rate)
                for player in quality.players
                for plies in bands(BAND)
                if (q := quality.slice(player, plies=plies)).critical
            ]
            most = max((rate for *_, rate, _, _ in curves), default=0.0)
            found["quality"] = {
                "overall": [judged.get(player) for player in players],  # None: no judged move
                "by_ply": curves,
                "few": FEW,
                "top": next(top for top in TOPS if most <= top),
            }
            found["mistakes"] = [
                _mistakes(Mistakes.of(games, player, judge)) if player in judged else [[], []]
                for player in players
            ]
        found["scores"] = ["".join(map(format_scores, scores_along(game, judge))) for game in games]
    return found


def scores_along(game: GameRecord, judge: Judge) -> list[Scores]:
    """The exact scores of the positions in which a player chose a column or forfeited."""
    positions = positions_of(game)
    last = Position.parse(game.moves)
    if last.outcome is None:
        positions.append(last)
    return [judge.scores(position) for position in positions]


def course(match: Match) -> dict[str, Any]:
    """The log likelihood ratio of a match after each pair of games, and the test's bounds."""
    test = match.sprt
    assert test is not None
    one, other = match.players
    return {
        "question": f"{one} is {states(test.h1, other)}, or {states(test.h0, other)}",
        "hypotheses": [f"H0: {test.h0:g} Elo", f"H1: {test.h1:g} Elo"],
        "bounds": list(test.bounds),
        "llr": match.course(),
    }


def page(found: Mapping[str, Any]) -> str:
    """Make the page from the result of :func:`contents`."""
    text = json.dumps(_finite(found), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Names and reasons may be any text, which must not end the script element.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    before, _, after = inlined(STATIC.joinpath("report.html").read_text("utf-8")).partition(PLACE)
    return before + text + after


def _quality(q: MoveQuality) -> list[Any]:
    return [q.moves, q.critical, q.blunders, *q.optimal, *q.keeping, *q.blunder_rate, *q.loss]


def _mistakes(found: Mistakes) -> list[list[Any]]:
    moves = found.mistakes[:SHOWN]
    return [
        [list(part) for part in found.parts],
        [
            [m.games[0], len(m.moves), len(m.games), m.cost, m.score, m.own, m.column, m.kind]
            for m in moves
        ],
    ]


def _finite(value: Any) -> Any:
    """Replace infinities, which JSON does not have, with None."""
    if isinstance(value, float):
        return round(value, 9) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
