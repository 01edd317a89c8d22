"""Positions with exact scores to learn from, kept in files so that an interruption loses little.

Positions come from games that a batched player plays against itself on ``c4env.Batch``; of each
number of plies so many different ones are taken, a position and its mirror image being one, and
the solver scores every column of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from agents.learned.features import Planes, bitboards_from, planes_from, urgent_columns
from agents.learned.network import Network
from agents.solver import Solver
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import CELLS, COLUMNS, mirror
from c4env.envs.batch import Batch
from c4env.files import write_whole
from c4env.position import Position

FULL: Final = 98  # in place of a score: the column is full
BOARDS: Final = 2048
RANDOM_PLIES: Final = 8  # the most that begin a game
HELD_OUT: Final = 50
PORTION: Final = 1000  # positions labelled between two writes to disk

# Columns for planes [N, 6, 7, 2] and masks [N, 7], drawn from the generator.
Player = Callable[[Planes, Int8s, np.random.Generator], Int64s]


class Labels(NamedTuple):
    """N positions that are not over, and the exact score of each column."""

    mine: Int64s  # [N] bitboards of the side to move
    theirs: Int64s  # [N]
    scores: Int8s  # [N, 7], for the side to move; FULL where the column is

    @property
    def planes(self) -> Int8s:
        """Int8 ``[N, 6, 7, 2]``."""
        return planes_from(self.mine, self.theirs)

    def take(self, rows: NDArray[Any]) -> Labels:
        """The labels of some of the positions."""
        return Labels(self.mine[rows], self.theirs[rows], self.scores[rows])


def noisy_tactician(planes: Planes, masks: Int8s, generator: np.random.Generator) -> Int64s:
    """Wins if it can, else blocks if it must, else plays any column; errs in one move of six."""
    wins, losses = urgent_columns(planes)
    errs = generator.random((len(planes), 1)) < 1 / 6
    weights = generator.random(masks.shape) + 4 * (wins & ~errs) + 2 * (losses & ~errs)
    columns: Int64s = np.argmax(np.where(masks, weights, -1), axis=1)
    return columns


def played(player: Player, quota: Mapping[int, int], seed: int, boards: int = BOARDS) -> Int8s:
    """Different positions from a player's games, about as many of each ply as the quota says.

    Games begin with 0 to 8 random discs. They go on until the quotas are filled, or new positions
    have become rare.

    Args:
        player: plays both sides of all games.
        quota: how many positions by number of plies.
        seed: the same seed plays the same games.
        boards: played at once.

    Returns:
        Planes int8 ``[N, 6, 7, 2]``, by plies.
    """
    generator = np.random.default_rng(seed)
    found: dict[int, dict[tuple[int, int], Int8s]] = {ply: {} for ply in quota}
    batch = Batch(boards)
    random_plies = generator.integers(0, RANDOM_PLIES + 1, boards)
    while True:
        before = sum(map(len, found.values()))
        for _ in range(CELLS):
            planes, masks = batch.observe()
            plies = batch.plies
            for ply, kept in found.items():
                _take(kept, planes[plies == ply], quota[ply])
            drawn = np.argmax(generator.random(masks.shape) * masks, axis=1)
            columns = np.where(plies < random_plies, drawn, player(planes, masks, generator))
            batch.step(columns)
            over = batch.over
            random_plies[over] = generator.integers(0, RANDOM_PLIES + 1, int(over.sum()))
            batch.reset(over)
        if sum(map(len, found.values())) - before < boards // 2:
            break
    return np.array([p for ply in sorted(found) for p in found[ply].values()], np.int8)


def _take(found: dict[tuple[int, int], Int8s], planes: Planes, quota: int) -> None:
    """Keep the positions that are new; a position and its mirror image are one."""
    if len(found) >= quota or not len(planes):
        return
    keys = zip(*(side.tolist() for side in bitboards_from(planes)), strict=True)
    turned = zip(*(side.tolist() for side in bitboards_from(planes[:, :, ::-1])), strict=True)
    for i, key in enumerate(map(min, keys, turned)):
        if len(found) < quota:
            found.setdefault(key, planes[i])


def label(planes: Planes, folder: Path, jobs: int) -> Labels:
    """The exact scores of all columns, in portions that are kept in a folder.

    Portions that are there already are read, not made again.

    Args:
        planes: ``[N, 6, 7, 2]`` of positions that are not over.
        folder: holds the portions of these positions alone.
        jobs: processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mine, theirs = bitboards_from(planes)
    # Every portion gets early and late positions alike, so that all take about as long.
    count = -(-len(mine) // PORTION)
    tasks = (
        joblib.delayed(_portion)(folder / f"{k:04d}.npz", mine[k::count], theirs[k::count])
        for k in range(count)
    )
    portions = joblib.Parallel(n_jobs=jobs)(tasks)
    return Labels(*(np.concatenate(fields) for fields in zip(*portions, strict=True)))


def _portion(path: Path, mine: Int64s, theirs: Int64s) -> tuple[NDArray[Any], ...]:
    if path.exists():
        with np.load(path, allow_pickle=False) as data:
            if np.array_equal(data["mine"], mine) and np.array_equal(data["theirs"], theirs):
                return mine, theirs, data["scores"]
    scores = np.full((len(mine), COLUMNS), FULL, np.int8)
    for row, sides in enumerate(zip(mine.tolist(), theirs.tolist(), strict=True)):
        for column, score in enumerate(solver().scores(Position.from_bitboards(*sides))):
            if score is not None:
                scores[row, column] = score
    write_whole(path, lambda file: np.savez(file, mine=mine, theirs=theirs, scores=scores))
    return mine, theirs, scores


@functools.cache
def solver() -> Solver:
    """One solver a process: what it found out serves the next positions.

    Raises:
        BookUnavailable: the 12-ply book is not installed.
    """
    return Solver(book="12ply")


def best_score(scores: Int8s) -> Int8s:
    """The score ``[N]`` of positions with these scores ``[N, 7]`` of their columns."""
    best: Int8s = np.where(scores == FULL, -FULL, scores).max(axis=1)
    return best


def mirrored(boards: Int64s) -> Int64s:
    """Bitboards ``[N]`` seen from behind; see ``c4env.bitboard.mirror``."""
    return np.fromiter(map(mirror, boards.tolist()), np.int64, len(boards))


def held_out(mine: Int64s, theirs: Int64s) -> Bools:
    """One position in ``HELD_OUT``, and its mirror image, chosen by a hash: kept to measure by.

    The positions of the exam (``agents.solver.exam``) are all among them.
    """
    boards = (mine * 3 + theirs) * 5, (mirrored(mine) * 3 + mirrored(theirs)) * 5
    mixed = np.minimum(*boards).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    chosen: Bools = (mixed >> np.uint64(40)) % np.uint64(HELD_OUT) == 0
    return chosen


class Row(NamedTuple):
    """How often a network is right, over positions of the same plies."""

    plies: str
    positions: int
    best: float  # share of moves by the logits that have the best exact score
    keeps: float  # share of them that keep the outcome: win, draw or loss
    sign: float  # share of values on the right side: win above 1/3, loss below -1/3


def measure(network: Network, labels: Labels, band: int = 6) -> list[Row]:
    """How often a network's first choice and its value are right; the last row is of all."""
    planes = labels.planes
    masks = labels.scores != FULL
    logits, values = network(planes, masks)
    got = labels.scores[np.arange(len(logits)), logits.argmax(axis=1)]
    most = best_score(labels.scores)
    facts = np.stack([got == most, np.sign(got) == np.sign(most)])
    facts = np.vstack([facts, np.rint(values * 1.5) == np.sign(most)])
    plies = np.count_nonzero(planes.reshape(len(planes), -1), axis=1)
    rows = []
    for first in (*range(0, CELLS, band), -1):
        chosen = plies // band == first // band if first >= 0 else plies >= 0
        if chosen.any():
            title = f"{first}-{first + band - 1}" if first >= 0 else "all"
            rows.append(Row(title, int(chosen.sum()), *facts[:, chosen].mean(axis=1).tolist()))
    return rows
