import numpy as np
import pytest

from c4env.errors import InvalidOption
from c4env.evaluation.plan.openings import (
    balanced_openings,
    canonical,
    choose_openings,
    enumerate_openings,
    read_openings,
)
from c4env.position import Position


def test_number_of_mirror_reduced_openings():
    for plies, count in enumerate((1, 4, 25, 121, 568, 2144)):
        openings = enumerate_openings(plies)
        assert len(openings) == count
        assert {len(moves) for moves in openings} == {plies}
        assert len({canonical(Position.parse(moves)) for moves in openings}) == count


def test_balanced_openings_are_those_of_a_small_exact_score():
    """The columns of the empty board score -2 -1 0 1 0 -1 -2; 498 was counted elsewhere."""
    assert balanced_openings(1, 0) == ["3"]
    assert balanced_openings(1, 1) == ["2", "3", "4"]
    assert len(balanced_openings(4, 4)) == 498
    assert balanced_openings(0, 0) == []


def test_the_order_is_the_seeds():
    first = choose_openings(3, seed=1)
    assert first == choose_openings("3", seed=1)
    assert sorted(first) == enumerate_openings(3)
    assert first != sorted(first)
    assert first != choose_openings(3, seed=2)
    assert choose_openings(3, seed=1, limit=10) == first[:10]
    assert choose_openings(np.int64(1)) == choose_openings(1)


def test_a_file_of_openings(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# mine\n44\n\n  1234 # a staircase\r\n7\n")
    assert read_openings(path) == ["44", "1234", "7"]
    assert sorted(choose_openings(str(path))) == ["1234", "44", "7"]


def test_bad_openings_are_refused(tmp_path):
    path = tmp_path / "openings.txt"
    for openings, words in (
        (b"44\n# x\n48\n", "line 3: '48': '8' at 2"),
        (b"11111111\n", "line 1: .* full"),
        (b"1212121\n", "line 1: the game is over"),
        (b"44\n1\n44\n", "line 3: 44 is also in line 1"),
        (b"# nothing\n", "expected at least one opening"),
        (b"\xff\xfe\n", "not a text file"),
        ("no-such-file", "No such file"),
        ("", "expected a number of plies"),
        ("44", "a number of plies 0..8"),
        ("balanced", "such as balanced:4,2"),
        ("balanced:4,-1", "such as balanced:4,2"),
        ("balanced:9,1", "a number of plies 0..8"),
        ("balanced:0,0", "at least one"),
        ([], "at least one"),
        ([3], "not a move string"),
        (["1", "1"], "given twice"),
        (2.5, "a number of plies"),
    ):
        if isinstance(openings, bytes):  # those of a file
            path.write_bytes(openings)
        with pytest.raises(InvalidOption, match=words):
            choose_openings(str(path) if isinstance(openings, bytes) else openings)
