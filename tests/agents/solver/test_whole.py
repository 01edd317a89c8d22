"""Every position of a small board, against the slow rules and against the solver's search."""

from __future__ import annotations

import numpy as np
import pytest

from c4env.boards import Size
from c4env.jit import config
from tests.helpers.boards import Columns, Rules, part

SIZE = Size(2, 5, 3) if config.DISABLE_JIT else Size(4, 4, 4)  # compiled for other tests anyway


@pytest.mark.slow
def test_the_table_holds_each_position_once_with_its_scores() -> None:
    size = Size(2, 4, 3) if config.DISABLE_JIT else SIZE
    rows = part(size, "agents.solver.whole").whole_board()
    known = 161_029 if size == (4, 4, 4) else len(reached(size))  # the former: M. Boeck
    assert len(rows) == len(np.unique(rows[["mine", "theirs"]])) == known


def reached(size: Size) -> set[Columns]:
    rules = Rules(size)
    found, layer = {rules.empty}, {rules.empty}
    for ply in range(size.rows * size.columns):
        going = [board for board in layer if not rules.won(board, 1 - ply % 2)]
        layer = {rules.play(b, column, ply % 2) for b in going for column in rules.legal(b)}
        found |= layer
    return found


@pytest.mark.slow
def test_scores_are_those_that_the_search_finds() -> None:
    rows = part(SIZE, "agents.solver.whole").whole_board()
    solver = part(SIZE, "agents.solver.solver").Solver()
    rows = rows[:: len(rows) // 60 if config.DISABLE_JIT else 1]
    mine, theirs = (np.ascontiguousarray(rows[side]) for side in ("mine", "theirs"))
    assert (solver.scores_many(mine, theirs, threads=1) == rows["score"]).all()
    assert (solver.columns_many(mine, theirs, threads=1) == rows["columns"]).all()
