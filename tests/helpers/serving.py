"""A web server for tests, in a thread of this process; and agents it would rather not have."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from c4env.evaluation.web.allowlist import ServerSettings
from c4env.evaluation.web.server import listen, make_server


@contextmanager
def serving(settings: ServerSettings) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    running = make_server(settings)
    with listen(settings.host, 0) as sock:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [sock]})
        thread.start()
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://{settings.host}:{sock.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()


def sleeper(observation: Any) -> int:
    """Takes a minute; what interrupts a search in Python interrupts it."""
    time.sleep(60)
    return 0
