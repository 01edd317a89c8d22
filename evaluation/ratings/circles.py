"""Circles of agents: each beats the next, and the last beats the first, which no Elo can show.

A pair of agents is decided if chance explains its results badly. The unit of chance is an opening
with both colours, so neither moving first nor an opening that favours a colour decides a pair. The
surplus of a unit is one agent's points per game moving first, less the other agent's, -1..1. If the
two agents were equal, either sign of a surplus would be equally likely. So a pair is decided if the
sum of its surpluses is above 1.96 times the root of the sum of their squares, for which a pair
needs at least four units.

A triad is three agents whose three pairs are decided, and it is a circle if each of them beats one
of the others. Chance makes circles too, and a simulation from the fitted ratings counts them: the
sizes of all surpluses stay, and the signs are drawn again. So openings that favour a colour, draws
and repeated games stay as they are. The mean of a pair's simulated sum is the sum that the ratings
expect. If the sum in the games, less a standard deviation, is nearer to 0, that is the mean; if it
has the other sign, the mean is 0. So a style that Elo misses is not counted as a circle if it
leaves the order of the agents as it is.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s, Int64s
from c4env.evaluation.ratings.fit import DRAWS, ELO, Interval
from c4env.evaluation.ratings.tally import Tally
from c4env.system import one_thread

_DECIDED: Final = 1.96  # standard deviations of equal agents
_TINY: Final = 1e-300  # avoids 0 / 0
_BLOCK: Final = 1 << 19  # pairs of agents, times draws, to count at the same time


class Circles(NamedTuple):
    """How often three agents beat each other in a circle, and how often chance would do that."""

    triads: int = 0  #: three agents of whom any two are decided: one beats the other beyond chance
    cyclic: int = 0  #: the triads in which each agent beats one of the others
    expected: Interval = Interval(0.0, 0.0, 0.0)  #: share by chance, 0..1; 0 without triads
    example: tuple[str, ...] = ()  #: the clearest: each beats the next, and the last the first

    @property
    def share(self) -> float:
        """The share of the triads that are circles, 0..1; 0 without triads."""
        return self.cyclic / max(self.triads, 1)

    @property
    def found(self) -> bool:
        """Whether there are more circles than the ratings expect by chance."""
        return self.share > self.expected.high

    def fact(self) -> dict[str, Any]:
        """The fields as plain Python objects."""
        return {**self._asdict(), "expected": self.expected._asdict()}

    def sentence(self) -> str:
        """The circles that were found, in a sentence."""
        names = " beats ".join([*self.example, self.example[0]])
        _, low, high = self.expected
        return (
            f"Elo hides circles: {self.cyclic} of {self.triads:,} decided triads ({self.share:.1%})"
            f", by chance {low:.1%} .. {high:.1%}. The clearest: {names}."
        )


def circles(tally: Tally, elo: Float64s, seed: int = 0) -> Circles:
    """Count the circles of a field, and how many its ratings expect; none of fewer than 3 agents.

    Args:
        tally: points and games.
        elo: fitted Elo, ``[players]``.
        seed: seed of the simulation.
    """
    if len(elo) < 3:
        return Circles()
    surplus, units = _surpluses(tally)
    root = np.sqrt(np.maximum((surplus**2).sum(0), _TINY))
    clear = surplus.sum(0) / root
    triads, cyclic = map(int, _counts(clear))
    one, other = np.triu_indices(len(elo), 1)
    mean = units[one, other] * np.tanh((elo[one] - elo[other]) / ELO / 2)
    own = np.sign(clear) * np.maximum(np.abs(clear) - 1, 0) * root
    mean = np.clip(own[one, other], np.minimum(mean, 0), np.maximum(mean, 0))
    shares, generator = [], tally.generator(seed)
    for draws in np.array_split(np.empty(DRAWS), -(-DRAWS * len(elo) ** 2 // _BLOCK)):
        drawn = np.zeros((len(draws), *root.shape))
        sums = _drawn(surplus[:, one, other], mean, len(draws), generator)
        drawn[:, one, other] = sums / root[one, other]
        by_chance, circular = _counts(drawn - drawn.swapaxes(1, 2))
        shares.append(circular / np.maximum(by_chance, 1))
    share = np.concatenate(shares)
    example = tuple(tally.players[i] for i in _clearest(clear)) if cyclic else ()
    return Circles(triads, cyclic, Interval.of(share.mean(), share), example)


def _surpluses(tally: Tally) -> tuple[Float64s, Int64s]:
    """Return the surpluses ``[units, players, players]``, and the number of units of each pair.

    The surplus is the row's against the column. A unit counts if the two met with both colours.
    """
    parts = [tally] if tally.beside is None else [tally, tally.beside]
    games = np.concatenate([part.games for part in parts])
    scores = np.concatenate([part.points for part in parts]) / np.maximum(games, 1)
    both = (games > 0) & (games > 0).swapaxes(1, 2)
    return np.where(both, scores - scores.swapaxes(1, 2), 0.0), both.sum(0)


def _drawn(
    surplus: Float64s, mean: Float64s, draws: int, generator: np.random.Generator
) -> Float64s:
    """Draw the signs of surpluses ``[units, pairs]`` again; return their sums, ``[draws, pairs]``.

    The chance of either sign is the same in all units of a pair. The mean of its sums is ``mean``,
    ``[pairs]``, or as near to it as the surpluses allow.
    """
    sizes = np.abs(surplus).round(9)
    chance = (1 + np.clip(mean / np.maximum(sizes.sum(0), _TINY), -1, 1)) / 2
    sums = np.zeros((draws, len(mean)))
    for size in np.unique(sizes[sizes > 0]):
        times = (sizes == size).sum(0)
        sums += size * (2 * generator.binomial(times, chance, sums.shape) - times)
    return sums


@one_thread()
def _counts(clear: Float64s) -> tuple[Float64s, Float64s]:
    """Return the number of triads and of circles among them, each ``[...]``.

    ``clear``, ``[..., players, players]``, is antisymmetric: the sums of surpluses, in standard
    deviations of equal agents.
    """
    beats = (clear > _DECIDED).astype(float)
    decided = beats + beats.swapaxes(-1, -2)
    triads = (decided @ decided * decided).sum((-1, -2)) / 6
    return triads, (beats @ beats * beats.swapaxes(-1, -2)).sum((-1, -2)) / 3


def _clearest(clear: Float64s) -> tuple[int, ...]:
    """Return the circle whose least clear pair is the clearest."""
    best = _DECIDED
    found: tuple[int, ...] = ()
    for i, j in np.argwhere(clear > _DECIDED):
        least = np.minimum(np.minimum(clear[j], clear[:, i]), clear[i, j])
        if least.max() > best:
            best, found = float(least.max()), (int(i), int(j), int(least.argmax()))
    return found
