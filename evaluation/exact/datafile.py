"""Read and write data sets (NumPy or Parquet): positions, exact column scores and splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver import NO_SCORE
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import COLUMNS, FROM_TOP, ROWS
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.tables import shortened
from c4env.lazy import from_extra

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset

SPLITS: Final = ("train", "validation", "test", "exam")


class Data(NamedTuple):
    """N unfinished positions, one of each mirror pair, with their exact scores."""

    mine: Int64s  # [N] bitboards of the side to move (c4env.bitboard)
    theirs: Int64s  # [N] bitboards of the other side
    ply: Int8s  # [N] discs on the board
    score: Int8s  # [N] exact score for the side to move (c4env.agents.solver.Solver)
    columns: Int8s  # [N, 7] the score of each column, NO_SCORE (-99) where it is full
    best: Bools  # [N, 7] whether a column has the greatest score
    split: NDArray[np.str_]  # [N] one of SPLITS; a position has the same split in all files

    def take(self, rows: NDArray[Any] | slice) -> Data:
        """Return the data of the given rows."""
        return Data._make(field[rows] for field in self)

    def of(self, split: str) -> Data:
        """Return the positions of a split.

        Raises:
            InvalidOption: ``split`` is not in ``SPLITS``.
        """
        if split not in SPLITS:
            raise InvalidOption(f"split={split!r}: expected one of {', '.join(SPLITS)}")
        return self.take(self.split == split)

    def torch(self) -> TensorDataset:
        """Convert the data to float32 tensors for PyTorch's ``DataLoader``.

        Returns:
            planes ``[N, 2, 6, 7]`` (the side to move's discs first, row 0 on top); masks
            ``[N, 7]``; policies ``[N, 7]``, uniform over the best columns; and values ``[N]``: 1
            for a win of the side to move, 0 for a draw, -1 for a loss.

        Raises:
            MissingExtra: PyTorch is not installed.
        """
        with from_extra("torch", "a data set of tensors needs PyTorch"):
            import torch
            from torch.utils.data import TensorDataset
        cells = [side[:, None] >> np.array(FROM_TOP) & 1 for side in (self.mine, self.theirs)]
        planes = np.stack(cells, axis=1).reshape(-1, 2, ROWS, COLUMNS)
        policy = self.best / self.best.sum(axis=1, keepdims=True)
        arrays = (planes, self.columns != NO_SCORE, policy, np.sign(self.score))
        return TensorDataset(*(torch.from_numpy(a.astype(np.float32)) for a in arrays))

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


def _read_npz(path: Path) -> Iterator[Any]:
    with np.load(path, allow_pickle=False) as content:
        yield from [content[name] for name in Data._fields]


def _write_npz(file: IO[bytes], found: Data) -> None:
    np.savez_compressed(file, allow_pickle=False, **found._asdict())


def _parquet() -> Any:
    """Import ``pyarrow.parquet``."""
    with from_extra("parquet", "a .parquet file needs pyarrow"):
        import pyarrow.parquet
    return pyarrow.parquet


def _read_parquet(path: Path) -> Iterator[Any]:
    table = _parquet().read_table(path)
    for name in Data._fields:
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
        name: pa.FixedSizeListArray.from_arrays(pa.array(field.ravel()), COLUMNS)
        if field.ndim == 2
        else pa.array(field)
        for name, field in found._asdict().items()
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
