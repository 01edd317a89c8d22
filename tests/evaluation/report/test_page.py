"""The page of a run in a real browser, from a file, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.solver import Solver
from c4env import Position
from evaluation.__main__ import main
from evaluation.store.record import read_games
from tests.helpers.runs import record_run

MINUS = "\N{MINUS SIGN}"

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    record_run(path / "run", "random", "greedy", "alphabeta:depth=2")
    assert main(["report", str(path / "run"), "--html", str(path / "p.html"), "--quiet"]) == 0
    return path


@pytest.fixture(params=["wide, light", "phone, dark"])
def page(request: pytest.FixtureRequest, browser: Any, folder: Path) -> Iterator[Any]:
    size, scheme = request.param.split(", ")
    width = 1280 if size == "wide" else 390
    page = browser.new_page(viewport={"width": width, "height": 850}, color_scheme=scheme)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto((folder / "p.html").as_uri())
    yield page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []
    page.close()


def test_a_replay_shows_the_exact_scores(page: Any, folder: Path) -> None:
    _, games, _ = read_games(folder / "run")
    page.click("tr[data-game='3'] td >> nth=1")
    moves = games[3].moves
    solver = Solver()
    for ply in range(1, len(moves)):  # it opens after the opening's one disc
        shown = page.locator("#scores span").all_inner_texts()
        scores = solver.scores(Position.parse(moves[:ply]))
        expected = ["·" if s is None else str(abs(s)) for s in scores]
        assert [text.lstrip("+" + MINUS) for text in shown] == expected
        signs = [(text[0] == "+") - (text[0] == MINUS) for text in shown]
        assert signs == [0 if s is None else (s > 0) - (s < 0) for s in scores]
        page.click("[data-go=on]")
    assert "wins" in page.inner_text("#said") or "draw" in page.inner_text("#said")
    discs = page.locator("#board circle:not([fill='var(--hole)']):not([r='7'])").count()
    assert discs == len(moves)
    assert page.locator("#board .win").count() == (4 if games[3].ending == "four" else 0)
    page.focus("#replay")
    page.keyboard.press("Home")
    assert page.inner_text("#said").startswith("0 of")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#said").startswith("1 of")


def names(page: Any) -> list[str]:
    return list(page.locator("#cross tbody th").all_inner_texts())


def test_the_table_sorts_and_filters(page: Any) -> None:
    assert names(page)[-1] == "random"  # by Elo, the strongest first
    page.click("#cross thead button >> nth=0")
    assert names(page) == sorted(names(page))
    page.click("#cross thead button >> nth=0")
    assert names(page) == sorted(names(page), reverse=True)
    page.fill("#filter", "RAN")
    assert names(page) == ["random"]
    page.fill("#filter", "")
    assert len(names(page)) == 3


def test_a_cell_leads_to_its_games(page: Any, folder: Path) -> None:
    _, games, _ = read_games(folder / "run")
    mine = [g for g in games if g.players == ("greedy", "random")]
    page.click("#cross td button[aria-label^='greedy first against random']")
    assert page.locator("#list tbody tr").count() == len(mine)
    assert page.inner_text("#count") == f"{len(mine)} games"
    page.select_option("#result", "1")
    lost = sum(g.winner == 1 for g in mine)
    assert page.locator("#list tbody tr").count() == lost


def test_figures_are_drawn_for_every_agent(page: Any) -> None:
    assert page.locator("#ratings circle").count() == 3
    assert page.locator("#first rect").count() == 6
    assert page.locator("#cost circle").count() >= 2
    lines = page.locator("#blunders polyline").count()
    page.click("#key button >> nth=0")
    assert page.get_attribute("#key button >> nth=0", "aria-pressed") == "false"
    assert page.locator("#blunders polyline").count() == lines == 3
    assert page.get_attribute("#blunders polyline >> nth=0", "points") == ""
    page.select_option("#unit", "0")
    assert "nodes a move" in page.inner_text("#cost")
