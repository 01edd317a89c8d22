"""Many pages at once on the web server: every game whole, every reply the agent's own.

The pages are clients of the server's API, each playing random columns against the agent.
Each reply is compared with what the agent chooses here for that very position. What the
server adds to the agent's own time is shown beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import threading
import time
from typing import Any, Final

from c4env import agents
from c4env.cores import usable_cores
from c4env.evaluation.cli.options import at_least
from c4env.evaluation.cli.output import show
from c4env.evaluation.tables import Table
from c4env.lazy import from_extra
from c4env.position import Position
from tests.benchmarks.harness import timed

FAULTS: Final = ("replies lost", "replies of another game")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=50, metavar="N", help="at once (default 50)")
    parser.add_argument("--agent", default="alphabeta:depth=7", help="a deterministic one")
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes that answer")


def execute(arguments: argparse.Namespace) -> int:
    at_least(arguments, 1, "pages", "jobs")
    with from_extra("web", "this needs httpx (pip install httpx) and the web server"):
        import httpx as httpx  # now, not when the server is up

        from c4env.evaluation.web import server
    running = server.Server(server.ServerSettings(record=None, workers=arguments.jobs))
    with server.listen("127.0.0.1", 0) as socket:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            address = f"http://127.0.0.1:{socket.getsockname()[1]}"
            asyncio.run(_play(address, arguments.agent, 1))  # until the processes are up
            elapsed, games = timed(
                lambda: asyncio.run(_play(address, arguments.agent, arguments.pages)),
                clock=time.perf_counter,
            )
        finally:
            running.should_exit = True
            thread.join()
    found = report(games, elapsed, arguments.agent, arguments.jobs)
    show(found, arguments)
    return int(any(row[1] for row in found.items if row[0] in FAULTS))


async def _play(address: str, spec: str, pages: int) -> list[list[dict[str, Any]]]:
    """The replies each page got, played all at once."""
    import httpx

    limits = httpx.Limits(max_connections=pages)
    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as client:
        return await asyncio.gather(*(_game(client, spec, page) for page in range(pages)))


async def _game(client: Any, spec: str, page: int) -> list[dict[str, Any]]:
    generator, moves = random.Random(page), ""
    replies: list[dict[str, Any]] = []
    while (position := Position.parse(moves)).outcome is None:
        if position.to_move == 0:
            moves += str(generator.choice(position.legal_columns()) + 1)
            continue
        asked = time.perf_counter()
        question = {"kind": "move", "agent": spec, "moves": moves, "seed": page}
        answer = await client.post("/api/ask", json=question)
        reply = json.loads(answer.text.splitlines()[-1])
        replies.append({**reply, "asked": moves, "waited": time.perf_counter() - asked})
        if reply.get("type") != "move":
            break
        moves += str(reply["column"])
    return replies


def report(games: list[list[dict[str, Any]]], elapsed: float, spec: str, jobs: int) -> Table:
    """What the pages got, and how long they waited for it."""
    judge = agents.make(spec)
    replies = [reply for game in games for reply in game]
    moves = [reply for reply in replies if reply.get("type") == "move"]
    others = sum(
        reply["moves"] != reply["asked"]
        or reply["column"] != judge.choose(Position.parse(reply["asked"])) + 1
        for reply in moves
    )
    waits = sorted(1000 * reply["waited"] for reply in replies)
    own = 1000 * statistics.fmean(reply.get("seconds", 0.0) for reply in replies)
    lost, wrong = FAULTS
    rows = [
        ("replies", len(replies)),
        (lost, len(replies) - len(moves)),
        (wrong, others),
        ("seconds", f"{elapsed:.1f}"),
        ("replies a second", f"{len(replies) / elapsed:.0f}"),
        ("median ms a reply", f"{statistics.median(waits):.0f}"),
        ("ms of 95 in 100", f"{waits[int(0.95 * len(waits))]:.0f}"),
        ("longest ms", f"{waits[-1]:.0f}"),
        ("mean ms of the agent's own", f"{own:.1f}"),
    ]
    title = f"{len(games)} pages at once against {spec}, {jobs} processes"
    return Table.of({"figure": "", "value": ""}, rows, title)
