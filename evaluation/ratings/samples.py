"""The Elo of all players by fit and bootstrap, and the differences by the bootstrap's samples.

Games from one opening are correlated. Therefore the Bayesian bootstrap resamples whole openings:
each draw gives the openings random weights (:meth:`Tally.weights`) and fits again. The penalty's
points are random too, with gamma distributions whose shape is the mean. For two agents and
independent pairs of games, the result is near Jeffreys' interval for a proportion. So the interval
stays wide even if an agent wins all games; the interval of a plain bootstrap would then have no
width. If an agent's points in a few openings are nearly equal by chance, the samples vary as much
as resampled pairs of games would.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from c4env.arrays import Bools, Float64s, Int64s
from c4env.evaluation.ratings.fit import DRAWS, ELO, FEW, TAILS, firth, fit, information
from c4env.evaluation.ratings.tally import Tally
from c4env.system import one_thread

_BLOCK: Final = 1 << 15  # pairs of agents, times draws, to fit at the same time
_LEAST: Final = 1e-6  # the least virtual points, to keep the fit from rounding errors
_TIE: Final = 1e-3  # Elo; strengths with a smaller difference are equal
_STEPS: Final = 200  # steps of the fit of quasi standard errors
_NEARLY_NONE: Final = 1e-6  # weight of a pair that plays nearly the same games


def strengths(tally: Tally, seed: int = 0) -> tuple[Float64s, float, Float64s, Float64s]:
    """Fit the Elo and the first-move advantage to the games, and to resampled games.

    Calls with the same seed, players and openings use the same random weights of openings.

    Returns:
        the Elo ``[players]``, the first-move advantage, and samples of both, ``[draws, players]``
        and ``[draws]``.
    """
    n, unit = len(tally.players), tally.games_of_a_pair
    (points,), (games,) = tally.sums()
    few = _missing(games)
    even = _balanced(points + few / 2, games + few)
    start, leverages = firth(*even, unit)
    virtual = unit * leverages / 2
    first_move = float(fit(points + virtual, games + 2 * virtual, start)[1])
    generator = tally.generator(seed)
    others, noise, of_few = generator.spawn(3)
    samples, first_move_samples = np.empty((DRAWS, n)), np.empty(DRAWS)
    for block in _blocks(n):
        # The virtual points of the row against the column, moving first and second.
        shape = np.stack([leverages / 2] * 2)[:, None]
        virtual = others.standard_gamma(shape, (2, len(block), n, n))
        first, second = unit * np.maximum(virtual, _LEAST * shape)
        mean = (first + second) / 2
        favour = others.standard_gamma(0.5, (2, len(block), 1, 1)) * games / max(tally.units, 1)
        favour *= tally.units <= FEW
        won, played = tally.sums(tally.weights(generator, len(block)))
        won_evenly, played_evenly = won, played
        if few.any():
            more = of_few.standard_gamma(0.5, (2, len(block), n, n)) * few
            won_evenly, played_evenly = won + more[0], played + more.sum(0)
        won_evenly, played_evenly = _balanced(won_evenly, played_evenly)
        estimate = fit(won_evenly + mean, played_evenly + mean + mean.swapaxes(1, 2), start)
        samples[block] = estimate[0]
        # Chance splits each agent's virtual points between the colours: equal halves would pull the
        # advantage to 0. Few openings get one more opening, which favours either player by half.
        won, played = won + first + favour[0], played + favour.sum(0)
        first_move_samples[block] = fit(won, played + first + second.swapaxes(1, 2), estimate)[1]
    deviations = _lacking(tally, information(even[1], start[0]))
    samples += deviations * noise.standard_normal(samples.shape)
    return start[0], first_move, samples, first_move_samples


@one_thread()
def _lacking(tally: Tally, matrix: Float64s) -> Float64s:
    """Return the deviation in Elo ``[players]`` that the samples lack: a floor for few openings.

    The sums of an agent's points in a few openings can be nearly equal by chance. Then resampled
    openings differ too little. The floor is the variance of resampled pairs of games, of which
    there are more. For two agents, the two variances are equal. ``matrix`` is the information.
    """
    inverse, variances = np.linalg.inv(matrix), np.zeros((2, len(matrix)))
    for part in filter(None, (tally, tally.beside)):
        units = len(part.points)
        if part.resampled == "openings" and units > 1:
            deviations = part.deviations()  # antisymmetric
            by_opening = deviations.sum(2) @ inverse
            squares = (deviations**2).sum(0)
            by_pair = inverse**2 @ squares.sum(1) - (inverse @ squares * inverse).sum(1)
            variances += units / (units - 1) * np.stack([by_pair, (by_opening**2).sum(0)])
    return np.asarray(ELO * np.sqrt(np.maximum(variances[0] - variances[1], 0)))


def _missing(games: Float64s) -> Float64s:
    """Return how much of one more game a pair's rarer colour gets, 0..1, ``[players, players]``.

    The results of few games with one colour can be nearly equal by chance. As with Jeffreys' prior,
    each player gets half of the game's points. If both colours are equally frequent, no game is
    added.
    """
    return np.where(games > 0, 1 - games / np.maximum(np.maximum(games, games.T), 1), 0.0)


def _balanced(points: Float64s, games: Float64s) -> tuple[Float64s, Float64s]:
    """Rescale points and games so that each pair has equally many games with each colour.

    The Elo fit uses the rescaled games, so that Elo predicts an agent's share of all points, even
    if moving first decides most of the games. ``a`` games with one colour and ``b`` games with the
    other colour say as much as ``2ab / (a + b)`` games with each colour.
    """
    reverse = games.swapaxes(-1, -2)
    both = (games > 0) & (reverse > 0)
    scale = np.where(both, reverse / np.where(both, games + reverse, 1), 0.5)
    won = points * scale + ((games - points) * scale).swapaxes(-1, -2)
    return won, won + won.swapaxes(-1, -2)


def quasi_errors(elo: Float64s, samples: Float64s, alike: Bools) -> tuple[Float64s, Float64s]:
    """Return how far each agent's interval reaches below and above its Elo, ``[players]`` each.

    The lower half width of each difference should be the root of ``below**2`` of the first agent
    plus ``above**2`` of the second. The fit minimises the deviance of a gamma distribution, by
    steps that keep all numbers positive. Pairs that are ``alike``, ``[players, players]``, do not
    count: only intervals without width would give the interval of their difference.
    """
    n = len(elo)
    below = above = np.zeros(n)
    if n < 2:
        return below, above
    low = [np.percentile(samples[:, [i]] - samples, TAILS[0], axis=0) for i in range(n)]
    wanted = np.maximum(elo[:, None] - elo - low, _TIE) ** 2
    weights = np.where(alike, _NEARLY_NONE, 1.0) - np.eye(n)
    below = above = np.full(n, (wanted * weights).sum() / weights.sum() / 2)
    for _ in range(_STEPS):
        both = below[:, None] + above
        below = below * np.sqrt((wanted / both**2 * weights).sum(1) / (weights / both).sum(1))
        both = below[:, None] + above
        above = above * np.sqrt((wanted / both**2 * weights).sum(0) / (weights / both).sum(0))
    return np.sqrt(below), np.sqrt(above)


def common_factor(elo: Float64s, samples: Float64s, below: Float64s, above: Float64s) -> float:
    """Return the factor on half widths with which all intervals hold at once: a maximum t.

    In 95 % of the samples, every difference is within this factor times its half width of the
    fitted difference. Tukey's range is the same for equal normal errors; this counts the errors
    that the agents' common openings make, and their different sizes.
    """
    if len(elo) < 2:
        return 1.0
    off, worst = samples - elo, np.zeros(len(samples))
    for i in range(len(elo)):
        farthest = ((off - off[:, [i]]) / np.hypot(below[i], above)).max(1)
        worst = np.maximum(worst, farthest)
    return max(1.0, float(np.percentile(worst, TAILS[1] - TAILS[0])))


def _blocks(players: int) -> list[Int64s]:
    """Return the indices of the bootstrap draws, in blocks that fit into the processor's cache."""
    count = -(-DRAWS * players * players // _BLOCK)
    return np.array_split(np.arange(DRAWS), min(DRAWS, count))


def rank_ends(elo: Float64s) -> tuple[Float64s, Float64s]:
    """Return the ends of each player's 95 % interval of ranks, from draws ``[draws, players]``."""
    players = range(elo.shape[1])
    above = np.stack([(elo > elo[:, [i]] + _TIE).sum(1) for i in players], 1)
    below = np.stack([(elo < elo[:, [i]] - _TIE).sum(1) for i in players], 1)
    best = np.percentile(above + 1, TAILS[0], axis=0, method="inverted_cdf")
    worst = np.percentile(elo.shape[1] - below, TAILS[1], axis=0, method="inverted_cdf")
    return best, worst


def chance_better(elo: Float64s, one: int, other: int) -> float:
    """Return the share of bootstrap draws in which ``one`` has the higher Elo; ties count half."""
    ahead = elo[:, one] - elo[:, other]
    return float((ahead > _TIE).mean() + (np.abs(ahead) <= _TIE).mean() / 2)
