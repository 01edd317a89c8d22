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
    """A working folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def two_versions(folder):
    """Two agents, v1/mine.py and v2/mine.py, that import different helpers of one name."""
    for name, column in (("v1", 0), ("v2", 6)):
        (folder / name).mkdir()
        (folder / name / "heur.py").write_text(f"COLUMN = {column}\n")
        (folder / name / "mine.py").write_text(
            "from heur import COLUMN\ndef agent(observation):\n    return COLUMN\n"
        )
