"""The web server: one page, and its requests as JSON.

A request about a position or a game contains all of its moves, because the server keeps no games
in memory. An answer that needs a search is sent as JSON lines. If the page closes the connection,
the server stops the search.

The server answers at once, and compiles the agents' kernels in the background. Until the kernels
are ready, the page gets no settings and says so, and other requests wait.

A page of another site, open in a browser on this machine, can send requests to a local server. A
browser sends the JSON of that page only if the server allows the page's origin, and Starlette's
``CORSMiddleware`` allows none. ``TrustedHostMiddleware`` refuses a page whose host name resolves to
this machine (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from c4env.errors import REASON, C4Error, InvalidOption, Unwritable, require_integer
from c4env.evaluation.human import HUMAN, record_game
from c4env.evaluation.records.game import FORFEITS, GameRecord
from c4env.evaluation.tables import printable, shortened
from c4env.evaluation.web.agent_processes import ANSWERS, ProcessPool, Question
from c4env.evaluation.web.allowlist import LEVELS, ServerSettings, catalogue, check_spec
from c4env.position import Position
from c4env.rules import CELLS

LOG: Final = logging.getLogger("c4env.web")
BEAT: Final = 0.5  # seconds between signs of life during a search
PATIENCE: Final = 20.0  # seconds that the page waits for the settings, before it asks again
MOST_WAITING: Final = 500  # questions that may wait; the server refuses more
LARGEST_BODY: Final = 16_384  # bytes; the longest game needs a few hundred
HELPED: Final = "human with help"
"""The name of a person who had help; the tally counts the games of this name separately."""

HELP: Final = ("hint", "take-back", "exact scores")
"""The kinds of help."""

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every response: a page may load only this server's own scripts and styles."""


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that listens on a port; port 0 means any free port.

    Raises:
        Unwritable: the address or port cannot be used.
    """
    if not 0 <= port <= 65535:
        raise Unwritable(f"port {port}: expected 0..65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise Unwritable(
            f"{host}, port {port}: {error.strerror}; --port 0 takes a free port"
        ) from None


def make_server(settings: ServerSettings) -> uvicorn.Server:
    """Make the web server; ``run(sockets=[listen(...)])`` answers requests until an interrupt."""
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        ws="none",
        server_header=False,
        headers=[*HEADERS.items()],
        timeout_graceful_shutdown=int(4 * BEAT),  # a search ends within two beats
    )
    server = uvicorn.Server(config)
    app.state.stopping = lambda: server.should_exit
    return server


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def allowed_hosts(host: str) -> list[str]:
    """Return the ``Host`` names that a server answers; all names if it listens beyond here."""
    if not is_loopback(host):
        return ["*"]
    return ["localhost", "127.0.0.1", "[::1]", socket.gethostname(), host]


def create_app(settings: ServerSettings) -> Starlette:
    """Make the ASGI application."""
    folder = files("c4env.evaluation.web") / "static"
    page = folder.joinpath("web.html").read_text("utf-8")
    reports = files("c4env.evaluation.report") / "static"  # its module page needs the solver
    shared = {file.name for file in reports.iterdir()}
    parts = {
        name: (reports if name in shared else folder).joinpath(name).read_text("utf-8")
        for name in re.findall(r'(?:src|href)="static/([\w.]+)"', page)
    }
    endpoints = _Endpoints(settings, page, parts)
    app = Starlette(
        routes=[
            Route("/", endpoints.page),
            Route("/static/{name}", endpoints.part),
            Route("/api/settings", endpoints.settings_),
            Route("/api/position", endpoints.position, methods=["POST"]),
            Route("/api/ask", endpoints.ask, methods=["POST"]),
            Route("/api/games", endpoints.record, methods=["POST"]),
        ],
        middleware=[
            Middleware(CORSMiddleware),  # allows no other origin
            Middleware(
                TrustedHostMiddleware,
                allowed_hosts=allowed_hosts(settings.host),
                www_redirect=False,
            ),
        ],
        exception_handlers={C4Error: _refused, HTTPException: _refused},
        lifespan=endpoints.lifespan,
    )
    app.state.stopping = lambda: False  # the server replaces this
    return app


class _Endpoints:
    """The functions that answer requests."""

    def __init__(self, settings: ServerSettings, page: str, parts: dict[str, str]) -> None:
        self._settings = settings
        self._page = page
        self._parts = parts
        self._hosts = ProcessPool(settings.jobs, settings.seconds)
        self._recorded: set[str] = set()  # ids of games: a game sent twice is recorded once
        self._recording = asyncio.Lock()

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Get ready while the server answers, and end the processes when the server ends."""
        self._ready = asyncio.create_task(self._hosts.prepare())
        try:
            yield
        finally:
            self._ready.cancel()
            await self._hosts.close()

    async def page(self, request: Request) -> Response:
        """GET /: the page."""
        return HTMLResponse(self._page)

    async def part(self, request: Request) -> Response:
        """GET /static/NAME: a style or script of the page."""
        name = request.path_params["name"]
        if name not in self._parts:
            raise HTTPException(404)
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Response(self._parts[name], media_type=kind)

    async def settings_(self, request: Request) -> Response:
        """GET /api/settings: agents, levels and other settings, or that the server is not ready."""
        settings = self._settings
        if not (await asyncio.wait([self._ready], timeout=PATIENCE))[0]:
            return JSONResponse({"ready": False})
        await self._ready  # raises the error if it failed
        return JSONResponse(
            {
                "ready": True,
                "levels": [level._asdict() for level in LEVELS],
                "named": list(settings.agents),
                "agents": catalogue(settings.agents),
                "hint": settings.hint,
                "record": None if settings.record is None else str(settings.record),
            }
        )

    async def position(self, request: Request) -> Response:
        """POST /api/position {text}: parse columns or a drawn board, and return the moves."""
        text = (await json_object(request)).get("text")
        if not isinstance(text, str):
            raise InvalidOption(f"text {shortened(text, 80)!r}: expected moves or a drawn board")
        moves = "".join(text.split())
        if not re.fullmatch(r"\d*", moves):
            moves = Position.from_board(text).moves()
        _position(moves)
        return JSONResponse({"moves": moves})

    async def ask(self, request: Request) -> Response:
        """POST /api/ask {kind, agent, moves, seed, since}: JSON lines; the last has the result."""
        await asyncio.shield(self._ready)
        question = self._question(await json_object(request))
        if self._hosts.waiting >= MOST_WAITING:
            raise Refused(503, f"{MOST_WAITING} questions are waiting; ask again later")
        return StreamingResponse(self._answer(request, question), media_type="application/x-ndjson")

    def _question(self, fields: dict[str, Any]) -> Question:
        """Parse and check the question in a request."""
        kind, moves = fields.get("kind"), fields.get("moves")
        if not isinstance(kind, str) or kind not in ANSWERS:
            raise InvalidOption(
                f"kind {shortened(kind, 80)!r}: expected one of {', '.join(ANSWERS)}"
            )
        if _position(moves).outcome is not None and kind != "values":
            raise InvalidOption(f"moves {moves!r}: the game is over")
        agent = {"hint": self._settings.hint, "scores": "", "values": ""}.get(kind)
        if agent is None:
            agent = check_spec(fields.get("agent"), self._settings.agents)
            agent = self._settings.agents.get(agent, agent)
        seed = _integer(fields, "seed", 2**63 - 1)
        return Question(kind, agent, str(moves), seed, _integer(fields, "since", CELLS))

    async def _answer(self, request: Request, question: Question) -> AsyncIterator[str]:
        """Yield the lines of an answer; each has the question's moves, which the page checks."""

        def line(**message: Any) -> str:
            return json.dumps({**message, "moves": question.moves, "agent": question.agent}) + "\n"

        loop, started = asyncio.get_running_loop(), asyncio.Event()
        asked, ahead = loop.time(), self._hosts.waiting
        search = loop.create_task(self._hosts.ask(question, started))
        try:
            yield line(type="waiting", ahead=ahead)
            while not (await asyncio.wait([search], timeout=BEAT))[0]:
                if await request.is_disconnected():
                    return
                if request.app.state.stopping():
                    yield line(type="error", error="the server was stopped")
                    return
                seconds = round(loop.time() - asked, 1)
                yield line(type="beat", ahead=0 if started.is_set() else ahead, seconds=seconds)
            yield line(**search.result())
        finally:
            search.cancel()

    async def record(self, request: Request) -> Response:
        """POST /api/games {id, players, opening, moves, forfeit, help}: append a person's game."""
        await asyncio.shield(self._ready)
        fields = await json_object(request)
        name = fields.get("id")
        if not isinstance(name, str) or not 8 <= len(name) <= 64:
            raise InvalidOption(
                f"id {shortened(name, 80)!r}: expected a text of 8 to 64 characters"
            )
        game = self._game(fields)
        folder = self._settings.record
        async with self._recording:
            if folder is not None and name not in self._recorded:
                await asyncio.to_thread(record_game, folder, game)
                self._recorded.add(name)
        return JSONResponse({"recorded": folder is not None, "winner": game.winner})

    def _game(self, fields: dict[str, Any]) -> GameRecord:
        """Parse the game in a request; compute the result from the moves or the forfeit."""
        players, forfeit = fields.get("players"), fields.get("forfeit")
        if not isinstance(players, list) or len(players) != 2 or HUMAN not in players:
            raise InvalidOption(
                f"players {shortened(players, 80)}: expected two names, one of them {HUMAN!r}"
            )
        help_counts = fields.get("help", {})
        if not isinstance(help_counts, dict) or not help_counts.keys() <= {*HELP}:
            raise InvalidOption(
                f"help {shortened(help_counts, 80)}: expected counts of {', '.join(HELP)}"
            )
        counts = {kind: _integer(help_counts, kind, 10**6) for kind in HELP}
        helped = [f"{count} {kind}" for kind, count in counts.items() if count]
        person = HELPED if helped else HUMAN
        one, two = (
            person if name == HUMAN else check_spec(name, self._settings.agents) for name in players
        )
        moves: Any = fields.get("moves")
        opening: Any = fields.get("opening", "")
        outcome, _ = _position(moves).outcome, _position(opening)
        ending: Any
        if forfeit is None:
            if outcome is None:
                raise InvalidOption(f"moves {moves!r}: the game is not over")
            winner = outcome.winner
            ending, reason = ("full board" if winner is None else "four"), ", ".join(helped)
        else:
            match forfeit:
                case {"by": int(by), "ending": str(ending), "reason": str(reason)} if (
                    by in (0, 1) and ending in FORFEITS and outcome is None
                ):
                    winner = 1 - by
                case _:
                    refused = f"forfeit {shortened(forfeit, 80)}: expected none, or by 0 or 1"
                    raise InvalidOption(refused)
        reason = shortened(" ".join(printable(reason).split()), REASON)
        game = GameRecord((one, two), opening, moves, winner, ending, reason)
        return GameRecord.parse(game.values())  # replays the moves


class Refused(C4Error):
    """The error for a refused request; ``status`` is the HTTP status of the response."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def _refused(request: Request, error: Exception) -> Response:
    """Log an error in a request, and return the response with the reason."""
    if isinstance(error, HTTPException):
        status = error.status_code
        reason = f"{request.method} {shortened(request.url.path, 80)}: {error.detail}"
    else:
        status = error.status if isinstance(error, Refused) else 400
        reason = shortened(" ".join(str(error).split()), 1000)
    LOG.warning("%s %.200r: %d %.300s", request.method, request.scope["path"], status, reason)
    return JSONResponse({"error": reason}, status)


async def json_object(request: Request) -> dict[str, Any]:
    """Read the JSON object in the body of a request; every string must be valid Unicode.

    Raises:
        Refused: the body is not a JSON object or is too long, or its content type is not JSON. (A
            form on another site cannot send JSON.)
    """
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"content type {kind[:80]!r}: expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"body: expected at most {LARGEST_BODY} bytes")
    try:
        value = json.loads(body)
        json.dumps(value, ensure_ascii=False).encode()  # "\ud800" is JSON, but not Unicode
    except UnicodeEncodeError:
        raise Refused(400, "a string in the body is not Unicode") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    except ValueError:  # Python's limit for integers
        raise Refused(400, "a number in the body has too many digits") from None
    if not isinstance(value, dict):
        raise Refused(400, f'{str(value)[:80]!r}: expected a JSON object such as {{"moves": "44"}}')
    return value


def _integer(fields: dict[str, Any], name: str, most: int) -> int:
    return require_integer(name, fields.get(name, 0), 0, f"an integer 0..{most}", high=most)


def _position(moves: Any) -> Position:
    """Parse the moves in a request; an error quotes no more moves than a game can have."""
    if isinstance(moves, str) and len(moves) > CELLS:
        raise InvalidOption(
            f"moves {moves[:CELLS]!r}...: {len(moves)} moves: expected at most {CELLS}"
        )
    return Position.parse(moves)
