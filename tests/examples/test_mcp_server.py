"""The MCP server, asked by the SDK's own client."""

import asyncio
import sys

import numpy as np
import pytest

from c4env import Position
from c4env.agents import Solver
from tests.helpers.examples import EXAMPLES

mcp = pytest.importorskip("mcp", reason="needs the SDK of MCP: pip install mcp")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the SDK's own

WON = "4455667"


def test_a_client_starts_the_server_and_calls_its_three_tools():
    script = str(EXAMPLES / "mcp_server.py")
    started = mcp.StdioServerParameters(command=sys.executable, args=[script, "--serve"])

    async def talk():
        async with mcp.Client(started) as client:
            tools = (await client.list_tools()).tools
            asked = [("board", "44"), ("scores", "444444"), ("judge", WON), ("scores", "4x")]
            answers = [await client.call_tool(tool, {"moves": moves}) for tool, moves in asked]
            return {tool.name for tool in tools}, answers

    names, (board, scores, judged, wrong) = asyncio.run(talk())
    assert names == {"board", "scores", "judge"}
    assert board.content[0].text == str(Position.parse("44"))
    exact = Solver().scores(Position.parse("444444"))
    assert scores.structured_content == {
        str(column): score for column, score in enumerate(exact, 1) if score is not None
    }
    worse = []
    for ply, column in enumerate(WON):
        found = Solver().scores(Position.parse(WON[:ply]))
        if np.sign(found[int(column) - 1]) != np.sign(max(s for s in found if s is not None)):
            worse.append(f"move {ply + 1}, {column}")
    assert [said.partition(":")[0] for said in judged.structured_content["result"]] == worse != []
    assert wrong.is_error
    assert "is not a column" in wrong.content[0].text
