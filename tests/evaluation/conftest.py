"""What the tests of commands share."""

import pytest

from c4env.evaluation.__main__ import main


@pytest.fixture
def c4(capsys):
    """Runs a command that succeeds, and returns what it prints."""

    def printed(*arguments):
        assert main([*map(str, arguments)]) == 0
        shown = capsys.readouterr()
        assert "\r" not in shown.err  # no bar where there is no terminal
        return shown.out

    return printed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
