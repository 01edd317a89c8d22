"""A real browser without a screen, for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # milliseconds


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; the test is skipped where there is none, or nothing to drive it with."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are tested by playwright")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()
