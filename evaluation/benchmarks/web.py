"""Many pages at once on the web server: every game whole, every reply the agent's own.

The pages are clients of the server's API, each playing random columns against the agent.
Each reply is compared with what the agent chooses here for that very position. What the
server adds to the agent's own time is shown beside it.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import threading
import time
from collections.abc import Sequence
from typing import Any

import agents
from c4env.cores import usable_cores
from c4env.errors import MissingExtra
from c4env.position import Position
from evaluation.commands.usage import Parser


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 if a game was lost or a reply was another's."""
    parser = Parser(prog="c4 bench web")
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--agent", default="alphabeta:depth=7", help="a deterministic one")
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes that answer")
    given = parser.parse_args(arguments)
    try:
        import httpx  # noqa: F401  # now, not when the server is up

        from evaluation.web.server import Server, Settings, listen
    except ImportError as error:
        raise MissingExtra(
            f"this needs httpx and the web server ({error}): pip install httpx 'c4env[web]'"
        ) from None
    running = Server(Settings(record=None, workers=given.jobs))
    with listen("127.0.0.1", 0) as socket:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            address = f"http://127.0.0.1:{socket.getsockname()[1]}"
            asyncio.run(_play(address, given.agent, 1))  # until the processes are up
            began = time.perf_counter()
            games = asyncio.run(_play(address, given.agent, given.pages))
            elapsed = time.perf_counter() - began
        finally:
            running.should_exit = True
            thread.join()
    return _report(games, elapsed, given.agent, given.jobs)


async def _play(address: str, spec: str, pages: int) -> list[list[dict[str, Any]]]:
    """The replies each page got, played all at once."""
    import httpx

    limits = httpx.Limits(max_connections=pages)
    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as client:
        return await asyncio.gather(*(_game(client, spec, page) for page in range(pages)))


async def _game(client: Any, spec: str, page: int) -> list[dict[str, Any]]:
    lots, position, moves = random.Random(page), Position(), ""
    replies: list[dict[str, Any]] = []
    while True:
        moves += str(lots.choice(position.legal_columns()) + 1)
        position = Position.parse(moves)
        if position.outcome is not None:
            return replies
        asked = time.perf_counter()
        question = {"kind": "move", "agent": spec, "moves": moves, "seed": page}
        answer = await client.post("/api/ask", json=question)
        reply = json.loads(answer.text.splitlines()[-1])
        replies.append({**reply, "asked": moves, "waited": time.perf_counter() - asked})
        if reply.get("type") != "move":
            return replies
        moves += str(reply["column"])
        position = Position.parse(moves)
        if position.outcome is not None:
            return replies


def _report(games: list[list[dict[str, Any]]], elapsed: float, spec: str, jobs: int) -> int:
    judge = agents.make(spec)
    replies = [reply for game in games for reply in game]
    lost = sum(reply.get("type") != "move" for reply in replies)
    others = sum(
        reply["moves"] != reply["asked"]
        or reply["column"] != judge.choose(Position.parse(reply["asked"])) + 1
        for reply in replies
        if reply.get("type") == "move"
    )
    waits = sorted(reply["waited"] for reply in replies)
    own = statistics.fmean(reply.get("seconds", 0.0) for reply in replies)
    print(f"{len(games)} pages at once against {spec}, {jobs} processes")
    print(f"{len(replies)} replies in {elapsed:.1f} s, {len(replies) / elapsed:.0f} a second")
    print(f"{lost} lost, {others} another's")
    print(
        f"a reply: median {1000 * statistics.median(waits):.0f} ms, "
        f"95 of 100 within {1000 * waits[int(0.95 * len(waits))]:.0f} ms, longest "
        f"{1000 * waits[-1]:.0f} ms; the agent's own part of it {1000 * own:.1f} ms on average"
    )
    return int(lost + others > 0)
