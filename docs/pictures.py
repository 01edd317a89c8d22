"""The pictures of the README: python -m docs.pictures .github/pictures.

A position as this project draws it, and the page of ``c4 web`` as Chromium shows it; nothing is
fetched. ``docs.hero`` makes the moving board, ``docs.drawings`` the diagrams. ``graded.svg`` shows
measurements of hours.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from c4env import Position
from c4env.files import write_whole
from c4env.render import svg

MOVES: Final = "51744366544622573771756"  # red wins along a diagonal
GAME: Final = "#moves=46232164144512&red=human&yellow=alphabeta:depth=4"  # two blunders
BLUNDER: Final = "#game=2&ply=8"  # of the small run: a move from a win to a loss
_CHROMIUM: Final = "/usr/bin/chromium"
_C4: Final = (sys.executable, "-m", "c4env.evaluation")


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "board.svg", svg(Position.parse(MOVES), int(MOVES[-1]) - 1))
    with sync_playwright() as driver, serving() as address:
        browser = driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(300_000)  # the solver may compile, and then scores every position
        page.set_viewport_size({"width": 960, "height": 720})
        page.goto(address + GAME)
        page.click("#scores")
        page.locator(".score.best").first.wait_for()
        page.get_by_text("The result of best play").wait_for()
        below = page.locator("#players, #players ~ .card")
        below.evaluate_all("cards => cards.forEach(card => card.remove())")
        page.screenshot(  # the board and the curve
            path=folder / "web.png", clip={"x": 0, "y": 0, "width": 960, "height": 582}
        )
        page.set_viewport_size({"width": 720, "height": 1000})
        page.goto(f"{made_page().as_uri()}{BLUNDER}")
        page.locator("#board").wait_for()
        page.screenshot(path=folder / "report.png")


def made_page() -> Path:
    """The page of a small run."""
    path = Path(tempfile.mkdtemp(), "run.html")
    field = ("alphabeta:depth=4", "greedy", "random")
    subprocess.run([*_C4, "run", *field, "--openings", "0", "--quiet", "--html", path], check=True)
    return path


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
