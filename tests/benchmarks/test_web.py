"""Many pages at once: no game is lost, and nobody is served another's."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("httpx", reason="the benchmark's pages need httpx")
pytest.importorskip("uvicorn", reason="the web server needs c4env[web]")

from tests.benchmarks.__main__ import main
from tests.benchmarks.web import report


@pytest.mark.slow
@pytest.mark.compiled
def test_fifty_pages_at_once_each_get_their_own_game(capsys: Any) -> None:
    options = ["--pages", "50", "--agent", "alphabeta:depth=7", "--jobs", "2"]
    assert main(["web", *options]) == 0
    shown = capsys.readouterr().out
    assert "50 pages at once against alphabeta:depth=7, 2 processes" in shown
    rows = dict(line.rsplit(None, 1) for line in shown.splitlines()[1:])
    assert (rows["replies lost"], rows["replies of another game"]) == ("0", "0")
    assert int(rows["replies"]) > 3 * 50


@pytest.mark.parametrize(
    ("change", "lost", "others"),
    [({}, 0, 0), ({"column": 7}, 0, 1), ({"moves": "45"}, 0, 1), ({"type": "error"}, 1, 0)],
)
def test_what_is_lost_or_anothers_is_counted(
    change: dict[str, Any], lost: int, others: int
) -> None:
    reply = {"type": "move", "column": 1, "moves": "121212", "asked": "121212", "waited": 0.1}
    rows = dict(report([[{**reply, **change}]], 1.0, "greedy", 1).items)
    assert (rows["replies lost"], rows["replies of another game"]) == (lost, others)
