"""Elo by a logistic (Bradley-Terry) fit on points, with a first-move term.

The model: the first player scores ``1 / (1 + 10**(-(r1 - r2 + f) / 400))`` on average.
Ratings maximise the likelihood of all games at once, so their order does not matter. One
virtual draw a pair, half with either colour, keeps an agent that never wins at a finite
rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.record import GameRecord

_ELO: Final = 400 / np.log(10)  # Elo points of one natural unit of log odds


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's strength; the mean over the field is 0."""

    player: str
    elo: float
    score: float  # points a game, 0..1
    games: int


def rate(games: Sequence[GameRecord], players: Sequence[str]) -> list[Rating]:
    """Ratings of the players, the strongest first; games against itself say nothing of one."""
    strengths, _ = fit(games, players)
    games = [game for game in games if game.players[0] != game.players[1]]
    points = dict.fromkeys(players, 0.0)
    counts = dict.fromkeys(players, 0)
    for game in games:
        for player, gained in zip(game.players, game.points, strict=True):
            points[player] += gained
            counts[player] += 1
    ratings = [
        Rating(player, float(elo), points[player] / max(counts[player], 1), counts[player])
        for player, elo in zip(players, strengths, strict=True)
    ]
    return sorted(ratings, key=lambda r: -r.elo)


def format_ratings(ratings: Sequence[Rating]) -> str:
    """A table for a terminal, one line an agent."""
    width = max(len(r.player) for r in ratings)
    lines = [f"{'':<{width}}    Elo  score  games"]
    lines += [f"{r.player:<{width}}  {r.elo:+5.0f}  {r.score:5.1%}  {r.games:5d}" for r in ratings]
    return "\n".join(lines)


def fit(games: Sequence[GameRecord], players: Sequence[str]) -> tuple[np.ndarray, float]:
    """Elo of each player ``(len(players),)`` with mean 0, and of moving first.

    Newton's method on the log likelihood, which is concave; it stops at a step below a
    millionth of an Elo point.
    """
    games = [game for game in games if game.players[0] != game.players[1]]
    index = {player: i for i, player in enumerate(players)}
    n = len(players)
    rows = [(index[g.players[0]], index[g.players[1]], g.points[0], 1.0) for g in games]
    rows += [(i, j, 0.5, 0.5) for i in range(n) for j in range(n) if i != j]  # virtual draws
    first, second, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    design = np.zeros((len(rows), n + 1))
    design[np.arange(len(rows)), first] = 1
    design[np.arange(len(rows)), second] = -1
    design[:, n] = 1  # the first move
    theta = np.zeros(n + 1)
    for _ in range(100):
        expected = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (weight * (score - expected))
        hessian = design.T @ (design * (weight * expected * (1 - expected))[:, None])
        # Ratings are defined up to a constant: fix their sum at 0.
        gradient[:n] -= theta[:n].sum()
        hessian[:n, :n] += 1
        step = np.linalg.solve(hessian, gradient)
        length = np.abs(step).max()
        theta += step / max(1.0, length)  # never further than one unit at a time
        if length * _ELO < 1e-6:
            break
    return theta[:n] * _ELO, float(theta[n] * _ELO)
