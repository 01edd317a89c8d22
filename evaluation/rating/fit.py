"""Maximum likelihood estimates of a field's Elo and of the first-move advantage."""

from __future__ import annotations

from typing import Final

import numpy as np

from c4env.arrays import Float64s

_ELO: Final = 400 / np.log(10)  # Elo points per natural unit of log odds
_NEWTON_STEPS: Final = 200
_NEAR: Final = 0.01  # Elo


def fit(
    points: Float64s, games: Float64s, start: tuple[Float64s, Float64s] | None = None
) -> tuple[Float64s, Float64s]:
    """Fit the Elo of each player and the first-move advantage by Newton's method.

    The log likelihood is concave. A fit stops when a step is below a hundredth of an Elo point; the
    next step would be below a millionth.

    Args:
        points: points of the first player (row) against the second, ``[..., players, players]``.
        games: number of games behind these points; a chain of games must join any two players.
        start: Elo and first-move advantage to start from; a start near the result saves time.

    Returns:
        Elo ``[..., players]`` with mean 0, and the first-move advantage in Elo, ``[...]``.
    """
    *many, n, _ = points.shape
    theta = np.zeros((*many, n + 1))
    if start is not None:
        theta[..., :n], theta[..., n] = start[0] / _ELO, start[1] / _ELO
    if n < 2:  # no agents to compare
        return theta[..., :n], theta[..., n]
    whole = theta.reshape(-1, n + 1)
    points, games = points.reshape(-1, n, n), games.reshape(-1, n, n)
    left = np.arange(len(whole))  # indices of unfinished fits
    for _ in range(_NEWTON_STEPS):
        if not len(left):
            break
        step = _newton_step(points, games, whole[left])
        length = np.abs(step).max(-1, keepdims=True)
        whole[left] += step / np.maximum(1, length)  # at most one unit at a time
        going = length[:, 0] * _ELO >= _NEAR
        if not going.all():
            left, points, games = left[going], points[going], games[going]
    return theta[..., :n] * _ELO, theta[..., n] * _ELO


def _newton_step(points: Float64s, games: Float64s, theta: Float64s) -> Float64s:
    n = points.shape[-1]
    odds = np.exp(theta)
    ahead = odds[:, :n, None] * odds[:, n:, None]  # odds of the player moving first
    expected = ahead / (ahead + odds[:, None, :n])
    weight = games * expected
    surplus = points - weight
    weight *= 1 - expected
    both, surplus_of = (weight + weight.swapaxes(1, 2)), surplus.sum(2)
    gradient, hessian = np.empty_like(theta), np.empty((*theta.shape, n + 1))
    # Ratings have an arbitrary constant: fix the sum of the ratings at 0.
    gradient[:, :n] = surplus_of - surplus.sum(1) - theta[:, :n].sum(1, keepdims=True)
    gradient[:, n] = surplus_of.sum(1)
    hessian[:, :n, :n] = 1 - both
    diagonal = np.arange(n)
    hessian[:, diagonal, diagonal] += both.sum(2)
    of_first = weight.sum(2)
    hessian[:, :n, n] = hessian[:, n, :n] = of_first - weight.sum(1)
    hessian[:, n, n] = of_first.sum(1)
    return np.asarray(np.linalg.solve(hessian, gradient[..., None])[..., 0])
