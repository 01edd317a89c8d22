"""Orders of columns, keys of positions and kinds of bounds as integers."""

from __future__ import annotations

import pytest
from hypothesis import given

from c4env import Position
from c4env.agents.search.packing import (
    CENTRE_FIRST,
    EXACT,
    LEFT_TO_RIGHT,
    LOWER,
    UPPER,
    board_key,
    bound_of,
    column_at,
    columns_in,
    decides,
    pack,
)
from c4env.bitboard import BITS
from tests.helpers import reference
from tests.helpers.strategies import positions


def test_an_order_of_columns_is_unpacked_as_it_was_packed() -> None:
    assert columns_in(LEFT_TO_RIGHT) == reference.LEFT_TO_RIGHT
    assert columns_in(CENTRE_FIRST) == reference.CENTRE_FIRST
    assert pack(columns_in(CENTRE_FIRST)) == CENTRE_FIRST
    assert column_at(CENTRE_FIRST, 1) == 2


@given(positions(), positions())
def test_a_key_is_that_of_one_position(one: Position, other: Position) -> None:
    first, second = (board_key(p.mine, p.theirs) for p in (one, other))
    assert (first == second) == (one == other)
    assert 0 < first < 1 << BITS


@pytest.mark.parametrize(
    ("value", "bound", "window", "narrower"),
    [
        (3.0, EXACT, (0.0, 5.0), (3.5, 4.0)),
        (5.0, LOWER, (0.0, 5.0), (1.0, 4.0)),
        (0.0, UPPER, (0.0, 5.0), (1.0, 4.0)),
    ],
)
def test_what_a_search_found_decides_the_same_search_and_those_beyond(
    value: float, bound: int, window: tuple[float, float], narrower: tuple[float, float]
) -> None:
    assert bound_of(value, *window) == bound
    assert decides(bound, value, *window)
    assert decides(bound, value, *narrower)
    assert decides(bound, value, -9.0, 9.0) == (bound == EXACT)
