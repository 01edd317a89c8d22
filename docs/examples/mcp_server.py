"""An MCP server: a model asks for the board, for exact scores, and for the judgement of a game.

python docs/examples/mcp_server.py           # asks its own tools, as a client does
python docs/examples/mcp_server.py --serve   # serves a client on standard input and output

Needs the SDK of MCP (pip install mcp). Without --serve it took 6 seconds and printed:

    {'1': -2, '2': -1, '3': 0, '4': 1, '5': 0, '6': -1, '7': -2}
"""

import argparse
import asyncio

from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from c4env import Position
from c4env.agents import Solver

server = MCPServer("connect-four")
solver = Solver()


def position(moves):
    """Return a position; the client is told what is wrong with the moves."""
    try:
        return Position.parse(moves)
    except ValueError as error:
        raise ToolError(str(error)) from None


@server.tool()
def board(moves: str) -> str:
    """Draw the position after moves, the digits of columns 1 to 7, such as 4453."""
    return str(position(moves))


@server.tool()
def scores(moves: str) -> dict[str, int]:
    """Score each column with room, for the side to move: above 0 it wins, below 0 it loses."""
    found = solver.scores(position(moves))
    return {str(column): score for column, score in enumerate(found, 1) if score is not None}


@server.tool()
def judge(moves: str) -> list[str]:
    """Name the moves of a game that give away a win or a draw, with the columns to play there."""
    said = []
    position(moves)
    for ply, column in enumerate(moves):
        found = scores(moves[:ply])
        best = max(found.values())
        if (found[column] > 0) - (found[column] < 0) != (best > 0) - (best < 0):
            better = ", ".join(c for c in found if found[c] == best)
            said.append(f"move {ply + 1}, {column}: score {found[column]}, not {best} by {better}")
    return said


async def ask(tool, moves):
    """Call a tool as a client does, and return what it answers."""
    async with Client(server) as client:
        answer = await client.call_tool(tool, {"moves": moves})
        return answer.structured_content if answer.structured_content else answer.content[0].text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Connect Four as an MCP server")
    parser.add_argument("--serve", action="store_true", help="on standard input and output")
    if parser.parse_args().serve:
        server.run()
    else:
        print(asyncio.run(ask("scores", "")))
