"""The MCP server, started and asked by the SDK's own client."""

import asyncio
import os
import sys

import pytest

from c4env import Position
from c4env.agents import Solver
from tests.helpers.examples import EXAMPLES, example

mcp = pytest.importorskip("mcp", reason="needs the SDK of MCP: pip install mcp")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the SDK's own

GAME = "4455667"
ASKED = ("board", "44"), ("scores", "444444"), ("scores", GAME), ("judge", GAME), ("judge", "4x")


def answers():
    """The names of the tools, and their answers to a client that starts the server."""
    script = str(EXAMPLES / "mcp_server.py")
    started = mcp.StdioServerParameters(command=sys.executable, args=[script], env=dict(os.environ))

    async def talk():
        async with mcp.Client(mcp.stdio_client(started)) as client:
            tools = (await client.list_tools()).tools
            found = [await client.call_tool(tool, {"moves": moves}) for tool, moves in ASKED]
            return {tool.name for tool in tools}, found

    return asyncio.run(talk())


def test_a_client_starts_the_server_and_calls_its_three_tools():
    names, (board, scores, finished, judged, wrong) = answers()
    assert names == {"board", "scores", "judge"}
    assert board.content[0].text == str(Position.parse("44"))
    exact = enumerate(Solver().scores(Position.parse("444444")), 1)
    assert scores.structured_content == {str(c): score for c, score in exact if score is not None}
    assert finished.structured_content == {}
    assert judged.structured_content["result"] == blunders(GAME) != []
    assert wrong.is_error
    assert "4x" in wrong.content[0].text


def blunders(game):
    """The moves that give away a win or a draw, by the solver."""
    found = []
    for ply, digit in enumerate(game):
        scores = Solver().scores(Position.parse(game[:ply]))
        own, best = scores[int(digit) - 1], max(score for score in scores if score is not None)
        if own <= 0 < best or own < 0 <= best:
            better = ", ".join(str(c) for c, score in enumerate(scores, 1) if score == best)
            found.append(f"move {ply + 1}: column {digit} has {own:+}; {better} has {best:+}")
    return found


def test_a_client_in_the_same_process_gets_the_same_judgement():
    script = example("mcp_server")
    assert asyncio.run(script.ask("judge", GAME)) == blunders(GAME)
