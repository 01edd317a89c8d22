"""Draw the positions of a file of exact data, from games or from a list of all positions."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.pool import Pool
from c4env.agents.solver import enumeration
from c4env.agents.solver.exam import SHA256, in_exam, keys
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, mirror_all
from c4env.envs.batch import boards_from, discs_on
from c4env.envs.streams import streams
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.errors import InvalidOption, require_integer, suggest
from c4env.evaluation.records.header import EXACT, versions

POSITIONS: Final = 10_000  # by default
UCI_PLIES: Final = 8
MOST_PLIES: Final = 12  # of the set all: six million positions, one of each mirror pair
GAMES: Final = 4096  # games played at the same time
PATIENCE: Final = 1_000_000, 10
"""The search for more positions of a ply ends after this many boards, plus this many boards for
each position wanted."""
RANDOM_DISCS: Final = 12  # the most random discs at the start of a game of the set zoo

GAME_AGENTS: Final = {
    "random": 1,
    "greedy": 2,
    "greedy:heuristic=window": 2,
    "minimax:depth=3": 2,
    "alphabeta:depth=4,heuristic=lines": 1,
    "alphabeta-window": 1,
}
"""Fast agents, which answer many boards at once, and their weights in the draw of players."""
SETS: Final[Mapping[str, Mapping[str, int]]] = {"random": {"random": 1}, "zoo": GAME_AGENTS}
"""The sets from games, and the agents that play the games, with their weights."""
ALL, UCI = "all", "uci"
LISTED: Final = (ALL, UCI)  # not drawn from games


class Draw(NamedTuple):
    """The positions of a file, and their order."""

    seed: int
    sets: list[str]
    plies: range
    positions: int | None  # None takes every position of a listed set

    @classmethod
    def checked(
        cls, seed: int, sets: Sequence[str], plies: range | None, positions: int | None
    ) -> Draw:
        """Check the arguments of :func:`data`, and replace None by the defaults."""
        listed = len(sets) == 1 and sets[0] in LISTED
        if not listed and (not sets or any(name not in SETS for name in sets)):
            names = [*SETS, *LISTED]
            hints = "".join(suggest(name, names) for name in sets if name not in names)
            raise InvalidOption(
                f"sets {' '.join(sets)!r}{hints}: expected one or more of "
                f"{', '.join(SETS)}, or one of {', '.join(LISTED)}"
            )
        if UCI in sets and (positions is not None or plies is not None):
            raise InvalidOption(
                f"set {UCI}: expected neither positions nor plies; the set is fixed"
            )
        if plies is None:
            plies = range(UCI_PLIES, UCI_PLIES + 1 if UCI in sets else 31)
        most = MOST_PLIES if listed else CELLS - 1
        if not plies or plies.step != 1 or plies[0] < 0 or plies[-1] > most:
            raise InvalidOption(f"plies={plies!r}: expected consecutive numbers of 0..{most}")
        seed = require_integer("seed", seed, 0, "an integer of 0 or more")
        if positions is None and not listed:
            positions = POSITIONS
        if positions is not None:
            positions = require_integer("positions", positions)
        return cls(seed, list(dict.fromkeys(sets)), plies, positions)

    def header(self) -> dict[str, Any]:
        """Return what decides the positions and their order, as JSON values."""
        plies = [self.plies[0], self.plies[-1]]
        return self._asdict() | {"plies": plies, "exam": SHA256, "c4env": versions(EXACT)}

    def boards(self) -> Int64s:
        """Draw the positions in file order, as bitboards ``[2, N]``."""
        if self.positions is None or self.sets[0] in LISTED:
            boards = _canonical(_listed(self.sets[0], self.plies))
        else:
            boards = _canonical(_of_games(self.sets, self.plies, self.positions, self.seed))
        count = boards.shape[1]
        if self.positions is not None and count < self.positions:
            raise InvalidOption(
                f"positions={self.positions}: expected fewer; {count} positions with "
                f"{self.plies[0]}..{self.plies[-1]} plies were found"
            )
        shuffled = np.random.default_rng(self.seed).permutation(boards, axis=1)
        return shuffled[:, : self.positions]


def distinct(mine: Int64s, theirs: Int64s) -> Int64s:
    """Return the indices of the distinct positions; mirror images count as equal."""
    return np.sort(np.unique(keys(mine, theirs), return_index=True)[1])


def _listed(name: str, plies: range) -> Int64s:
    """Return all positions ``[2, N]`` of the set ``all`` or ``uci``."""
    layers = enumeration.layers(plies[-1])[plies.start :]
    boards = np.stack(enumeration.bitboards(np.concatenate(layers)))
    if name == ALL:
        return boards[:, ~in_exam(*boards)]
    return boards[:, enumeration.without_immediate_win(*boards)]


def _of_games(sets: Sequence[str], plies: range, positions: int, seed: int) -> Int64s:
    """Collect at least ``positions`` boards ``[2, N]``.

    If possible, the plies have equal shares, and the sets have equal shares of each ply.
    """
    sources = [_games(SETS[name], seed) for name in sets]
    found = {ply: np.empty((3, 0), np.int64) for ply in plies}  # boards, and their set's number
    parts = [(ply, number) for ply in plies for number in range(len(sets))]
    rare: set[tuple[int, int]] = set()  # parts with fewer positions than wanted
    passed = 0
    while True:
        counts = {part: int((found[part[0]][2] == part[1]).sum()) for part in parts}
        settled = sum(counts[part] for part in rare)
        share = -(-(positions - settled) // max(1, len(parts) - len(rare)))
        short = {part for part in parts if part not in rare and counts[part] < share}
        if not short:
            break
        if passed > PATIENCE[0] + PATIENCE[1] * positions:
            rare |= short
            passed = 0
            continue
        batches = [next(source) for source in sources]
        batches = [batch[:, ~in_exam(*batch)] for batch in batches]
        passed += sum(batch.shape[1] for batch in batches)
        batches = [batch[:, distinct(*batch)] for batch in batches]
        new = _in_turn(batches)
        discs = np.bitwise_count(new[0] | new[1])
        for ply in {ply for ply, _ in short}:
            joined = np.concatenate([found[ply], new[:, discs == ply]], axis=1)
            found[ply] = joined[:, distinct(*joined[:2])]
    taken = [
        found[ply][:2, found[ply][2] == number][:, : None if (ply, number) in rare else share]
        for ply, number in parts
    ]
    return np.concatenate(taken, axis=1)


def _in_turn(batches: Sequence[Int64s]) -> Int64s:
    """Return boards of all batches in turn, with the number of their batch, ``[3, M]``."""
    places = np.concatenate([np.arange(batch.shape[1]) for batch in batches])
    numbers = np.repeat(np.arange(len(batches)), [batch.shape[1] for batch in batches])
    boards = np.vstack([np.concatenate(batches, axis=1), numbers])
    return boards[:, np.argsort(places, kind="stable")]


def _games(agents: Mapping[str, int], seed: int) -> Iterator[Int64s]:
    """Yield boards ``[2, M]`` of many parallel games; a new game replaces each finished game.

    A game begins with 0 to ``RANDOM_DISCS`` random discs. Then two agents move, and each game has
    its own probability of a random move.
    """
    generator = np.random.default_rng([seed, *zlib.crc32(repr(agents).encode()).to_bytes(4)])
    pools = [Pool(agents, int(s)) for s in generator.integers(2**32, size=2)]
    for pool in pools:
        pool.reset(seed)
    sides = [pool.games(GAMES) for pool in pools]
    envs = ConnectFourVectorEnv(GAMES, illegal="raise", autoreset_mode="Disabled")
    observations, _ = envs.reset()
    random_discs, error_rates = np.zeros(GAMES, np.int64), np.zeros(GAMES)
    while True:
        batches = []
        for _ in range(CELLS):
            boards, masks = boards_from(observations), observations["action_mask"]
            plies = discs_on(boards)
            new = np.flatnonzero(plies == 0)
            random_discs[new] = generator.integers(0, RANDOM_DISCS + 1, len(new))
            error_rates[new] = 0.5 * generator.random(len(new)) ** 2
            seeds = streams(generator.integers(2**63, size=GAMES, dtype=np.uint64))
            batches.append(boards.T)
            columns = (generator.random(masks.shape) * masks).argmax(axis=1)
            chosen = (plies >= random_discs) & (generator.random(GAMES) >= error_rates)
            for number, side in enumerate(sides):
                side.begin(new, seeds[new])
                games = np.flatnonzero(chosen & (plies % 2 == number))
                if len(games):
                    columns[games] = side.choose(games, boards[games], seeds[games])
            observations, _, over, _, _ = envs.step(columns)
            if over.any():
                observations, _ = envs.reset(options={"reset_mask": over})
        yield np.concatenate(batches, axis=1)


def _canonical(boards: Int64s) -> Int64s:
    """Replace each board ``[2, N]`` with its mirror image if the image has smaller bitboards."""
    mine, theirs = boards
    images = np.stack([mirror_all(mine), mirror_all(theirs)])
    smaller = (images[0] < mine) | ((images[0] == mine) & (images[1] < theirs))
    return np.where(smaller, images, boards)
