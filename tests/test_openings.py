from __future__ import annotations

import pytest

from c4env.position import Position
from evaluation.errors import InvalidRun
from evaluation.openings import canonical, enumerate_openings


@pytest.mark.parametrize(("plies", "count"), [(0, 1), (1, 4), (2, 25), (3, 121), (4, 568)])
def test_number_of_mirror_reduced_openings(plies, count):
    openings = enumerate_openings(plies)
    assert len(openings) == count
    assert {len(moves) for moves in openings} == {plies}
    assert len({canonical(Position.parse(moves)) for moves in openings}) == count


def test_openings_cover_every_position_up_to_the_mirror():
    known = {canonical(Position.parse(moves)) for moves in enumerate_openings(3)}
    for first in "1234567":
        for second in "1234567":
            for third in "1234567":
                assert canonical(Position.parse(first + second + third)) in known


def test_openings_are_in_a_fixed_order():
    assert enumerate_openings(1) == ["1", "2", "3", "4"]
    assert enumerate_openings(2) == sorted(enumerate_openings(2))


@pytest.mark.parametrize("plies", [-1, 7, True, 2.0, "2"])
def test_bad_number_of_plies_is_refused(plies):
    with pytest.raises(InvalidRun, match="expected a number of plies"):
        enumerate_openings(plies)
