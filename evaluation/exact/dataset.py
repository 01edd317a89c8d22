"""Positions with the exact score of every column, to train and to test on, and their files."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from c4env.agents.imports import suggest
from c4env.arrays import Bools, Int8s, Int64s
from c4env.errors import InvalidOption, UnreadableRun, Unwritable, require_integer
from c4env.evaluation.store.lines import Lines
from c4env.evaluation.tables import plural, shortened
from c4env.files import write_whole
from c4env.lazy import from_extra
from c4env.system import usable_cores

from ...agents.pool import Pool
from ...agents.solver import NO_SCORE, Solver, enumeration
from ...agents.solver.book import default_book, twelve_ply_book
from ...agents.solver.exam import SHA256, in_exam, keys
from ...bitboard import CELLS, COLUMNS, FROM_TOP, ROWS, mirror_all
from ...envs.batch import boards_from
from ...envs.kernels import streams
from ...envs.vector import ConnectFourVectorEnv
from ...position import Position

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset

SPLITS: Final = ("train", "validation", "test", "exam")


class Row(NamedTuple):
    """A position of :class:`Data`; the fields are those of its columns."""

    mine: int
    theirs: int
    ply: int
    score: int
    columns: Int8s  # [7]
    best: Bools  # [7]
    split: str

    @property
    def position(self) -> Position:
        """The position."""
        return Position.from_bitboards(self.mine, self.theirs)


@dataclass(frozen=True, repr=False, eq=False)
class Data:
    """A table of N unfinished positions, one of each mirror pair, with their exact scores.

    ``len`` is N; a number gives a :class:`Row`, a slice, mask or array of numbers gives the
    :class:`Data` of these rows; iteration yields the rows. The attributes are the columns.

    Example:
        >>> positions = data("positions.npz", 20, plies=range(30, 36), sets=["random"])
        >>> positions
        <Data: 20 positions of 30 to 35 plies; 17 train, 3 validation>
        >>> positions[:5].score.shape
        (5,)
    """

    mine: Int64s  # [N] bitboards of the side to move (c4env.bitboard)
    theirs: Int64s  # [N] bitboards of the other side
    ply: Int8s  # [N] discs on the board
    score: Int8s  # [N] exact score for the side to move (c4env.agents.solver.Solver)
    columns: Int8s  # [N, 7] the score of each column, NO_SCORE (-99) where it is full
    best: Bools  # [N, 7] whether a column has the greatest score
    split: NDArray[np.str_]  # [N] one of SPLITS; a position has the same split in all files

    def __len__(self) -> int:
        return len(self.mine)

    def __repr__(self) -> str:
        noun = plural(len(self), "position")
        if not len(self):
            return f"<Data: {noun}>"
        splits = Counter(self.split.tolist())
        sizes = ", ".join(f"{splits[name]} {name}" for name in SPLITS if splits[name])
        return f"<Data: {noun} of {self.ply.min()} to {self.ply.max()} plies; {sizes}>"

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> Row: ...
    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | list[int]) -> Data: ...
    def __getitem__(
        self, rows: int | np.integer[Any] | slice | NDArray[Any] | list[int]
    ) -> Row | Data:
        columns = self._columns()
        if isinstance(rows, int | np.integer):
            cells = {name: column[rows] for name, column in columns.items()}
            return Row(**{name: c if c.ndim else c.item() for name, c in cells.items()})
        return Data(**{name: column[rows] for name, column in columns.items()})

    def __iter__(self) -> Iterator[Row]:
        return (self[row] for row in range(len(self)))

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in NAMES}

    def of(self, split: str) -> Data:
        """Return the positions of a split.

        Raises:
            InvalidOption: ``split`` is not in ``SPLITS``.
        """
        if split not in SPLITS:
            raise InvalidOption(f"split={split!r}: expected one of {', '.join(SPLITS)}")
        chosen: Data = self[self.split == split]
        return chosen

    def numpy(self) -> tuple[NDArray[np.float32], ...]:
        """Convert the data to float32 arrays for training.

        Returns:
            planes ``[N, 2, 6, 7]`` (the side to move's discs first, row 0 on top); masks
            ``[N, 7]``; policies ``[N, 7]``, uniform over the best columns; and values ``[N]``: 1
            for a win of the side to move, 0 for a draw, -1 for a loss.
        """
        cells = [side[:, None] >> np.array(FROM_TOP) & 1 for side in (self.mine, self.theirs)]
        planes = np.stack(cells, axis=1).reshape(-1, 2, ROWS, COLUMNS)
        policy = self.best / self.best.sum(axis=1, keepdims=True)
        arrays = (planes, self.columns != NO_SCORE, policy, np.sign(self.score))
        return tuple(a.astype(np.float32) for a in arrays)

    def torch(self) -> TensorDataset:
        """Convert the arrays of :meth:`numpy` to tensors for PyTorch's ``DataLoader``.

        Raises:
            MissingExtra: PyTorch is not installed.
        """
        with from_extra("torch", "a data set of tensors needs PyTorch"):
            import torch
            from torch.utils.data import TensorDataset
        return TensorDataset(*map(torch.from_numpy, self.numpy()))

    def frame(self) -> Any:
        """The table as a ``pandas.DataFrame``; ``columns`` and ``best`` hold arrays ``[7]``.

        Raises:
            MissingExtra: pandas is not installed.
        """
        with from_extra("pandas", "a frame needs pandas"):
            import pandas
        return pandas.DataFrame({name: list(column) for name, column in self._columns().items()})

    @classmethod
    def read(cls, path: str | Path) -> Data:
        """Read a ``.npz`` or ``.parquet`` file.

        Raises:
            UnreadableRun: the file was not written by ``c4 data``.
            MissingExtra: pyarrow is not installed.
        """
        path = Path(path)
        reader = form_of(path)[0]
        try:
            return cls(*reader(path))
        except (OSError, ValueError, KeyError, EOFError) as error:
            said = shortened(" ".join(str(error).split()), 120)
            raise UnreadableRun(f"{path}: {said}: expected a file written by c4 data") from None


NAMES: Final = tuple(field.name for field in fields(Data))


def _read_npz(path: Path) -> Iterator[Any]:
    with np.load(path, allow_pickle=False) as content:
        yield from [content[name] for name in NAMES]


def _write_npz(file: IO[bytes], found: Data) -> None:
    np.savez_compressed(file, allow_pickle=False, **found._columns())


def _parquet() -> Any:
    """Import ``pyarrow.parquet``."""
    with from_extra("parquet", "a .parquet file needs pyarrow"):
        import pyarrow.parquet
    return pyarrow.parquet


def _read_parquet(path: Path) -> Iterator[Any]:
    table = _parquet().read_table(path)
    for name in NAMES:
        column = table[name].combine_chunks()
        if name in ("columns", "best"):
            column = column.flatten()
        array = np.asarray(column.to_numpy(zero_copy_only=False))
        shaped = array.reshape(-1, COLUMNS) if name in ("columns", "best") else array
        yield shaped.astype(str) if name == "split" else shaped


def _write_parquet(file: IO[bytes], found: Data) -> None:
    parquet = _parquet()
    import pyarrow as pa

    arrays = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(column.ravel()), COLUMNS)
        if column.ndim == 2
        else pa.array(column)
        for name, column in found._columns().items()
    }
    parquet.write_table(pa.table(arrays), file)


Form = tuple[Callable[[Path], Iterator[Any]], Callable[[IO[bytes], Data], None]]
FORMS: Final[Mapping[str, Form]] = {
    ".npz": (_read_npz, _write_npz),
    ".parquet": (_read_parquet, _write_parquet),
}


def form_of(path: Path) -> Form:
    """Return the reader and the writer of a file, chosen by the ending of its name.

    Raises:
        InvalidOption: the ending is not in ``FORMS``.
        MissingExtra: pyarrow is not installed.
    """
    if path.suffix not in FORMS:
        raise InvalidOption(f"{path}: expected a file name that ends in {' or '.join(FORMS)}")
    if path.suffix == ".parquet":
        _parquet()  # report a missing library before any work
    return FORMS[path.suffix]


ALL, UCI = LISTED = "all", "uci"
POSITIONS: Final = 10_000  # the default number of positions
UCI_PLIES: Final = 8
MOST_PLIES: Final = 12  # in the set all: six million positions, one of each mirror pair
PORTION: Final = 1024  # positions in a line of FILE.part
GAMES: Final = 4096  # games played at the same time
# The search for more positions of a ply ends after this many boards, plus this many boards for
# each position wanted.
PASSED: Final = 1_000_000, 10

# Fast agents, which answer many boards at once, and their weights in the draw of players.
ZOO: Final = {
    "random": 1,
    "greedy": 2,
    "greedy:heuristic=window": 2,
    "minimax:depth=3": 2,
    "alphabeta:depth=4,heuristic=lines": 1,
    "alphabeta-window": 1,
}
PLAYERS: Final[Mapping[str, Mapping[str, int]]] = {"random": {"random": 1}, "zoo": ZOO}
"""The agents that play the games of each set, with their weights."""
RANDOM_DISCS: Final = 12  # the most random discs at the start of a game of the set zoo

Boards = tuple[Int64s, Int64s]
Watch = Callable[[int, int], None]


def data(
    file: str | Path,
    positions: int | None = None,
    plies: range | None = None,
    seed: int = 0,
    sets: Sequence[str] = ("random", "zoo"),
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Data:
    """Draw positions, score every column exactly, and write positions and scores to a file.

    Args:
        file: the file to write, ending in ``.npz`` or ``.parquet``.
        positions: total number of positions, 10,000 if not given. Each ply gets an equal part if
            it has enough positions. None takes every position of ``all`` or ``uci``.
        plies: range of discs on the board; by default ``range(8, 31)``.
        seed: seed of the games that the positions are from, and of their order in the file.
        sets: ``random``, positions of random games; ``zoo``, positions of games between the agents
            in ``ZOO``, with some random moves; ``all``, every position of up to ``MOST_PLIES``
            plies; ``uci``, the 67,557 positions of the UCI set, with the split ``exam``.
        jobs: number of threads, one for each core if not given.
        watch: called with the number of positions labelled and the total.

    Returns:
        the content of the file.

    Raises:
        InvalidOption: an argument is invalid, the file exists, or there are too few positions; or
            positions of 8 to 11 plies need the 12-ply book of the extra ``book``.
        UnreadableRun: ``FILE.part`` is damaged or belongs to another call.
        Unwritable: the file cannot be written; or another process is writing the file.
        MissingExtra: pyarrow is not installed.

    Example:
        >>> positions = data("positions.npz", 20, plies=range(30, 36), sets=["random"])
        >>> positions.ply[:3]
        array([34, 31, 35], dtype=int8)
    """
    file = Path(file)
    writer = form_of(file)[1]
    if file.exists() or not file.parent.is_dir():
        raise InvalidOption(f"{file}: expected a new file in an existing directory")
    listed = _check_sets(sets)
    if UCI in sets and (positions is not None or plies is not None):
        raise InvalidOption(f"set {UCI}: expected neither positions nor plies; the set is fixed")
    if plies is None:
        plies = range(UCI_PLIES, UCI_PLIES + 1 if UCI in sets else 31)
    most = MOST_PLIES if listed else CELLS - 1
    if not plies or plies.step != 1 or plies[0] < 0 or plies[-1] > most:
        raise InvalidOption(f"plies={plies!r}: expected consecutive numbers of 0..{most}")
    require_integer("seed", seed, 0, "an integer of 0 or more")
    positions = POSITIONS if positions is None and not listed else positions
    if positions is not None:
        require_integer("positions", positions)
    threads = require_integer("jobs", usable_cores() if jobs is None else jobs)
    # Without the book, a position of 8 to 11 discs takes about a second.
    early = plies.start < MOST_PLIES and plies[-1] >= UCI_PLIES
    solver = Solver(twelve_ply_book() if early else default_book())
    names = list(dict.fromkeys(sets))
    header: dict[str, Any] = {"seed": seed, "sets": names, "plies": [plies[0], plies[-1]]}
    header |= {"positions": positions, "exam": SHA256}
    part = file.with_name(f"{file.name}.part")
    asked = names, plies, positions, seed
    drawn = None if part.exists() else _draw(*asked)  # may raise, so it precedes any file
    with Lines(part, _decode) as lines:
        if not lines.entries:
            boards = _draw(*asked) if drawn is None else drawn
            lines.append([header, _encode(boards)])
            lines.entries.append((header, boards))
        (call, boards), *done = lines.entries
        if call != header:
            raise UnreadableRun(f"{part} belongs to another call: {call}, not {header}")
        for start in range(sum(map(len, done)), boards.shape[1], PORTION):
            if watch is not None:
                watch(start, boards.shape[1])
            some = boards[:, start : start + PORTION]
            done.append(solver.columns_many(*some, threads=threads))
            lines.append(_encode(done[-1]))
        if watch is not None:
            watch(boards.shape[1], boards.shape[1])
        found = _labelled(boards[0], boards[1], np.concatenate(done))
        try:
            write_whole(file, lambda out: writer(out, found))
        except OSError as error:
            raise Unwritable(f"{file}: {error.strerror or error}") from None
    part.unlink()
    return found


def _check_sets(sets: Sequence[str]) -> bool:
    """Return whether the set is listed, not drawn from games.

    Raises:
        InvalidOption: there is no such set.
    """
    listed = len(sets) == 1 and sets[0] in LISTED
    if not listed and (not sets or any(name not in PLAYERS for name in sets)):
        known = [*PLAYERS, *LISTED]
        wrong = "".join(suggest(name, known) for name in sets if name not in known)
        raise InvalidOption(
            f"sets {' '.join(sets)!r}{wrong}: expected one or more of "
            f"{', '.join(PLAYERS)}, or one of {', '.join(LISTED)}"
        )
    return listed


def _draw(names: Sequence[str], plies: range, positions: int | None, seed: int) -> Int64s:
    """Draw the positions of a file, in file order, as bitboards ``[2, N]``.

    Raises:
        InvalidOption: the sets have fewer positions than ``positions``.
    """
    if positions is None or names[0] in LISTED:
        drawn = _canonical(*_listed(names[0], plies))
    else:
        drawn = _canonical(*_met(names, plies, positions, seed))
    if positions is not None and drawn.shape[1] < positions:
        raise InvalidOption(
            f"positions={positions}: expected at most {drawn.shape[1]}, the number of positions "
            f"found with {plies[0]}..{plies[-1]} plies"
        )
    return np.random.default_rng(seed).permutation(drawn, axis=1)[:, :positions]


def _labelled(mine: Int64s, theirs: Int64s, columns: Int8s) -> Data:
    """Build a data set from boards and the scores of their columns."""
    score = columns.max(axis=1)
    # A hash that mirror images share chooses the split; validation and test get 1/20 each.
    part = (keys(mine, theirs) * np.uint64(0xD1B54A32D192ED03) >> np.uint64(40)) % np.uint64(20)
    split = np.choose(np.minimum(part, np.uint64(2)).astype(np.int64), [1, 2, 0])
    split[in_exam(mine, theirs)] = SPLITS.index("exam")
    ply = np.bitwise_count(mine | theirs).astype(np.int8)
    best = columns == score[:, None]
    return Data(mine, theirs, ply, score, columns, best, np.array(SPLITS)[split])


def distinct(mine: Int64s, theirs: Int64s) -> Int64s:
    """Return the indices of the distinct positions; mirror images count as equal."""
    return np.sort(np.unique(keys(mine, theirs), return_index=True)[1])


def _listed(name: str, plies: range) -> Boards:
    """Return all positions of the set ``all`` or ``uci``."""
    layers = enumeration.layers(plies[-1])[plies.start :]
    mine, theirs = enumeration.bitboards(np.concatenate(layers))
    if name == ALL:
        kept = ~in_exam(mine, theirs)
    else:
        kept = enumeration.without_immediate_win(mine, theirs)
    return mine[kept], theirs[kept]


def _met(names: Sequence[str], plies: range, positions: int, seed: int) -> Boards:
    """Collect at least ``positions`` boards from games, the same number per ply if possible."""
    sources = [_games(PLAYERS[name], seed) for name in names]
    found = {ply: np.empty((2, 0), np.int64) for ply in plies}
    few: set[int] = set()
    passed = 0
    while True:
        settled = sum(found[ply].shape[1] for ply in few)
        share = -(-(positions - settled) // max(1, len(plies) - len(few)))
        short = [ply for ply in plies if ply not in few and found[ply].shape[1] < share]
        if not short:
            break
        batch = np.concatenate([next(source) for source in sources], axis=1)
        batch = batch[:, ~in_exam(*batch)]
        discs = np.bitwise_count(batch[0] | batch[1])
        for ply in short:
            joined = np.concatenate([found[ply], batch[:, discs == ply]], axis=1)
            found[ply] = joined[:, distinct(*joined)]
        passed += batch.shape[1]
        if passed > PASSED[0] + PASSED[1] * positions:
            few.update(ply for ply in short if found[ply].shape[1] < share)
            passed = 0
    kept = [boards[:, : None if ply in few else share] for ply, boards in found.items()]
    mine, theirs = np.concatenate(kept, axis=1)
    return mine, theirs


def _games(players: Mapping[str, int], seed: int) -> Iterator[Int64s]:
    """Yield boards ``[2, M]`` of many parallel games; a new game replaces each finished game.

    A game begins with 0 to ``RANDOM_DISCS`` random discs. Then two players move, and each game has
    its own probability of a random move.
    """
    generator = np.random.default_rng([seed, *zlib.crc32(repr(players).encode()).to_bytes(4)])
    seats = [Pool(players, int(s)) for s in generator.integers(2**32, size=2)]
    for seat in seats:
        seat.reset(seed)
    envs = ConnectFourVectorEnv(GAMES, illegal="raise", autoreset_mode="Disabled")
    seen, info = envs.reset()
    random_discs, errs = np.zeros(GAMES, np.int64), np.zeros(GAMES)
    while True:
        met = []
        for _ in range(CELLS):
            plies, masks = info["ply"], seen["action_mask"]
            new = np.flatnonzero(plies == 0)
            random_discs[new] = generator.integers(0, RANDOM_DISCS + 1, len(new))
            errs[new] = 0.5 * generator.random(len(new)) ** 2
            discs = boards_from(seen)
            seeds = streams(generator.integers(2**63, size=GAMES, dtype=np.uint64))
            met.append(discs.T)
            columns = (generator.random(masks.shape) * masks).argmax(axis=1)
            chosen = (plies >= random_discs) & (generator.random(GAMES) >= errs)
            for number, seat in enumerate(seats):
                seat.begin_games(new, seeds[new])
                at = np.flatnonzero(chosen & (plies % 2 == number))
                if len(at):
                    columns[at] = seat.choose_in_games(at, discs[at], seeds[at])
            seen, _, over, _, info = envs.step(columns)
            if over.any():
                seen, info = envs.reset(options={"reset_mask": over})
        yield np.concatenate(met, axis=1)


def _canonical(mine: Int64s, theirs: Int64s) -> Int64s:
    """Replace each board ``[2, N]`` with its mirror image if the image has smaller bitboards."""
    boards = np.stack([mine, theirs])
    images = np.stack([mirror_all(mine), mirror_all(theirs)])
    swap = (images[0] < mine) | ((images[0] == mine) & (images[1] < theirs))
    return np.where(swap, images, boards)


def _decode(line: Any) -> Any:
    """Decode a line of ``FILE.part``: the call and the boards it draws, or scores of columns."""
    if isinstance(line[0], dict):
        return line[0], _decode(line[1])
    kind, shape, text = line
    raw = bytearray(zlib.decompress(base64.b64decode(text)))  # kernels need writable arrays
    return np.frombuffer(raw, {"boards": np.int64, "scores": np.int8}[kind]).reshape(shape)


def _encode(array: NDArray[Any]) -> list[Any]:
    """Encode an array in a line of ``FILE.part``, the inverse of :func:`_decode`."""
    kind = "boards" if array.dtype == np.int64 else "scores"
    return [kind, array.shape, base64.b64encode(zlib.compress(array.tobytes())).decode()]
