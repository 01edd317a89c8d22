from __future__ import annotations

import pytest

from c4env.agents.solver import Solver
from c4env.bitboard import CELLS
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.exact.questions import labelled_sets, make_labelled, read_labelled
from tests.helpers.positions import format_labelled

LATE = make_labelled("end-easy", 30, 3, Solver(book=None, table_mb=1))


def test_made_positions_are_of_the_set_and_labelled_right():
    solver = Solver(book=None, table_mb=4)
    made = make_labelled("end-easy", 30, 5, solver)
    assert len({p.position for p in made}) == 30
    for moves, position, score in made:
        assert position == type(position).parse(moves)
        assert position.outcome is None
        assert 29 <= position.plies < CELLS
        assert solver.score(position) == score
        assert 1 <= solver.plies_to_end(position) <= 13


def test_format_and_read_are_inverse(tmp_path):
    made = make_labelled("end-easy", 5, 1, Solver(book=None, table_mb=4))
    (tmp_path / "set.txt").write_text(format_labelled(made))
    assert read_labelled(tmp_path / "set.txt") == made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("44 1\n48 2\n", "line 2"),
        ("44\n", "line 1"),
        ("44 one\n", "expected moves and a score"),
        ("", "has no position: expected lines of moves and a score"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(tmp_path, text, words):
    (tmp_path / "set.txt").write_text(text)
    with pytest.raises(UnreadableRun, match=words):
        read_labelled(tmp_path / "set.txt")


def test_sets_are_files_or_made_and_each_position_counts_once(tmp_path):
    path = tmp_path / "set.txt"
    path.write_text(format_labelled(LATE))
    assert labelled_sets([str(path), str(path)], None) == LATE
    assert labelled_sets([str(path)], 4) == LATE[:4]
    assert labelled_sets(["end-easy"], 30, 3) == LATE
    path.write_text("1212121 -18\n")
    with pytest.raises(InvalidOption, match="1212121: the game is over"):
        labelled_sets([str(path)], None)
    wrong = LATE[2]._replace(score=-LATE[2].score or 1)
    path.write_text(format_labelled([*LATE[:2], wrong]))
    assert labelled_sets([str(path)], 2) == LATE[:2]
    with pytest.raises(
        InvalidOption, match=f"{wrong.moves} is labelled {wrong.score}; its score is"
    ):
        labelled_sets([str(path)], None)
    with pytest.raises(InvalidOption, match="at least 1"):
        labelled_sets(["end-easy"], 0)
