"""``python -m tests.makers book``."""

import pytest

from c4env.agents.solver import Solver
from tests.helpers.commands import refusal
from tests.makers.__main__ import main


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    for arguments, words in (
        (["verify", "no-such-book"], "no-such-book"),
        (["build", "x", "--plies", "20"], "plies=20: expected 1..8"),
        (["verify", "--sample", "0"], "--sample: 0"),
    ):
        assert words in refusal(["book", *arguments], capsys, main)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_small_book_is_built_and_verified(tmp_path, capsys, monkeypatch):
    """The default book finds the scores in no time; one of its own is searched for."""
    assert main(["book", "verify", "--sample", "1"]) == 0
    assert "1 scores computed again" in capsys.readouterr().out
    monkeypatch.setattr("tests.makers.book.Solver", lambda book: Solver())
    path = tmp_path / "two.npz"
    assert main(["book", "build", str(path), "--plies", "2", "--sample", "5"]) == 0
    assert "2 plies" in capsys.readouterr().out
    assert main(["book", "verify", str(path)]) == 0
    path.write_bytes(path.read_bytes()[:-1])
    assert main(["book", "verify", str(path)]) == 2
