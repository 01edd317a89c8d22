"""Open a page to play, analyse and replay games: c4 web.

By default the server accepts connections only from this machine. The page offers the zoo and
the agents named by SPEC, and can start no other code. The command needs
`pip install 'c4env[web]'`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import webbrowser
from contextlib import closing, suppress
from pathlib import Path

from .options import add_jobs
from .output import announce_compiling, say

PORT = 8044
RECORD = Path("c4-games")
HINT = "perfect"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "agents", nargs="*", metavar="[NAME=]SPEC", help="agents to offer besides the zoo"
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help=f"port (default {PORT}; 0: any free port)"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="address to listen on (default 127.0.0.1: only this machine)",
    )  # fmt: skip
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--record", type=Path, default=RECORD, metavar="DIR",
        help=f"append games that people play to DIR (default {RECORD})",
    )  # fmt: skip
    parser.add_argument("--no-record", action="store_true", help="keep no games")
    parser.add_argument(
        "--hint", default=HINT, metavar="SPEC", help=f"agent for hints (default {HINT}: exact)"
    )
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="seconds that an answer may take (default 120)"
    )
    add_jobs(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.errors import InvalidOption
    from c4env.lazy import from_extra

    from ..games.field import name_players
    from ..games.players import Seats
    from ..people import require_record

    with from_extra("web", "the web server needs starlette and uvicorn"):
        from ..web import server
        from ..web.server import is_loopback
    from ... import agents
    from ...agents.base import SearchingAgent

    announce_compiling()
    named = {name: str(spec) for name, spec in name_players(arguments.agents).items()}
    with closing(Seats(named, None)) as seats:
        [*map(seats.traits, named)]  # an agent that cannot be made is an error now
    if not isinstance(agents.make(arguments.hint), SearchingAgent):
        raise InvalidOption(f"--hint {arguments.hint}: expected an agent that searches")
    record = None if arguments.no_record else arguments.record
    if record is not None and record.exists():
        require_record(record)  # before a game, not after it
    settings = server.ServerSettings(
        named, arguments.hint, record, arguments.seconds, arguments.jobs, arguments.host
    )
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    with server.listen(arguments.host, arguments.port) as socket, suppress(KeyboardInterrupt):
        host, port = socket.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        say(f"{address}   Ctrl-C stops", sys.stdout)
        if not is_loopback(host):
            say(
                f"listening beyond this machine, at {host}: anyone who can connect can play and "
                "start searches",
                sys.stdout,
            )
        if not arguments.no_browser:
            webbrowser.open(address)  # it waits until the server answers
        server.make_server(settings).run(sockets=[socket])
