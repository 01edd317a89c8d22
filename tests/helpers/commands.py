"""What commands do with bad input."""

from collections.abc import Callable, Sequence

import pytest

from c4env.evaluation.__main__ import main


def refusal(
    arguments: Sequence[str],
    capsys: pytest.CaptureFixture[str],
    run: Callable[[list[str]], int] = main,
) -> str:
    """The one line on stderr with which a command refuses; nothing is on stdout, exit code 2."""
    try:
        code = run(list(arguments))
    except SystemExit as stopped:  # bad usage
        code = int(str(stopped.code))
    assert code == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    return shown.err
