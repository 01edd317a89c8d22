"""Positions with the exact score of every column, to train and to test on.

    Draw(sets, plies).boards() -> their scores, kept in FILE.part -> FILE.npz or FILE.parquet

:func:`data` makes a file of positions, and :class:`Data` is the content of the file. :func:`exam`
returns the exam as :class:`Data`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver import NO_SCORE, Solver
from c4env.agents.solver.exam import in_exam, keys
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import COLUMNS
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, UnreadableRun, require_integer
from c4env.evaluation.exact.concepts import Concepts, concepts_of
from c4env.evaluation.exact.position_sets import EXAM, FRESH, exam_positions
from c4env.evaluation.exact.sample_positions import Draw
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.jsonl import Memo
from c4env.evaluation.runs.cluster import require_engine, require_share, spread, workers_share
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
PORTION: Final = 1024  # positions per line of FILE.part
CALL: Final = "call"  # the key of the first line, which says what call wrote the file


class Row(NamedTuple):
    """One position of :class:`Data`; the fields have the names of the table's columns."""

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

    ``len`` is N. An index selects one :class:`Row`. A slice, a mask or an array of indices selects
    a smaller :class:`Data`. A loop yields the rows. The attributes are the columns of the table;
    ``masks``, ``keeps`` and ``critical`` are computed from the columns. ``torch.from_numpy`` and
    ``jax.numpy.asarray`` take all of these arrays.

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
    columns: Int8s  #: [N, 7] the score of each column, NO_SCORE (-99) for a full column
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

    @property
    def masks(self) -> Bools:
        """``[N, 7]`` whether a column is legal."""
        masks: Bools = self.columns != NO_SCORE
        return masks

    @property
    def keeps(self) -> Bools:
        """``[N, 7]`` whether a column keeps the win or draw; in a lost position all legal ones."""
        keeps: Bools = self.masks & (np.sign(self.columns) == np.sign(self.score)[:, None])
        return keeps

    @property
    def critical(self) -> Bools:
        """``[N]`` whether the legal columns differ in result; true in every position of an exam."""
        critical: Bools = self.masks.sum(axis=1) > self.keeps.sum(axis=1)
        return critical

    def observations(self, layout: str = "planes_last", dtype: str = "int8") -> NDArray[Any]:
        """Return the observations ``[N, ...]`` in a layout of ``c4env.observation.LAYOUTS``.

        Raises:
            InvalidOption: the layout or the dtype is unknown.
        """
        boards = np.stack([self.mine, self.theirs], axis=1)
        observations: NDArray[Any] = Form(layout, dtype)(planes_of(boards))
        return observations

    def concepts(self) -> Concepts:
        """Return bitboards int64 ``[N]`` of threats, playable cells and cells that keep the result.

        With ``concepts=True``, :func:`data` also writes these columns to the file.
        """
        return concepts_of(self.mine, self.theirs, self.keeps)

    def numpy(self) -> tuple[NDArray[np.float32], ...]:
        """Convert the data to float32 arrays for training.

        Returns:
            planes ``[N, 2, 6, 7]`` (the side to move's discs first, row 0 on top), masks
            ``[N, 7]``, policies ``[N, 7]`` (uniform over the best columns), and values ``[N]`` (1
            for a win of the side to move, 0 for a draw, -1 for a loss).
        """
        policy = self.best / self.best.sum(axis=1, keepdims=True)
        planes = self.observations("planes_first", "float32")
        arrays = (planes, self.masks, policy, np.sign(self.score))
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
        except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
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
    watch: ProgressCallback | None = None,
    *,
    concepts: bool = False,
    backend: str | None = None,
    address: str | None = None,
) -> Data:
    """Draw positions, score every column exactly, and write positions and scores to a file.

    Args:
        file: the file to write, ending in ``.npz`` or ``.parquet``.
        positions: total number of positions, 10,000 if not given, in equal parts for the plies
            that have enough. None takes every position of ``all`` or ``uci``.
        plies: range of discs on the board; by default ``range(8, 31)``.
        seed: seed of the games of the positions, and of their order in the file.
        sets: ``random``, of random games; ``zoo``, of games between fast agents, with some random
            moves; ``all``, every position of up to 12 plies; ``uci``, the 67,557 positions of the
            UCI set, with the split ``exam``.
        jobs: number of threads, one for each core if not given.
        watch: called with the number of positions labelled and the total.
        concepts: also write the columns of :meth:`Data.concepts`.
        backend: score the positions on a cluster: dask or ray. None scores them on this machine.
        address: address of a cluster. Without one, dask and ray start ``jobs`` workers here.

    Returns:
        the content of the file.

    Raises:
        InvalidOption: an argument is invalid, the file exists, or there are too few positions.
        UnreadableRun: ``FILE.part`` is damaged or belongs to another call.
        Unwritable: the file cannot be written, or another process is writing it.
        MissingExtra: pyarrow is not installed.

    Example:
        >>> data("positions.npz", 20, plies=range(30, 36), sets=["random"]).ply[:3]
        array([34, 31, 35], dtype=int8)
    """
    file = Path(file)
    require_form(file)
    _require_new(file)
    draw = Draw.checked(seed, sets, plies, positions)
    threads = require_integer("jobs", usable_cores() if jobs is None else jobs)
    if backend is not None or address is not None:
        require_engine(backend, address)
    part = file.with_name(f"{file.name}.part")
    with Memo(part) as memo:  # locked until the file is written
        try:
            _require_new(file)  # another process may have written it before the lock
            header = draw.header()
            if (kept := memo.get((CALL,), header)) != header:
                raise UnreadableRun(f"{part} belongs to another call: {kept}, not {header}")
            boards = draw.boards()
            memo.keep((CALL,), header)
            score: Score = partial(_score_here, threads=threads)
            if backend is not None:
                task = _Scores(workers_share())
                score = partial(spread, task, backend=backend, address=address, jobs=threads)
            scores = _scores(memo, boards, score, watch)
            table = scored(boards[0], boards[1], scores)
            _write(file, table, table.concepts()._asdict() if concepts else {})
        finally:
            if file.exists() or not memo:  # nothing to resume
                memo.lines.close()  # Windows removes no open file
                part.unlink(missing_ok=True)
    return table


def exam(seed: int | None = None, *, jobs: int | None = None) -> Data:
    """Return the exam that comes with the package, or a fresh exam, in random order.

    A policy's accuracy is the share of positions in which ``keeps`` is true for its column.
    :func:`quality` measures the same accuracy on this exam.

    Args:
        seed: seed of a fresh exam, made in a minute or two; None returns the package's exam.
        jobs: number of processes that make a fresh exam, one for each core if not given.

    Raises:
        InvalidOption: an argument is out of range.

    Example:
        >>> e = exam()
        >>> centre = np.where(e.masks[:, 3], 3, e.masks.argmax(1))  # a policy
        >>> round(float(e.keeps[np.arange(len(e)), centre].mean()), 3)  # its accuracy
        0.475
    """
    questions = exam_positions(EXAM if seed is None else f"{FRESH}{seed}", jobs)
    columns = [[NO_SCORE if s is None else s for s in q.scores or ()] for q in questions]
    boards = bitboards([q.position for q in questions])
    return scored(boards[:, 0].copy(), boards[:, 1].copy(), np.array(columns, np.int8))


def _require_new(file: Path) -> None:
    if file.exists() or not file.parent.is_dir():
        missing = "" if file.parent.is_dir() else f"{file.parent} does not exist: "
        raise InvalidOption(f"{missing}{file}: expected a new file in an existing directory")


Portion = tuple[int, Int64s]
"""Some of the positions: the number of the first position, and the boards ``[2, M]``."""
Score = Callable[[Sequence[Portion]], Iterable[tuple[int, Int8s]]]
"""A function that yields, for each portion, the number of its first position and the scores."""


def _scores(memo: Memo, boards: Int64s, score: Score, watch: ProgressCallback | None) -> Int8s:
    """Return the scores of all columns, int8 ``[N, 7]``, of boards ``[2, N]``.

    The memo stores the scores of each portion, as hexadecimal text.
    """
    watch = watch or (lambda done, total: None)
    count = boards.shape[1]
    starts = range(0, count, PORTION)
    done = count - sum(min(PORTION, count - start) for start in starts if (start,) not in memo)
    watch(done, count)
    missing = [(s, boards[:, s : s + PORTION]) for s in starts if (s,) not in memo]
    for start, scores in score(missing):
        memo.keep((start,), scores.tobytes().hex())
        done += len(scores)
        watch(done, count)
    found = b"".join(bytes.fromhex(memo[start,]) for start in starts)
    return np.frombuffer(found, np.int8).reshape(-1, COLUMNS)


def _score_here(portions: Sequence[Portion], threads: int) -> Iterator[tuple[int, Int8s]]:
    """Score portions on this machine."""
    solver = Solver()
    for start, boards in portions:
        yield start, solver.columns_many(*boards, threads=threads)


@dataclass(frozen=True)
class _Scores:
    """The task of a worker of a cluster: score portions in one thread."""

    share: str  # must be equal on all workers

    def __call__(self, portions: Sequence[Portion]) -> Iterator[tuple[int, Int8s]]:
        require_share(self.share)
        yield from _score_here(portions, threads=1)


def scored(mine: Int64s, theirs: Int64s, columns: Int8s) -> Data:
    """Return the table of the boards ``[N]``, whose columns have the scores ``[N, 7]``."""
    score = columns.max(axis=1)
    # A hash that mirror images share chooses the split; validation and test get 1/20 each.
    part = (keys(mine, theirs) * np.uint64(0xD1B54A32D192ED03) >> np.uint64(40)) % np.uint64(20)
    split = np.choose(np.minimum(part, np.uint64(2)).astype(np.int64), [1, 2, 0])
    split[in_exam(mine, theirs)] = SPLITS.index("exam")
    ply = np.bitwise_count(mine | theirs).astype(np.int8)
    best = columns == score[:, None]
    return Data(mine, theirs, ply, score, columns, best, np.array(SPLITS)[split])


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
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            return [content[name] for name in NAMES]
    arrays, table = [], _pyarrow().parquet.read_table(path)
    for name in NAMES:
        cells = table[name].combine_chunks()
        if name in WIDE:
            arrays.append(np.asarray(cells.flatten()).reshape(-1, COLUMNS))
        else:
            arrays.append(np.asarray(cells, str if name == "split" else None))
    return arrays


def _write(path: Path, table: Data, more: Mapping[str, Int64s]) -> None:
    arrays = {**vars(table), **more}
    if path.suffix == ".npz":
        write_whole(path, lambda out: np.savez_compressed(out, allow_pickle=False, **arrays))
        return
    pa = _pyarrow()
    cells = {name: pa.array(array.ravel()) for name, array in arrays.items()}
    for name in WIDE:
        cells[name] = pa.FixedSizeListArray.from_arrays(cells[name], COLUMNS)
    write_whole(path, lambda out: pa.parquet.write_table(pa.table(cells), out))
