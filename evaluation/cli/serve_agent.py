"""Serve an agent to other programs: c4 serve-agent alphabeta:depth=7.

The command speaks the protocol of `exec:` agents: it reads a line with the 1-based columns played
so far, and writes the column to play. With --http PORT it answers in JSON; other programs name this
agent `http://127.0.0.1:PORT`. agents/adapters/README.md describes both protocols.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from functools import partial
from typing import Final

from c4env.evaluation.cli.options import at_least, refuse
from c4env.evaluation.cli.output import say

HOST: Final = "127.0.0.1"
CLIENTS: Final = 16


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="SPEC", help="the agent, as in c4 run")
    parser.add_argument(
        "--http", type=int, metavar="PORT", help="serve JSON on this port (0: any free port)"
    )
    parser.add_argument(
        "--host", metavar="ADDRESS",
        help=f"with --http: the address to listen on (default {HOST}, only this machine)",
    )  # fmt: skip
    parser.add_argument(
        "--clients", type=int, metavar="N",
        help=f"with --http: clients that may play at once, each with its own agent "
        f"(default {CLIENTS})",
    )  # fmt: skip


def execute(arguments: argparse.Namespace) -> None:
    from c4env import agents
    from c4env.agents.adapters.serving import serve_lines

    if arguments.http is None:
        refuse(arguments, ["host", "clients"], "without --http")
    agent = agents.make(arguments.agent)
    if arguments.http is not None:
        _serve_http(arguments, agent.name)
        return
    # Answers go to standard output, so the agent's own output must not.
    answers = partial(print, file=sys.stdout, flush=True)
    with contextlib.redirect_stdout(sys.stderr):
        serve_lines(agent, sys.stdin, answers)
    agent.close()


def _serve_http(arguments: argparse.Namespace, name: str) -> None:
    from c4env import agents
    from c4env.agents.adapters.http_requests import is_loopback
    from c4env.agents.adapters.serving import AgentServer
    from c4env.evaluation.errors import InvalidRun

    at_least(arguments, 1, "clients")
    clients = arguments.clients or CLIENTS
    make = partial(agents.make, arguments.agent)
    address = (HOST if arguments.host is None else arguments.host, arguments.http)
    try:
        server = AgentServer(address, make, name, clients)
    except (OSError, OverflowError) as error:
        raise InvalidRun(f"cannot listen on {address[0]}:{address[1]}: {error}") from None
    with server:
        host, port = server.server_address[:2]
        print(f"serving {name} on http://{host!s}:{port}", flush=True)
        if not is_loopback(str(host)):
            say(
                f"listening on {host!s}: anyone who can connect to this machine can use the agent",
                sys.stderr,
            )
        server.serve_forever()
