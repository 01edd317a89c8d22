"""Label positions by exact play: which columns keep the win or the draw.

Up to ``ALL`` plies the labels cover every position; later ones come from games of erring players
(``games``). All labelled positions are quiet: neither side could win with the
next disc. A rule plays the others. Labels are kept in portions, one file each, which depends on the
seed and its number alone; so a stopped run resumes. Each portion holds positions of many plies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.agents.learned import IntegerNetwork, features_of
from c4env.agents.making.spec import make
from c4env.agents.solver.exam import held_out
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import BOTTOM, CELLS, COLUMN, COLUMNS, STRIDE
from c4env.evaluation.exact.sample_positions import distinct
from c4env.files import write_whole
from c4env.observation import planes_of
from c4env.position import Position
from tests.makers.weights.games import play_games

ALL: Final = 7  # plies up to which every position is labelled
TABLE_MB: Final = 256  # of the solver's table
GAMES: Final = 4096  # played at a time
PLAYED_IN_VAIN: Final = 200  # times so many games for a portion, at most

# Positions of each number of plies in a portion. The solver needs longest for those just beyond
# its book's; networks err most from ply 10 to 23.
PORTION: Final = {
    **{8: 150, 9: 200, 10: 350, 11: 450, 12: 250, 13: 350, 14: 500, 15: 550, 16: 650},
    **dict.fromkeys(range(17, 24), 650),
    **dict.fromkeys(range(24, 30), 300),
    **dict.fromkeys(range(30, 37), 120),
}


OPPONENTS: Final = (  # in games of a network; "" is itself
    "",
    "alphabeta-chain",
    "alphabeta-window",
    "alphabeta-window-b",
    "rust-port",
    "alphabeta-window:depth=7",
    "greedy",
)
OPENING: Final = 8
ERRS: Final = 1 / 20  # share of the moves that are at random
# Of the positions of so many plies no more than one for this many games: they are dear.
SHARES: Final = {12: 6, 13: 4, 14: 3, 15: 2}


class Labels(NamedTuple):
    """N quiet positions that are not over, and what exact play says of them."""

    mine: Int64s  # [N] bitboards of the side to move
    theirs: Int64s  # [N]
    signs: Int8s  # [N] 1, 0 or -1: the side to move wins, draws or loses
    keeps: Int8s  # [N, 7] 1 where a column leads to no less, 0 where it does, -1 where it is full

    def take(self, rows: NDArray[np.generic]) -> Labels:
        """The labels of some of the positions."""
        return Labels(*(field[rows] for field in self))

    @classmethod
    def join(cls, parts: Iterable[Labels]) -> Labels:
        """Those of several, each position and its mirror image once."""
        joined = cls(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
        return joined.take(distinct(joined.mine, joined.theirs))

    @classmethod
    def read(cls, path: Path) -> Labels:
        """Those in a file."""
        with np.load(path, allow_pickle=False) as data:
            return cls(*(data[name] for name in cls._fields))

    def write(self, path: Path) -> None:
        """Write them to a file, whole or not at all."""
        fields = self._asdict()
        write_whole(path, lambda file: np.savez_compressed(file, allow_pickle=False, **fields))

    @property
    def critical(self) -> Bools:
        """[N]: some column keeps what the position is worth, and another does not."""
        return np.asarray((self.keeps == 0).any(axis=1))


def played_columns(planes: Int8s) -> tuple[Bools, Bools, Bools]:
    """Columns bool ``[N, 7]`` that are legal, that win at once, and where the other side would."""
    landing = planes[..., 2]
    legal, wins, blocks = (np.asarray(np.any(landing & planes[..., k], axis=1)) for k in (2, 3, 4))
    return legal, wins, blocks


def positions_of_games(
    quota: Mapping[int, int], seed: np.random.SeedSequence, kept: bool = False
) -> tuple[Int64s, Int64s]:
    """Bitboards ``[N]`` of quiet positions from games, as many of each ply as the quota says.

    Fewer where there are not so many; with ``kept`` only those held out, instead of only others.
    """
    sides = []
    for stream, (plies, count) in zip(seed.spawn(len(quota)), quota.items(), strict=True):
        generator = np.random.default_rng(stream)
        mine, theirs = np.empty((2, 0), np.int64)
        for _ in range(PLAYED_IN_VAIN):
            noise = generator.random((GAMES, plies, COLUMNS + 2), np.float32)
            own, other = np.empty((2, GAMES), np.int64)
            found = play_games(noise, own, other)
            own, other = np.append(mine, own[:found]), np.append(theirs, other[:found])
            rows = distinct(own, other)
            rows = rows[held_out(own[rows], other[rows]) == kept][:count]
            mine, theirs = own[rows], other[rows]
            if len(rows) == count:
                break
        sides.append((mine, theirs))
    mine, theirs = (np.concatenate(boards) for boards in zip(*sides, strict=True))
    return mine, theirs


def positions_met(
    network: IntegerNetwork,
    games: int,
    seed: Sequence[int],
    opponents: Sequence[str] = OPPONENTS,
    errs: float = ERRS,
) -> tuple[Int64s, Int64s]:
    """Bitboards ``[N]`` of quiet positions that a network had to move in, none held out.

    Its policy plays at least so many games against the opponents, ``""`` being itself, after 0 to
    ``OPENING`` random discs; each side errs in a share of its moves.
    """
    generator = np.random.default_rng([*seed, games])
    found = [np.empty((2, 0), np.int64)]
    for spec in opponents:
        opponent = make(spec) if spec else None
        sides = np.zeros((2, -(-games // len(opponents))), np.int64)  # by who is to move
        asked = np.arange(sides.shape[1]) & 1  # the colour of the network
        discs = generator.integers(0, OPENING + 1, sides.shape[1])
        for ply in range(CELLS):
            own, other = np.ascontiguousarray(sides)
            planes = planes_of(features_of(own, other))
            legal, wins, blocks = played_columns(planes)
            columns = (generator.random(legal.shape) * legal).argmax(axis=1)
            chosen = (ply >= discs) & (generator.random(len(discs)) >= errs)
            turn = (asked == ply & 1) | (opponent is None)
            ours = chosen & turn
            if ours.any():
                logits = network.evaluate(own[ours], other[ours])[0]
                urgent = np.where(wins.any(axis=1, keepdims=True), wins, blocks)[ours]
                columns[ours] = (logits + 1e6 * urgent - 1e9 * ~legal[ours]).argmax(axis=1)
            if opponent is not None:
                for i in np.flatnonzero(chosen & ~ours).tolist():
                    columns[i] = opponent.choose(
                        Position.from_bitboards(int(own[i]), int(other[i]))
                    )
            quiet = turn & ~(wins | blocks).any(axis=1) & (ply >= discs)
            if ply > ALL:
                found.append(sides[:, quiet])
            cells = ((own | other) + BOTTOM) & (COLUMN << (STRIDE * columns))
            going = ~wins[np.arange(len(columns)), columns]
            sides = np.stack([other, own | cells])[:, going]
            asked, discs = asked[going], discs[going]
    mine, theirs = np.concatenate(found, axis=1)
    rows = distinct(mine, theirs)
    rows = rows[~held_out(mine[rows], theirs[rows])]
    plies = np.bitwise_count((mine | theirs)[rows])
    kept = np.concatenate(
        [np.flatnonzero(plies == p)[: games // SHARES.get(p, 1)] for p in range(42)]
    )
    return mine[rows[kept]], theirs[rows[kept]]


def early_positions() -> tuple[Int64s, Int64s]:
    """Bitboards ``[N]`` of all quiet positions of up to ``ALL`` plies, one of each mirror pair."""
    from c4env.agents.solver import enumeration

    mine, theirs = enumeration.bitboards(np.concatenate(enumeration.layers(ALL)))
    quiet = enumeration.without_immediate_win(mine, theirs)
    return mine[quiet], theirs[quiet]


def exact(mine: Int64s, theirs: Int64s) -> Labels:
    """The labels of quiet positions, by the 12-ply book and search."""
    from c4env.agents.solver import Solver

    solver = Solver(table_mb=TABLE_MB)
    signs = np.empty(len(mine), np.int8)
    keeps = np.full((len(mine), COLUMNS), -1, np.int8)
    for i, sides in enumerate(zip(mine.tolist(), theirs.tolist(), strict=True)):
        position = Position.from_bitboards(*sides)
        sign = signs[i] = solver.sign(position)
        for column in position.legal_columns():
            # Several times quicker than to ask for the column's score.
            keeps[i, column] = sign < 0 or solver.sign(position.play(column)) <= -sign
    return Labels(mine, theirs, signs, keeps)


def by_book(mine: Int64s, theirs: Int64s) -> Labels:
    """The same of early positions, from the scores of the book that comes with the package."""
    from c4env.agents.solver import NO_SCORE, Solver

    scores = Solver().columns_many(mine, theirs)
    signs = np.sign(scores.max(axis=1))
    keeps = np.where(scores == NO_SCORE, -1, np.sign(scores) == signs[:, None])
    return Labels(mine, theirs, signs, keeps.astype(np.int8))


def portion(folder: Path, number: int, seed: int, kept: bool = False) -> Labels:
    """One portion, from its file in the folder, or made and written there.

    Number 0 holds the early positions, from 1 on those of games; ``kept``: those held out.
    """
    path = folder / f"{'held-out' if kept else 'labels'}-{number:04d}.npz"
    if not path.exists():
        if number == 0:
            mine, theirs = early_positions()
            rows = held_out(mine, theirs) == kept
            made = by_book(mine[rows], theirs[rows])
        else:
            made = exact(
                *positions_of_games(PORTION, np.random.SeedSequence([seed, number, kept]), kept)
            )
        made.write(path)
    return Labels.read(path)


def measure(network: IntegerNetwork, labels: Labels) -> tuple[float, float]:
    """The share of critical positions in which the policy gives the value away, and the share of
    all in which the sign of the value is right, a win being above 1/3.
    """
    logits, values = network.evaluate(labels.mine, labels.theirs)
    columns = np.where(labels.keeps < 0, -np.inf, logits).argmax(axis=1)
    blunders = labels.keeps[np.arange(len(columns)), columns] == 0
    right = np.sign(np.trunc(values * 3)) == labels.signs
    return float(blunders.sum() / max(labels.critical.sum(), 1)), float(right.mean())
