"""Open a page to play, analyse and replay games: c4 web.

By default the server accepts connections only from this machine. The page offers the zoo and the
agents that SPEC names, and it cannot start any other code. The command needs
`pip install starlette uvicorn`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import webbrowser
from contextlib import closing, suppress
from pathlib import Path

from c4env.evaluation.cli.declare import add_options, keywords
from c4env.evaluation.cli.output import say


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.web.allowlist import ServerSettings

    parser.add_argument(
        "agents", nargs="*", metavar="[NAME=]SPEC", help="agents to offer besides the zoo"
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument("--no-record", action="store_true", help="keep no games")
    add_options(parser, ServerSettings, "port host hint record seconds jobs")


def execute(arguments: argparse.Namespace) -> None:
    from c4env import agents
    from c4env.agents.base import SearchingAgent
    from c4env.errors import InvalidOption
    from c4env.evaluation.human import require_record
    from c4env.evaluation.runs.players import name_players
    from c4env.evaluation.runs.referee import Referee
    from c4env.evaluation.web.allowlist import ServerSettings
    from c4env.lazy import from_extra

    with from_extra("web", "the web server needs starlette and uvicorn"):
        from c4env.evaluation.web import server

    players = name_players(arguments.agents)
    with closing(Referee(players)) as referee:
        [*map(referee.traits, players)]  # an agent that cannot be made is an error now
    named = {name: str(spec) for name, spec in players.items()}
    options = {**keywords(arguments, ServerSettings), "agents": named}
    if arguments.no_record:
        options["record"] = None
    elif arguments.record is not None:
        options["record"] = Path(arguments.record)
    settings = ServerSettings(**options)
    # Skip the default hint, so that it is not compiled before the server answers.
    if "hint" in options and not isinstance(agents.make(settings.hint), SearchingAgent):
        raise InvalidOption(f"--hint {settings.hint}: expected an agent that searches")
    if settings.record is not None and settings.record.exists():
        require_record(settings.record)  # before a game, not after it
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    with server.listen(settings.host, settings.port) as socket, suppress(KeyboardInterrupt):
        host, port = socket.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        say(f"{address}   Ctrl-C stops", sys.stdout)
        if not server.is_loopback(host):
            say(
                f"listening beyond this machine, at {host}: anyone who can connect can play and "
                "start searches",
                sys.stdout,
            )
        if not arguments.no_browser:
            webbrowser.open(address)  # it waits until the server answers
        server.make_server(settings).run(sockets=[socket])
