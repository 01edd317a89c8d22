"""The likeliest Elo of a field and of moving first, given the points of all its games."""

from __future__ import annotations

from typing import Final

import numpy as np

from c4env.arrays import Float64s

_ELO: Final = 400 / np.log(10)  # Elo points of one natural unit of log odds
_NEWTON_STEPS: Final = 200


def fit(
    points: Float64s, games: Float64s, start: tuple[Float64s, Float64s] | None = None
) -> tuple[Float64s, Float64s]:
    """Elo of each player ``(..., players)``, of mean 0, and of moving first ``(...)``.

    Newton's method on the log likelihood, which is concave; it stops at steps below a
    thousandth of an Elo point, from which the next one would be below a millionth.

    Args:
        points: ``(..., players, players)``: of the first player (row) against the second.
        games: what those points are from; positive for every pair, or nothing holds the
            two together.
        start: Elo and first move to begin the search from; it is quicker near the answer.
    """
    n = points.shape[-1]
    theta = np.zeros((*points.shape[:-2], n + 1))
    if start is not None:
        theta[..., :n], theta[..., n] = start[0] / _ELO, start[1] / _ELO
    if n < 2:  # nobody to be compared with
        return theta[..., :n], theta[..., n]
    gradient, diagonal = np.empty_like(theta), np.arange(n)
    hessian = np.empty((*theta.shape, n + 1))
    for _ in range(_NEWTON_STEPS):
        elo, first_move = theta[..., :n], theta[..., n, None, None]
        expected = 1 / (1 + np.exp(elo[..., None, :] - elo[..., :, None] - first_move))
        surplus = points - games * expected
        gradient[..., :n] = surplus.sum(-1) - surplus.sum(-2)
        gradient[..., n] = surplus.sum((-1, -2))
        weight = games * expected * (1 - expected)
        hessian[..., :n, :n] = -weight - weight.swapaxes(-1, -2)
        hessian[..., diagonal, diagonal] += weight.sum(-1) + weight.sum(-2)
        hessian[..., :n, n] = hessian[..., n, :n] = weight.sum(-1) - weight.sum(-2)
        hessian[..., n, n] = weight.sum((-1, -2))
        # Ratings are defined up to a constant: fix their sum at 0.
        gradient[..., :n] -= elo.sum(-1, keepdims=True)
        hessian[..., :n, :n] += 1
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        length = np.abs(step).max(-1, keepdims=True)
        theta += step / np.maximum(1, length)  # never further than one unit at a time
        if length.max() * _ELO < 1e-3:
            break
    return theta[..., :n] * _ELO, theta[..., n] * _ELO
