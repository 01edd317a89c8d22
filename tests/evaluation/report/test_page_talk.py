"""What a language model was asked and answered, beside the board of the page, in a browser."""

from __future__ import annotations

import pytest

pytest.importorskip("openai")

from c4env import evaluation
from c4env.evaluation.__main__ import main
from tests.helpers.browser import chromium
from tests.helpers.chat import chatting, lowest_legal

pytestmark = pytest.mark.slow  # a real browser

HOSTILE = "\x1b[2J</script><img id=evil src=x onerror='document.title=1'>\u202e{{7*7}}"


@pytest.mark.compiled  # the exact scores
def test_the_conversation_is_beside_the_board_as_text(tmp_path):
    with chatting() as server:
        server.answer = lambda body: HOSTILE if len(body["messages"]) == 1 else lowest_legal(body)
        players = {"model": server.spec, "other": "greedy"}
        evaluation.round_robin(players, openings=0, out=tmp_path / "run")
    html = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "run"), "--html", str(html), "--quiet"]) == 0
    with chromium() as browser:
        page = browser.new_page()
        failures = []
        page.on("pageerror", lambda error: failures.append(error))
        page.goto(html.as_uri())
        page.select_option("#one", label="model")
        page.locator("#list tbody tr").first.click()
        talk = page.locator("#talk")
        assert talk.is_visible()
        assert talk.get_attribute("tabindex") == "0"  # keys can scroll it
        said = talk.inner_text()
        assert "it is your turn" in said
        assert "<img id=evil" in said
        assert "no legal move: the last line is" in said
        assert "column 1" in said
        assert page.locator("#evil").count() == 0
        assert page.title() == "run"
        page.click("#forth")  # greedy is to move: it was asked nothing
        assert not talk.is_visible()
        page.click("#forth")
        assert talk.is_visible()
        assert not failures
