"""The likeliest Elo of a field and of moving first, given the points of all its games."""

from __future__ import annotations

from typing import Final

import numpy as np

from c4env.arrays import Float64s

_ELO: Final = 400 / np.log(10)  # Elo points of one natural unit of log odds
_NEWTON_STEPS: Final = 200
_NEAR: Final = 0.01  # Elo


def fit(
    points: Float64s, games: Float64s, start: tuple[Float64s, Float64s] | None = None
) -> tuple[Float64s, Float64s]:
    """Elo of each player ``(..., players)``, of mean 0, and of moving first ``(...)``.

    Newton's method on the log likelihood, which is concave; a fit stops at steps below a
    hundredth of an Elo point, from which the next one would be below a millionth.

    Args:
        points: ``(..., players, players)``: of the first player (row) against the second.
        games: what those points are from; positive along some chain between any two players,
            or nothing holds the two together.
        start: Elo and first move to begin the search from; it is quicker near the answer.
    """
    *many, n, _ = points.shape
    theta = np.zeros((*many, n + 1))
    if start is not None:
        theta[..., :n], theta[..., n] = start[0] / _ELO, start[1] / _ELO
    if n < 2:  # nobody to be compared with
        return theta[..., :n], theta[..., n]
    whole = theta.reshape(-1, n + 1)
    points, games = points.reshape(-1, n, n), games.reshape(-1, n, n)
    left = np.arange(len(whole))  # the fits that go on
    for _ in range(_NEWTON_STEPS):
        if not len(left):
            break
        step = _newton_step(points, games, whole[left])
        length = np.abs(step).max(-1, keepdims=True)
        whole[left] += step / np.maximum(1, length)  # never further than one unit at a time
        going = length[:, 0] * _ELO >= _NEAR
        if not going.all():
            left, points, games = left[going], points[going], games[going]
    return theta[..., :n] * _ELO, theta[..., n] * _ELO


def _newton_step(points: Float64s, games: Float64s, theta: Float64s) -> Float64s:
    n = points.shape[-1]
    odds = np.exp(theta)
    ahead = odds[:, :n, None] * odds[:, n:, None]  # of the first player, times that of moving first
    expected = ahead / (ahead + odds[:, None, :n])
    weight = games * expected
    surplus = points - weight
    weight *= 1 - expected
    both, surplus_of = (weight + weight.swapaxes(1, 2)), surplus.sum(2)
    gradient, hessian = np.empty_like(theta), np.empty((*theta.shape, n + 1))
    # Ratings are defined up to a constant: fix their sum at 0.
    gradient[:, :n] = surplus_of - surplus.sum(1) - theta[:, :n].sum(1, keepdims=True)
    gradient[:, n] = surplus_of.sum(1)
    hessian[:, :n, :n] = 1 - both
    diagonal = np.arange(n)
    hessian[:, diagonal, diagonal] += both.sum(2)
    of_first = weight.sum(2)
    hessian[:, :n, n] = hessian[:, n, :n] = of_first - weight.sum(1)
    hessian[:, n, n] = of_first.sum(1)
    return np.asarray(np.linalg.solve(hessian, gradient[..., None])[..., 0])
