"""``python -m tests.makers book``."""

from __future__ import annotations

import pytest

from tests.helpers.commands import refusal
from tests.makers.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["book", "verify", "no-such-book"], "no-such-book"),
        (["book", "build"], "expected the name of the file"),
        (["book", "build", "x", "--plies", "20"], "20"),
        (["book", "build", "nowhere/x", "--plies", "1"], "nowhere/x: expected a file in"),
        (["book", "build", ".", "--plies", "1"], ".: expected a file in an existing directory"),
        (["book", "verify", "--sample", "0"], "--sample 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, capsys):
    assert words in refusal(arguments, capsys, main)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_small_book_is_built_and_verified(tmp_path, capsys):
    path = tmp_path / "small.book"
    pytest.importorskip("bitbully_databases")
    assert main(["book", "build", str(path), "--plies", "8", "--from-12ply", "--sample", "1"]) == 0
    assert "8 plies" in capsys.readouterr().out
    assert main(["book", "verify", str(path), "--sample", "1"]) == 0
    assert "1 scores computed again" in capsys.readouterr().out
