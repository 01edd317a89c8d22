"""An MCP server with three tools: draw a board, score its columns exactly, judge a game.

python docs/examples/mcp_server.py                  # what a client of MCP starts
python docs/examples/mcp_server.py --judge 4455667  # asks the server as a client does

Needs the SDK of MCP (pip install mcp). With --judge it took 5 seconds and printed:

    move 3: column 5 has -2; 4 has +1
    move 4: column 5 has -18; 3, 6 has +2
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
    """Return the position after moves; the client is told what is wrong with them."""
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
    """Score each column with room for the side to move: above 0 it wins, below 0 it loses."""
    found = solver.scores(position(moves))
    return {str(column): score for column, score in enumerate(found, 1) if score is not None}


@server.tool()
def judge(moves: str) -> list[str]:
    """Name the moves of a game that give away a win or a draw, with the best columns there."""
    position(moves)
    blunders = []
    for ply, column in enumerate(moves):
        found = scores(moves[:ply])
        own, best = found[column], max(found.values())
        if (own > 0) - (own < 0) < (best > 0) - (best < 0):
            better = ", ".join(c for c in found if found[c] == best)
            blunders.append(f"move {ply + 1}: column {column} has {own:+}; {better} has {best:+}")
    return blunders


async def ask(tool, moves):
    """Return the result of a tool, asked by a client in this process."""
    async with Client(server) as client:
        return (await client.call_tool(tool, {"moves": moves})).structured_content["result"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Connect Four as an MCP server")
    parser.add_argument("--judge", metavar="MOVES", help="judge a game instead of serving")
    if moves := parser.parse_args().judge:
        print(*asyncio.run(ask("judge", moves)), sep="\n")
    else:
        server.run()
