"""Positions with the exact score of every column, to train and to test on.

    sets of positions -> draw -> FILE.part: boards, then their scores -> FILE.npz or FILE.parquet

:func:`data` makes such a file, and :class:`Data` is its content.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from c4env.agents.pool import Pool
from c4env.agents.solver import NO_SCORE, Solver, enumeration
from c4env.agents.solver.exam import SHA256, in_exam, keys
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import CELLS, COLUMNS, mirror_all
from c4env.envs.batch import boards_from, discs_on
from c4env.envs.streams import streams
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.errors import InvalidOption, UnreadableRun, require_integer, suggest
from c4env.evaluation.progress import Watcher
from c4env.evaluation.store.header import EXACT, versions
from c4env.evaluation.store.lines import Lines
from c4env.evaluation.tables import plural, shortened
from c4env.files import write_whole
from c4env.lazy import from_extra
from c4env.observation import Form, planes_of
from c4env.position import Position
from c4env.system import usable_cores

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset

FORMS: Final = (".npz", ".parquet")
SPLITS: Final = ("train", "validation", "test", "exam")
POSITIONS: Final = 10_000  # by default
UCI_PLIES: Final = 8
MOST_PLIES: Final = 12  # in the set all: six million positions, one of each mirror pair
PORTION: Final = 1024  # positions in a line of FILE.part
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

    mine: Int64s  #: [N] bitboards of the side to move (c4env.bitboard)
    theirs: Int64s  #: [N] bitboards of the other side
    ply: Int8s  #: [N] discs on the board
    score: Int8s  #: [N] exact score for the side to move (c4env.agents.solver.Solver)
    columns: Int8s  #: [N, 7] the score of each column, NO_SCORE (-99) where it is full
    best: Bools  #: [N, 7] whether a column has the greatest score
    split: NDArray[np.str_]  #: [N] one of SPLITS; a position has the same split in all files

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
        cells: dict[str, Any] = {name: array[rows] for name, array in vars(self).items()}
        if isinstance(rows, int | np.integer):
            return Row(**{name: cell if cell.ndim else cell.item() for name, cell in cells.items()})
        return Data(**cells)

    def __iter__(self) -> Iterator[Row]:
        return (self[row] for row in range(len(self)))

    def of(self, split: str) -> Data:
        """Return the positions of a split.

        Raises:
            InvalidOption: ``split`` is not in ``SPLITS``.
        """
        if split not in SPLITS:
            raise InvalidOption(f"split={split!r}: expected one of {', '.join(SPLITS)}")
        return self[np.flatnonzero(self.split == split)]

    def numpy(self) -> tuple[NDArray[np.float32], ...]:
        """Convert the data to float32 arrays for training.

        Returns:
            planes ``[N, 2, 6, 7]`` (the side to move's discs first, row 0 on top); masks
            ``[N, 7]``; policies ``[N, 7]``, uniform over the best columns; and values ``[N]``: 1
            for a win of the side to move, 0 for a draw, -1 for a loss.
        """
        boards = np.stack([self.mine, self.theirs], axis=1)
        planes = Form("planes_first", "float32")(planes_of(boards))
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
        return pandas.DataFrame({name: list(column) for name, column in vars(self).items()})

    @classmethod
    def read(cls, path: str | Path) -> Data:
        """Read a ``.npz`` or ``.parquet`` file.

        Raises:
            UnreadableRun: the file was not written by ``c4 data``.
            MissingExtra: pyarrow is not installed.
        """
        path = Path(path)
        require_form(path)
        try:
            return cls(*_read(path))
        except (OSError, ValueError, KeyError, EOFError) as error:
            reason = shortened(" ".join(str(error).split()), 120)
            raise UnreadableRun(f"{path}: {reason}: expected a file written by c4 data") from None


NAMES: Final = tuple(field.name for field in fields(Data))
WIDE: Final = ("columns", "best")  # [N, 7]


def data(
    file: str | Path,
    positions: int | None = None,
    plies: range | None = None,
    seed: int = 0,
    sets: Sequence[str] = ("random", "zoo"),
    jobs: int | None = None,
    watch: Watcher | None = None,
) -> Data:
    """Draw positions, score every column exactly, and write positions and scores to a file.

    Args:
        file: the file to write, ending in ``.npz`` or ``.parquet``.
        positions: total number of positions, 10,000 if not given. Each ply gets an equal part if
            it has enough positions. None takes every position of ``all`` or ``uci``.
        plies: range of discs on the board; by default ``range(8, 31)``.
        seed: seed of the games that the positions are from, and of their order in the file.
        sets: ``random``, positions of random games; ``zoo``, positions of games between
            ``GAME_AGENTS``, with some random moves; ``all``, every position of up to ``MOST_PLIES``
            plies; ``uci``, the 67,557 positions of the UCI set, with the split ``exam``.
        jobs: number of threads, one for each core if not given.
        watch: called with the number of positions labelled and the total.

    Returns:
        the content of the file.

    Raises:
        InvalidOption: an argument is invalid, the file exists, or there are too few positions.
        UnreadableRun: ``FILE.part`` is damaged or belongs to another call.
        Unwritable: the file cannot be written; or another process is writing the file.
        MissingExtra: pyarrow is not installed.

    Example:
        >>> positions = data("positions.npz", 20, plies=range(30, 36), sets=["random"])
        >>> positions.ply[:3]
        array([34, 31, 35], dtype=int8)
    """
    file = Path(file)
    require_form(file)
    _require_new(file)
    draw = _Draw.checked(seed, sets, plies, positions)
    threads = require_integer("jobs", usable_cores() if jobs is None else jobs)
    solver = Solver()
    part = file.with_name(f"{file.name}.part")
    with Lines(part, _decode) as lines:  # locked until the file is written
        try:
            _require_new(file)  # another process may have written it before the lock
            if not lines.entries:
                boards = draw.boards()
                lines.append([draw.header(), _encode(boards)])
                lines.entries.append((draw.header(), boards))
            header, boards = lines.entries[0]
            if header != draw.header():
                raise UnreadableRun(
                    f"{part} belongs to another call: {header}, not {draw.header()}"
                )
            table = _labelled(boards[0], boards[1], _scores(lines, solver, threads, watch))
            _write(file, table)
        finally:
            if file.exists() or not lines.entries:  # nothing to resume
                lines.close()  # Windows removes no open file
                part.unlink(missing_ok=True)
    return table


def _require_new(file: Path) -> None:
    if file.exists() or not file.parent.is_dir():
        raise InvalidOption(f"{file}: expected a new file in an existing directory")


def _scores(lines: Lines, solver: Solver, threads: int, watch: Watcher | None) -> Int8s:
    """Score the columns of all boards, ``[N, 7]``; append the scores that ``FILE.part`` lacks."""
    (_, boards), *scores = lines.entries
    count = boards.shape[1]
    watch = watch or (lambda done, total: None)
    for start in range(sum(map(len, scores)), count, PORTION):
        watch(start, count)
        scores.append(solver.columns_many(*boards[:, start : start + PORTION], threads=threads))
        lines.append(_encode(scores[-1]))
    watch(count, count)
    return np.concatenate(scores)


class _Draw(NamedTuple):
    """What a file holds, and in which order."""

    seed: int
    sets: list[str]
    plies: range
    positions: int | None  # None takes every position of a listed set

    @classmethod
    def checked(
        cls, seed: int, sets: Sequence[str], plies: range | None, positions: int | None
    ) -> _Draw:
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
        require_integer("seed", seed, 0, "an integer of 0 or more")
        if positions is None and not listed:
            positions = POSITIONS
        if positions is not None:
            require_integer("positions", positions)
        return cls(seed, list(dict.fromkeys(sets)), plies, positions)

    def header(self) -> dict[str, Any]:
        """The first item of ``FILE.part``, by which a call knows its own file."""
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
                f"positions={self.positions}: expected at most {count}, the number of positions "
                f"found with {self.plies[0]}..{self.plies[-1]} plies"
            )
        shuffled = np.random.default_rng(self.seed).permutation(boards, axis=1)
        return shuffled[:, : self.positions]


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


def _listed(name: str, plies: range) -> Int64s:
    """Return all positions ``[2, N]`` of the set ``all`` or ``uci``."""
    layers = enumeration.layers(plies[-1])[plies.start :]
    boards = np.stack(enumeration.bitboards(np.concatenate(layers)))
    if name == ALL:
        return boards[:, ~in_exam(*boards)]
    return boards[:, enumeration.without_immediate_win(*boards)]


def _of_games(sets: Sequence[str], plies: range, positions: int, seed: int) -> Int64s:
    """Collect at least ``positions`` boards ``[2, N]``, the same number per ply if possible."""
    sources = [_games(SETS[name], seed) for name in sets]
    boards = {ply: np.empty((2, 0), np.int64) for ply in plies}
    rare: set[int] = set()  # plies of which the games have fewer positions than wanted
    passed = 0
    while True:
        settled = sum(boards[ply].shape[1] for ply in rare)
        share = -(-(positions - settled) // max(1, len(plies) - len(rare)))
        short = [ply for ply in plies if ply not in rare and boards[ply].shape[1] < share]
        if not short:
            break
        batch = np.concatenate([next(source) for source in sources], axis=1)
        batch = batch[:, ~in_exam(*batch)]
        discs = np.bitwise_count(batch[0] | batch[1])
        for ply in short:
            joined = np.concatenate([boards[ply], batch[:, discs == ply]], axis=1)
            boards[ply] = joined[:, distinct(*joined)]
        passed += batch.shape[1]
        if passed > PATIENCE[0] + PATIENCE[1] * positions:
            rare.update(ply for ply in short if boards[ply].shape[1] < share)
            passed = 0
    taken = [boards[ply][:, : None if ply in rare else share] for ply in plies]
    return np.concatenate(taken, axis=1)


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


def _decode(line: Any) -> Any:
    """Decode a line of ``FILE.part``: the call and the boards it draws, or scores of columns."""
    if isinstance(line[0], dict):
        return line[0], _decode(line[1])
    dtype, shape, text = line
    raw = bytearray(zlib.decompress(base64.b64decode(text)))  # kernels need writable arrays
    return np.frombuffer(raw, dtype).reshape(shape)


def _encode(array: NDArray[Any]) -> list[Any]:
    """Encode an array in a line of ``FILE.part``, the inverse of :func:`_decode`."""
    return [array.dtype.str, array.shape, base64.b64encode(zlib.compress(array.tobytes())).decode()]


def require_form(path: Path) -> None:
    """Refuse a file whose ending is not in ``FORMS``, or whose library is not installed."""
    if path.suffix not in FORMS:
        raise InvalidOption(f"{path}: expected a file name that ends in {' or '.join(FORMS)}")
    if path.suffix == ".parquet":
        _pyarrow()


def _pyarrow() -> Any:
    with from_extra("parquet", "a .parquet file needs pyarrow"):
        import pyarrow.parquet
    return pyarrow


def _read(path: Path) -> list[Any]:
    """Read the arrays of :class:`Data`."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as content:
            return [content[name] for name in NAMES]
    arrays, table = [], _pyarrow().parquet.read_table(path)
    for name in NAMES:
        cells = table[name].combine_chunks()
        if name in WIDE:
            arrays.append(np.asarray(cells.flatten()).reshape(-1, COLUMNS))
        else:
            arrays.append(np.asarray(cells, str if name == "split" else None))
    return arrays


def _write(path: Path, table: Data) -> None:
    arrays = vars(table)
    if path.suffix == ".npz":
        write_whole(path, lambda out: np.savez_compressed(out, allow_pickle=False, **arrays))
        return
    pa = _pyarrow()
    cells = {name: pa.array(array.ravel()) for name, array in arrays.items()}
    for name in WIDE:
        cells[name] = pa.FixedSizeListArray.from_arrays(cells[name], COLUMNS)
    write_whole(path, lambda out: pa.parquet.write_table(pa.table(cells), out))
