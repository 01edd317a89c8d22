"""The page in a real browser, without a screen."""

import asyncio
import re
import subprocess
import sys
import threading

import pytest

from c4env import Position, agents
from c4env.agents.solver import Solver
from c4env.evaluation.records.run_folder import read_folder

playwright = pytest.importorskip("playwright.sync_api", reason="the page's tests need playwright")
pytest.importorskip("uvicorn", reason="the web server needs uvicorn")

from c4env.evaluation.web.allowlist import ServerSettings  # noqa: E402
from tests.browser.chromium import FAINT, PATIENCE, as_discs  # noqa: E402
from tests.helpers.serving import serving  # noqa: E402

expect = playwright.expect
pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def address(folder):
    settings = ServerSettings(
        agents={"sleeper": "tests.helpers.serving:sleeper"}, record=folder / "games", jobs=2
    )
    with serving(settings) as address:
        yield address


@pytest.fixture
def open_page(browser, address):
    """Opens the page at a position of the address; no page may report an error."""
    errors = []
    contexts = []

    def open_(fragment="", server=address, **options):
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{server}/#{fragment}")
        expect(page.locator("#record")).not_to_be_empty()
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


def headline(page, words):
    expect(page.locator("#headline")).to_contain_text(re.compile(words))


def moves_of(page):
    result = re.search(r"moves=(\d*)", page.url)
    assert result is not None
    return result[1]


def discs_of(page):
    return page.locator(".column").evaluate_all(
        "columns => columns.map(column =>"
        " [...column.querySelectorAll('.cell .disc')].reverse().map(d => Number(d.dataset.disc)))"
    )


def click(page, column):
    before = len(moves_of(page))
    page.locator(".column").nth(column).click()
    expect(page.locator("#ply")).not_to_have_text(f"disc {before} of {before}")
    expect(page.locator("#headline")).to_contain_text(re.compile("Your turn|win|draw"))


def test_a_whole_game_by_clicks(open_page, folder):
    """By the solver's advice from a won position: the person wins, and the game is recorded."""
    page = open_page("moves=44444422&red=human&yellow=greedy")
    page.click("#recording")
    solver, judge = Solver(), agents.make("greedy")
    headline(page, r"Your turn \(Red\)")
    position = Position.parse("44444422")
    assert solver.score(position) > 0
    while position.outcome is None:
        column = solver.best_columns(position)[0]
        click(page, column)
        position = position.play(column)
        if position.outcome is None:
            position = position.play(judge.choose(position))
        assert Position.parse(moves_of(page)) == position
        assert discs_of(page) == as_discs(position)
    headline(page, r"You \(Red\) win")
    assert page.locator(".disc.four").count() == len(position.outcome.cells)
    expect(page.locator("#detail")).to_contain_text("Recorded in")
    page.reload()
    headline(page, r"You \(Red\) win")
    expect(page.locator("#takeback")).to_be_disabled()
    _, (game,) = read_folder(folder / "games")  # no other, since nobody else asked for it
    assert (game.players, game.opening) == (("human", "greedy"), "44444422")
    assert (game.moves, game.winner, game.ending) == (moves_of(page), 0, "four")


@pytest.mark.isolated
def test_the_page_says_that_the_server_gets_ready(browser, monkeypatch):
    compiled = threading.Event()

    async def prepare(_):
        await asyncio.to_thread(compiled.wait, 60)

    monkeypatch.setattr("c4env.evaluation.web.agent_processes.ProcessPool.prepare", prepare)
    with serving(ServerSettings(record=None, jobs=1)) as server:
        page = browser.new_page()
        page.goto(f"{server}/#4455")
        headline(page, "Getting ready")
        expect(page.locator("#detail")).to_contain_text("compiles native code")
        expect(page.locator("#live")).to_have_text("Getting ready")
        page.keyboard.press("4")
        compiled.set()
        headline(page, "Your turn")
        assert discs_of(page) == as_discs(Position.parse("4455"))
        page.close()


@pytest.mark.isolated
def test_take_back_and_hint(open_page):
    page = open_page("moves=&red=human&yellow=minimax:depth=2")
    click(page, 0)
    click(page, 1)
    assert len(moves_of(page)) == 4
    page.click("#takeback")
    headline(page, "Your turn")
    assert moves_of(page)[0] == "1"
    assert len(moves_of(page)) == 2
    page.click("#hint")
    position = Position.parse(moves_of(page))
    expect(page.locator("#detail")).to_contain_text("Hint: column")
    hint = page.inner_text("#detail")
    assert int(hint.removeprefix("Hint: column ")[0]) - 1 in Solver().best_columns(position)
    assert re.search(r"you \(Red\) win in|Yellow wins in|a draw", hint)
    expect(page.locator(".hinted")).to_have_count(1)
    page.click("#takeback")
    expect(page.locator("#takeback")).to_be_disabled()


@pytest.mark.isolated
def test_an_agent_and_its_options_are_chosen(open_page):
    page = open_page()
    assert not page.is_visible("#options1 select")
    page.click("#options > summary")
    page.select_option("#options1 .agent", "minimax")
    page.fill("#options1 [name=depth]", "2")
    page.keyboard.press("Tab")
    page.select_option("#options1 [name=heuristic]", "lines")
    assert page.url.endswith("yellow=minimax:depth=2,heuristic=lines")
    click(page, 3)
    expected = agents.make("minimax:depth=2,heuristic=lines").choose(Position.parse("4"))
    assert moves_of(page) == f"4{expected + 1}"


@pytest.mark.isolated
def test_a_long_search_shows_progress_and_can_be_stopped(open_page):
    page = open_page("moves=4&red=human&yellow=sleeper")
    headline(page, "is thinking")
    expect(page.locator("#detail")).to_contain_text(re.compile(r"Searching, \d+\.\d s"))
    page.click("#stop")
    headline(page, "to move")
    expect(page.locator("#stop")).to_have_text("Go on")
    page.select_option("#seat1 select", "mcts:simulations=25")
    headline(page, "Your turn")
    assert len(moves_of(page)) == 2


@pytest.mark.isolated
def test_a_bad_position_is_answered_and_the_game_stays(open_page):
    page = open_page("moves=4455&red=human&yellow=human")
    page.click("#position > summary")
    for text, words in (
        ("44x", "is not a drawn board"),
        ("4444444", "move 7: column 4 is full"),
        ("<b>4</b>", "<b>4</b>"),
    ):
        page.fill("#text", text)
        page.click("text=Set up")
        expect(page.locator("#wrong")).to_contain_text(words)
        assert moves_of(page) == "4455"
    page.fill("#text", str(Position.parse("44556")))
    page.click("text=Set up")
    headline(page, "Yellow's turn")
    expect(page.locator("#wrong")).to_be_hidden()
    assert Position.parse(moves_of(page)) == Position.parse("44556")


BAD = [
    ("44444449", "'44444449' is not a position: move 7: column 4 is full"),
    ("moves=44444449", "'44444449' is not a position: move 7: column 4 is full"),
    ("moves=&red=nobody", "Red: no agent here is called 'nobody'"),
    ("moves=&yellow=alphabeta:depth=99", "expected depth from 1 to 42"),
    ("moves=&yellow=alphabeta:width=2", "alphabeta has no option 'width' here"),
    ("move=44", "It says 'move': expected moves, red or yellow"),
]


@pytest.mark.isolated
def test_a_bad_address_is_said(open_page, address):
    page = open_page()
    for fragment, words in BAD:
        page.goto("about:blank")
        page.goto(f"{address}/#{fragment}")
        expect(page.locator("#notice")).to_contain_text("The address cannot be followed. ")
        expect(page.locator("#notice")).to_contain_text(words)
        headline(page, "Your turn")
        assert discs_of(page) == [[]] * 7
        page.evaluate("location.hash = 'moves=123&red=human&yellow=human'")
        headline(page, "Yellow's turn")
        assert discs_of(page) == as_discs(Position.parse("123"))
        expect(page.locator("#notice")).to_be_hidden()


def start(port, folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "c4env.evaluation", "web", "--no-browser", "--port", str(port),
         "--jobs", "1", "--record", str(folder), "--hint", "minimax:depth=1"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, process.stdout.readline().split()[0].rstrip("/")


@pytest.mark.isolated
def test_the_server_stopped_in_the_middle_of_a_game(open_page, tmp_path):
    process, server = start(0, tmp_path)
    try:
        page = open_page("moves=&red=human&yellow=greedy", server=server)
        click(page, 3)
        before = moves_of(page)
        process.kill()
        process.wait()
        page.locator(".column").nth(3).click()
        expect(page.locator("#banner")).to_contain_text("The server does not answer")
        assert moves_of(page) == before + "4"
        process.stdout.close()
        process, _ = start(int(server.rpartition(":")[2]), tmp_path)
        page.click("#retry")
        headline(page, "Your turn")
        expect(page.locator("#banner")).to_be_hidden()
        expected = agents.make("greedy").choose(Position.parse(before + "4")) + 1
        assert moves_of(page) == f"{before}4{expected}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.isolated
def test_a_game_with_only_the_keyboard_is_announced_to_screen_readers(open_page):
    page = open_page("moves=444444777777&red=human&yellow=minimax:depth=2")
    page.evaluate(
        "(live => new MutationObserver(() => { window.said = (window.said ?? '') + live.innerText"
        " }).observe(live, { childList: true }))(document.getElementById('live'))"
    )
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('column')"):
            break
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Column 1: empty"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    headline(page, "Your turn")
    assert moves_of(page)[12] == "2"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
        "Column 2: red"
    )
    for key in ("2", "6"):
        before = len(moves_of(page))
        page.keyboard.press(key)
        expect(page.locator("#ply")).to_contain_text(f"disc {before + 2} of")
        headline(page, "Your turn|win")
    page.focus("#swap")  # wherever the focus is
    page.keyboard.press("u")
    expect(page.locator("#live")).to_contain_text("Taken back. Red to move.")
    page.keyboard.press("h")
    expect(page.locator("#live")).to_contain_text("Hint: column")
    page.keyboard.press("a")
    expect(page.locator("#scores")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".score.best").first).to_be_visible()
    assert re.search(
        r"Score [+\u2212]?\d+", page.locator(".column").nth(2).get_attribute("aria-label")
    )
    answer = page.evaluate("window.said")
    assert "Red, You: column 2." in answer
    assert re.search(r"Yellow, minimax:depth=2: column \d\.", answer)


@pytest.mark.isolated
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 768)])
def test_it_fits_and_can_be_read(open_page, width, height):
    page = open_page(
        "moves=4535674276764753237442475332&red=human&yellow=human",
        viewport={"width": width, "height": height},
    )
    page.click("#scores")
    expect(page.locator(".score.best").first).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    expect(page.locator("#worth")).to_contain_text(re.compile("changes at|ends the same"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#board").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= height
    assert page.locator(".column").first.bounding_box()["width"] >= 40
    for button in page.locator("button.do:visible").all():
        assert button.bounding_box()["height"] >= 40
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT) == []
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", background))) > 384) == (scheme == "light")


@pytest.mark.isolated
def test_everything_has_a_name(open_page):
    page = open_page()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input, textarea')].filter(e =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))"
        ".map(e => e.outerHTML)"
    )
    assert nameless == []
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len({*ids}) == len(ids) > 30
    assert page.locator("html").get_attribute("lang") == "en"
