"""The page of a run in a real browser, from a file, without a network."""

import math
import re
import shlex
from dataclasses import replace

import pytest

from c4env import Position
from c4env.agents.solver import Solver
from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.mistakes import Mistakes
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.ratings.sprt import Sprt
from c4env.evaluation.records.run_folder import read_folder
from c4env.evaluation.report import page as report
from c4env.evaluation.results.match import play_match, read_games
from c4env.evaluation.tables import rounded
from tests.browser.chromium import FAINT
from tests.evaluation.test_report import GAMES, crowded
from tests.helpers.runs import record_run, run_of

MINUS = "\N{MINUS SIGN}"

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    record_run(path / "run", "random", "greedy", "alphabeta:depth=2")
    assert main(["report", str(path / "run"), "--html", str(path / "p.html"), "--quiet"]) == 0
    return path


@pytest.fixture
def page(browser, folder):
    """On a phone in the dark, and in the end on a desk."""
    page = browser.new_page(viewport={"width": 390, "height": 850}, color_scheme="dark")
    troubles = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto((folder / "p.html").as_uri())
    yield page
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 850})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []
    page.close()


def test_a_costly_move_opens_its_game(page, folder):
    _, games = read_folder(folder / "run")
    page.select_option("#whose", label="random")
    with Judge() as judge:
        result = Mistakes.of(games, "random", judge)
    assert page.locator("#parts tbody th").all_inner_texts() == [
        part.where for part in result.parts
    ]
    shown = page.locator("#parts tbody tr").all_inner_texts()
    for row, part in zip(shown, result.parts, strict=True):
        rates = [part.own.accuracy.value, part.opponents]
        shown_rates = ["" if math.isnan(rate) else rounded(rate, ".1%") for rate in rates]
        assert row.split("\t")[-3:] == [f"{part.own.given_away:.1f}", *shown_rates], row
    message = page.locator("#costly p").all_inner_texts()
    assert message == [mistake.describe() for mistake in result.mistakes[:10]]
    first, item = result.mistakes[0], page.locator("#costly li").first
    assert item.locator(".disc[data-disc]").count() == 7 + len(first.moves)  # with the ghosts
    assert item.locator("code").inner_text() == f"c4 solve {first.moves}"
    item.locator("a").click()
    assert page.url.endswith(f"#game={first.games[0] + 1}&ply={len(first.moves)}")
    assert f"random, to move; it played {first.column + 1}." in page.inner_text("#said")
    assert "A blunder: " in page.inner_text("#judged")


def test_a_first_losing_move_opens_its_game(page, folder):
    _, games = read_folder(folder / "run")
    with Judge() as judge:
        losses = Mistakes.of(games, "random", judge).first_losses
    cells = page.locator("#first-losses tr", has_text="random").locator("td").all_inner_texts()
    any_kind, *kinds = [str(loss.games) for loss in losses]
    assert cells == [any_kind, f"{losses[0].ply:g}", *kinds]
    page.locator("#first-losses tr", has_text="random").locator("a").first.click()
    assert page.url.endswith(f"#game={losses[0].game + 1}&ply={losses[0].earliest}")
    assert "A blunder: " in page.inner_text("#judged")


@pytest.mark.isolated
def test_a_replay_shows_the_exact_scores(page, folder):
    _, games = read_folder(folder / "run")
    page.click("tr[data-game='3'] td >> nth=1")
    moves = games[3].moves
    solver = Solver()
    for ply in range(1, len(moves)):  # it opens after the opening's one disc
        shown = page.locator("#board .score").all_text_contents()
        scores = solver.scores(Position.parse(moves[:ply]))
        expected = ["" if s is None else f"{s:+d}" if s else "0" for s in scores]
        assert [text.replace(MINUS, "-") for text in shown] == expected
        best = max(score for score in scores if score is not None)
        assert page.locator("#board .score.best").count() == scores.count(best)
        assert page.locator("#board .next").get_attribute("aria-label")[7] == moves[ply]
        page.click("#forth")
    assert "wins" in page.inner_text("#said") or "draw" in page.inner_text("#said")
    assert page.locator("#board .cell .disc").count() == len(moves)
    assert page.locator("#board .four").count() == (4 if games[3].ending == "four" else 0)


def test_arrows_work_at_once_and_a_game_and_a_ply_have_an_address(page, folder):
    _, games = read_folder(folder / "run")
    before = page.inner_text("#ply")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#ply") != before
    page.locator("tr[data-game='4']").click()
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#game=5&ply=2")
    assert page.locator("#board .cell .disc").count() == 2
    page.evaluate("location.hash = 'game=7&ply=5'")
    page.wait_for_selector("tr[data-game='6'][aria-current=true]")
    assert page.inner_text("#ply") == f"disc 5 of {len(games[6].moves)}"
    assert page.locator("#board").evaluate("b => b.getBoundingClientRect().top >= 0")
    page.reload()
    assert page.inner_text("#ply") == f"disc 5 of {len(games[6].moves)}"
    page.goto(page.url.partition("#")[0] + "#game=99&ply=x")
    page.reload()
    assert "Game 99" not in page.inner_text("#who")


@pytest.mark.isolated
def test_a_cell_leads_to_its_games(page, folder):
    header, games = read_folder(folder / "run")
    assert page.text_content("#command code") == shlex.join(header.command)
    mine = [g for g in games if g.players == ("greedy", "random")]
    page.click("#cross td button[aria-label^='greedy first against random']")
    assert page.locator("#list tbody tr").count() == len(mine)
    assert page.inner_text("#count") == f"{len(mine)} games"
    page.select_option("#result", "1")
    lost = sum(g.winner == 1 for g in mine)
    assert page.locator("#list tbody tr").count() == lost


@pytest.mark.isolated
def test_figures_are_drawn_for_every_agent(page):
    for figure in ("#ratings circle", "#colours circle", "#colours rect", "#accuracy figure"):
        assert page.locator(figure).count() == 3
    assert page.locator("#cost circle").count() >= 2
    assert page.locator("#accuracy polyline.line").count() == 3
    assert page.locator("#accuracy polyline.others").count() == 6
    content = page.evaluate("RUN")
    marked = []
    for i in range(3):
        agent = content["standings"][i]["agent"]
        rows = [row for row in content["curves"]["points"] if row["agent"] == agent]
        drawn = page.locator(f"#panel-{i} circle").evaluate_all(
            "all => all.map(c => [c.textContent, c.getAttribute('class')])"
        )
        rates = [re.findall(r": (\S+) of \d+ critical", title)[0] for title, _ in drawn]
        assert rates == [rounded(row["accuracy"], ".1%") for row in rows]
        few = ["few" in kind for _, kind in drawn]
        assert few == [row["critical"] < 5 for row in rows]
        marked += few
    assert any(marked)  # not left out
    page.select_option("#unit", "nodes")
    assert "nodes per move" in page.inner_text("#cost")
    assert not page.is_visible("#course-card")  # no test was made


# Texts of figures: smaller than 12 px, beyond their figure, or one over another.
FAULTS = """[...document.querySelectorAll('svg')].flatMap(svg => {
  const area = svg.getBoundingClientRect(), found = [];
  const texts = [...svg.querySelectorAll('text, foreignObject')].map(t => [t.getBoundingClientRect(), t.textContent, getComputedStyle(t).fontSize]);
  texts.forEach(([a, words, size], i) => {
    if (parseFloat(size) * area.width / svg.viewBox.baseVal.width < 11.9) found.push(`small: ${words}`);
    if (a.left < area.left - 1 || a.right > area.right + 1 || a.top < area.top - 1 || a.bottom > area.bottom + 2) found.push(`out: ${words}`);
    for (const [b, other] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) found.push(`over: ${words}, ${other}`);
  });
  return found;
})"""  # noqa: E501


# Whether no table is wider than its place.
WHOLE = "[...document.querySelectorAll('.scroll')].every(s => s.scrollWidth <= s.clientWidth)"

# Names that stand in two lines.
BROKEN = """(() => {
  const names = AGENTS, found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());)
    for (const name of names) for (let at = -1; (at = node.data.indexOf(name, at + 1)) >= 0;) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + name.length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) found.push(name);
    }
  return found;
})()"""


def opened(browser, path, width):
    page = browser.new_page(viewport={"width": width, "height": 850})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(FAULTS) == page.evaluate(BROKEN) == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT) == []
    return page


@pytest.mark.isolated
@pytest.mark.parametrize("count", [2, 7, 21])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_text_can_be_read(browser, tmp_path, count, width):
    path = tmp_path / "crowd.html"
    path.write_text(report.page(crowded(count)))
    page = opened(browser, path, width)
    assert page.locator("#ratings circle").count() == count
    if width == 1280:  # no column is cut off
        assert page.evaluate(WHOLE)
        page.set_viewport_size({"width": 718, "height": 1047})  # A4 without its margins
        page.emulate_media(media="print")
        assert page.evaluate(WHOLE)
    page.close()


# Each place of a name: whether it is cut, and whether the whole is its title.
CUT = """[...document.querySelectorAll('.cut')].filter(e => e.checkVisibility()).map(e => ({
  where: e.closest('[id]').id, name: e.title, cut: e.scrollWidth > e.clientWidth,
  whole: e.textContent.includes(e.title), ellipsis: getComputedStyle(e).textOverflow,
}))"""


@pytest.mark.isolated
@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_name_is_cut_by_the_page_and_whole_in_its_title(browser, tmp_path, width):
    long = [f"alphabeta:depth=4,heuristic=package.{letter * 164}" for letter in "ab"]
    assert len(long[0]) == 200
    games = [
        replace(game, players=tuple(long[name == "two"] for name in game.players)) for game in GAMES
    ]
    path = tmp_path / "long.html"
    with Judge() as judge:
        path.write_text(report.page(report.contents(run_of(games), judge=judge)))
    page = opened(browser, path, width)
    places = page.evaluate(CUT)
    assert all(place["cut"] and place["whole"] for place in places), places
    assert {place["name"] for place in places} == {*long}
    assert {place["ellipsis"] for place in places} == {"ellipsis"}
    figures = {"ratings", "colours", "cost", "accuracy"}
    tables = {"cross", "quality", "list"}
    assert figures | tables | {"title", "pairs", "who", "said"} <= {p["where"] for p in places}
    assert page.locator("#one option").all_text_contents() == ["any", *page.evaluate("AGENTS")]
    page.close()


@pytest.mark.isolated
def test_the_course_of_a_test_is_shown(browser, tmp_path):
    match = play_match("greedy", "random", openings=2, sprt=Sprt(0, 300), jobs=1)
    result = report.contents(match)
    assert len(result["test"]["llr"]) == len(match.pairs) > 1
    assert result["test"]["llr"][-1] == pytest.approx(float(Sprt(0, 300).llr(match.pentanomial)))
    path = tmp_path / "match.html"
    path.write_text(report.page(result))
    page = browser.new_page()
    page.goto(path.as_uri())
    points = page.get_attribute("#course polyline", "points").split()
    assert len(points) == len(result["test"]["llr"]) + 1
    assert page.locator("#course .bound").count() == 2
    hypotheses = "greedy is 300 Elo stronger than random, or as strong as random."
    assert hypotheses in page.inner_text("#question")
    assert not page.is_visible("#command")  # a run from Python has none
    page.close()


def test_games_without_costs_have_no_figure_of_costs(browser, page, tmp_path):
    assert page.is_visible("#cost-card")
    path = tmp_path / "elsewhere.html"
    with Judge() as judge:
        run = read_games([("gpt", "claude", "4455667")])
        path.write_text(report.page(report.contents(run, judge=judge)))
    other = browser.new_page()
    other.goto(path.as_uri())
    assert not other.is_visible("#cost-card")
    assert other.is_visible("#accuracy-card")
    other.close()
