"""The page of a run in a real browser, from a file, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from c4env.agents.solver import Solver
from c4env.evaluation.__main__ import main
from c4env.evaluation.report import page as report
from c4env.evaluation.store.record import read_games
from c4env.evaluation.strength.sprt import Sprt
from c4env.evaluation.studies.match import play_match

from c4env import Position
from tests.evaluation.report.test_summary import crowded
from tests.helpers.runs import record_run

MINUS = "\N{MINUS SIGN}"

pytestmark = [pytest.mark.compiled, pytest.mark.slow]  # each page in a real browser


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
    _, games = read_games(folder / "run")
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
    assert page.locator("#board .piece").count() == len(moves)
    assert page.locator("#board .win").count() == (4 if games[3].ending == "four" else 0)
    page.focus("#replay")
    page.keyboard.press("Home")
    assert page.inner_text("#said").startswith("0 of")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#said").startswith("1 of")


def names(page: Any) -> list[str]:
    return [text.split(maxsplit=1)[1] for text in page.locator("#cross tbody th").all_inner_texts()]


def test_the_table_sorts_and_filters(page: Any) -> None:
    assert names(page)[-1] == "random"  # by Elo, the strongest first
    heads = page.locator("#cross thead button").all_inner_texts()
    assert heads[-3:] == ["1", "2", "3"]  # the numbers of the rows
    page.click("#cross thead button >> nth=0")
    assert names(page) == sorted(names(page))
    page.click("#cross thead button >> nth=0")
    assert names(page) == sorted(names(page), reverse=True)
    page.fill("#filter", "RAN")
    assert names(page) == ["random"]
    page.fill("#filter", "")
    assert len(names(page)) == 3


def test_a_cell_leads_to_its_games(page: Any, folder: Path) -> None:
    _, games = read_games(folder / "run")
    mine = [g for g in games if g.players == ("greedy", "random")]
    page.click("#cross td button[aria-label^='greedy first against random']")
    assert page.locator("#list tbody tr").count() == len(mine)
    assert page.inner_text("#count") == f"{len(mine)} games"
    page.select_option("#result", "1")
    lost = sum(g.winner == 1 for g in mine)
    assert page.locator("#list tbody tr").count() == lost


def test_figures_are_drawn_for_every_agent(page: Any) -> None:
    assert page.locator("#ratings circle").count() == 3
    assert page.locator("#first circle").count() == page.locator("#first rect").count() == 3
    assert page.locator("#cost circle").count() >= 2
    assert page.locator("#blunders figure").count() == 3
    assert page.locator("#blunders polyline.line").count() == 3
    assert page.locator("#blunders polyline.others").count() == 6
    page.select_option("#unit", "0")
    assert "nodes a move" in page.inner_text("#cost")
    assert not page.is_visible("#course-card")  # no test was made


def test_the_marks_in_the_moves_are_explained(page: Any) -> None:
    for mark in ("slip", "blunder"):
        assert page.is_visible(f"#marks .{mark}")
        assert page.locator("#marks", has_text=mark).count() == 1


def test_figures_are_drawn_again_where_the_width_changes(page: Any) -> None:
    before = page.get_attribute("#ratings svg", "width")
    page.set_viewport_size({"width": 700, "height": 850})
    page.wait_for_selector(f"#ratings svg:not([width='{before}'])")
    box, card = (page.locator(f"#ratings{part}").bounding_box() for part in (" svg", ""))
    assert box["width"] == card["width"]
    page.set_viewport_size({"width": 390, "height": 850})


# Texts of figures: smaller than 12 px, beyond their figure, or one over another.
FAULTS = """[...document.querySelectorAll('svg')].flatMap(svg => {
  const area = svg.getBoundingClientRect(), found = [];
  const texts = [...svg.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent, getComputedStyle(t).fontSize]);
  texts.forEach(([a, words, size], i) => {
    if (parseFloat(size) * area.width / svg.viewBox.baseVal.width < 11.9) found.push(`small: ${words}`);
    if (a.left < area.left - 1 || a.right > area.right + 1 || a.top < area.top - 1 || a.bottom > area.bottom + 2) found.push(`out: ${words}`);
    for (const [b, other] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) found.push(`over: ${words}, ${other}`);
  });
  return found;
})"""  # noqa: E501

# Contrast of each text with what is behind it, less than 4.5:1.
FAINT = """(() => {
  const parts = colour => { const n = colour.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1]; };
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    const layers = [];
    for (; node; node = node.parentElement) { layers.unshift(parts(getComputedStyle(node).backgroundColor)); }
    return layers.reduce((under, over) => under.map((v, i) => v * (1 - over[3]) + over[i] * over[3]), [255, 255, 255]);
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()) || node.disabled || !node.getClientRects().length || node.closest('script,title,option')) continue;
    const style = getComputedStyle(node), a = light(parts(node.closest('svg') ? style.fill : style.color)), b = light(behind(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.textContent}`);
  }
  return found;
})()"""  # noqa: E501


@pytest.mark.parametrize("count", [2, 7, 21])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(
    browser: Any, tmp_path: Path, count: int, width: int, scheme: str
) -> None:
    path = tmp_path / "crowd.html"
    path.write_text(report.page(crowded(count)))
    page = browser.new_page(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#ratings circle").count() == count
    assert page.evaluate(FAULTS) == []
    assert page.evaluate(FAINT) == []
    if width == 1280:  # no column is cut off
        assert page.evaluate(
            "[...document.querySelectorAll('.scroll')].every(s => s.scrollWidth <= s.clientWidth)"
        )
    page.close()


def test_the_course_of_a_test_is_shown(browser: Any, tmp_path: Path) -> None:
    match = play_match(["greedy", "random"], openings=2, sprt=Sprt(0, 300), jobs=1)
    found = report.contents(match.header, match.games, match.ratings)
    assert len(found["course"]["llr"]) == len(match.pairs) > 1
    assert found["course"]["llr"][-1] == pytest.approx(float(Sprt(0, 300).llr(match.counts)))
    path = tmp_path / "match.html"
    path.write_text(report.page(found))
    page = browser.new_page()
    page.goto(path.as_uri())
    points = page.get_attribute("#course polyline", "points").split()
    assert len(points) == len(found["course"]["llr"]) + 1
    assert page.locator("#course .bound").count() == 2
    hypotheses = "greedy is 300 Elo stronger than random, or as strong as random."
    assert hypotheses in page.inner_text("#question")
    page.close()
