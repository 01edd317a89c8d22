"""The pictures of the README: python -m docs.pictures .github/pictures.

A position as this project draws it, the report of a small run, and the page of ``c4 web``.
The two pages are opened as their readers open them, in Chromium; nothing is fetched.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from c4env import Position
from c4env.evaluation.store.files import write_file
from c4env.view.rendering import svg
from tests.browser.chromium import chromium

PICTURES: Final = ("board.svg", "report.png", "web.png")
MOVES: Final = "51744366544622573771756"  # red wins along a diagonal
GAME: Final = "#moves=454373551126&red=human&yellow=alphabeta:depth=4"
FIELD: Final = (
    "random", "greedy", "alphabeta-chain", "alphabeta-window",
    "learned", "mcts:simulations=400", "deepening:nodes=5000", "perfect",
)  # fmt: skip
_C4: Final = (sys.executable, "-m", "c4env.evaluation")
_LIMIT: Final = "6"  # of the 25 openings of two plies: the pictures are made in a minute or two


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / PICTURES[0], svg(Position.parse(MOVES), int(MOVES[-1]) - 1))
    with chromium() as browser, tempfile.TemporaryDirectory() as scratch:
        page = browser.new_page(color_scheme="light")
        found = Path(scratch) / "a-first-run.html"
        options = ["--openings", "2", "--limit", _LIMIT, "--quiet", "--html", str(found)]
        run = [*_C4, "run", *FIELD, *options]
        subprocess.run([*run, "--out", str(found.with_suffix(""))], check=True)
        page.set_viewport_size({"width": 1000, "height": 600})
        page.goto(found.as_uri())
        page.screenshot(path=folder / PICTURES[1])
        page.set_viewport_size({"width": 960, "height": 720})
        with serving() as address:
            page.goto(address + GAME)
            page.click("#scores")
            page.locator(".score.best").first.wait_for()
            page.wait_for_timeout(1000)  # discs fall
            page.screenshot(path=folder / PICTURES[2])


@contextmanager
def serving() -> Iterator[str]:
    """The address of the page of ``c4 web``."""
    command = [*_C4, "web", "--no-browser", "--no-record", "--port", "0", "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
