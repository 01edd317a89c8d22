"""Many pages at once: no game is lost, and nobody is served another's."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("httpx", reason="the benchmark's pages need httpx")
pytest.importorskip("uvicorn", reason="the web server needs c4env[web]")

from evaluation.benchmarks.web import _report, main


@pytest.mark.compiled
def test_fifty_pages_at_once_each_get_their_own_game(capsys: Any) -> None:
    assert main(["--pages", "50", "--agent", "alphabeta:depth=7", "--jobs", "2"]) == 0
    shown = capsys.readouterr().out
    assert "50 pages at once against alphabeta:depth=7, 2 processes" in shown
    assert "0 lost, 0 another's" in shown
    assert int(shown.split("processes\n")[1].split()[0]) > 3 * 50  # replies


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "0 lost, 0 another's"),
        ({"column": 7}, "0 lost, 1 another's"),
        ({"moves": "45"}, "0 lost, 1 another's"),
        ({"type": "error"}, "1 lost, 0 another's"),
    ],
)
def test_what_is_lost_or_anothers_is_counted(
    change: dict[str, Any], words: str, capsys: Any
) -> None:
    reply = {"type": "move", "column": 1, "moves": "121212", "asked": "121212", "waited": 0.1}
    assert _report([[{**reply, **change}]], 1.0, "greedy", 1) == int(bool(change))
    assert words in capsys.readouterr().out
