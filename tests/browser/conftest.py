"""What the tests of both pages share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.chromium import chromium


@pytest.fixture(scope="module")  # while it is open, no test can run an event loop of its own
def browser() -> Iterator[Any]:
    """A browser without a screen; the tests that need it are skipped where there is none."""
    with chromium() as found:
        yield found
