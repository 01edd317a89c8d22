"""A real browser without a screen, for the tests of both pages."""

from pathlib import Path

import pytest

from tests.browser.chromium import PATIENCE

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")  # while it is open, no test can run an event loop of its own
def browser():
    """The test is skipped where there is no browser, or nothing to drive it with."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are tested by playwright")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()
