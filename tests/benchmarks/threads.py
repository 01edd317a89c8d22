"""Processor time of the shipped network with two threads allowed and with one, on a busy machine.

Each measurement is six moves in a process of its own, beside two processes that keep cores busy.
NumPy would use both threads for small products, and each would wait for the other.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from c4env.evaluation.runs.remote_agent import ONE_THREAD
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import in_turns

SPECS: Final = ("puct:simulations=100", "learned")
MOVES: Final = ("", "4", "44", "445", "4455", "44552")
PLAY: Final = """
import sys, time
from c4env import Position, agents
agent = agents.make(sys.argv[1])
agent.choose(Position.parse("4444"))  # loads the code
started = time.process_time()
for moves in sys.argv[2:]:
    agent.choose(Position.parse(moves))
print(time.process_time() - started)
"""


def seconds(spec: str, threads: int, _: int) -> float:
    """Processor seconds of an agent's moves in a process that may use so many threads."""
    allowed = os.environ | dict.fromkeys(ONE_THREAD, str(threads))
    command = [sys.executable, "-c", PLAY, spec, *MOVES]
    done = subprocess.run(command, env=allowed, check=True, capture_output=True, text=True)
    return float(done.stdout)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """A context in which processes keep so many cores busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def run(repeat: int = 3) -> Table:
    """The table: milliseconds of the fastest of some repetitions, and their ratio."""
    works = {(spec, n): partial(seconds, spec, n) for spec in SPECS for n in (2, 1)}
    with busy(2):
        least = {key: 1e3 * min(found) for key, found in in_turns(works, repeat).items()}
    columns = {"six moves of": "", "2 threads ms": ".0f", "1 thread ms": ".0f", "ratio": ".2f"}
    rows = [(least[spec, 2], least[spec, 1]) for spec in SPECS]
    return Table.of(
        columns, [[spec, *row, row[0] / row[1]] for spec, row in zip(SPECS, rows, strict=True)]
    )
