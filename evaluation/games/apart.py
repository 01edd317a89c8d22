"""Run agents in their own processes, so that their code cannot harm the caller's process.

Third-party code may end its process, block it, close its files or change its settings. A command
therefore runs an agent with third-party code in another process. In a run of many games, all agents
share a worker process (``games/workers.py``) until an agent ends the worker.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np
from joblib.externals.loky.backend.context import get_context
from joblib.externals.loky.backend.reduction import dumps

from c4env.agents.errors import UnknownAgent
from c4env.agents.registry.table import ZOO
from c4env.errors import C4Error
from c4env.evaluation.games.processes import (
    SPOILED,
    OwnSettings,
    exit_with_parent,
    files_here,
    sigint_blocked,
    stdout_to_stderr,
)

from ... import agents
from ...agents.base import Agent
from ...agents.registry.registry import registered_here, split_spec
from ...observation import Observation, observe
from ...position import Position, parse_column
from ..plan.field import Player, Traits, join, look, make_player
from .game import Fault, Faulted, ask, begin, in_words

CLOSING: Final = 2.0  # seconds that an agent has to close

_CUT: Final = 86  # the exit code of a process that cannot send an answer
_OWN: Final = frozenset(entry.name for entry in ZOO)
_CODE: Final = re.compile(r"([^\s:]+):[A-Za-z_]\w*")  # FILE.py:NAME, package.module:NAME


def is_foreign(player: Player) -> bool:
    """Whether a player is an object, or a spec that names third-party code."""
    if not isinstance(player, str):
        return True
    name, options = split_spec(player)
    named = map(_CODE.fullmatch, options.values())
    return name not in _OWN or any(found and found[1] not in _OWN for found in named)


def names_code(player: Player) -> bool:
    """Whether a player is a spec of third-party code that any process can import."""
    if not isinstance(player, str) or "__main__:" in player or not is_foreign(player):
        return False
    return split_spec(player)[0] not in registered_here()


def register_all(registered: Mapping[str, Any]) -> None:
    """Register agents under the names that they have in the main process."""
    for name, agent in registered.items():
        agents.register(name, agent, replace=True)


class Process:
    """A child process that runs functions; a call starts the process if necessary."""

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Connection | None = None

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._connection is not None

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the process; return its result or raise its exception.

        Raises:
            Faulted: the process ended before it answered.
        """
        connection = self._connection or self._start()
        whole = False
        try:
            connection.send_bytes(dumps((function, arguments)))
            good, answer = pickle.loads(connection.recv_bytes())
            whole = True
        except (EOFError, OSError):
            self._process.join(CLOSING)
            raise Faulted(Fault("crash", _ending(self._process.exitcode))) from None
        finally:
            if not whole:  # the process ended, or the caller was interrupted
                self.end()
        if good:
            return answer
        raise answer

    def _start(self) -> Connection:
        context = get_context("loky")  # does not run the main script again
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
        with sigint_blocked():
            self._process.start()
        theirs.close()
        return self._connection

    def end(self, last: Callable[[], Any] | None = None) -> None:
        """End the process, even if it is busy.

        Args:
            last: a function to call in the process first, for at most CLOSING seconds.
        """
        if self._connection is None:
            return
        with suppress(OSError):
            if last is not None:
                self._connection.send_bytes(dumps((last, ())))
                self._connection.poll(CLOSING)
            os.kill(self._process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self._connection.close()
        self._connection = None
        self._process.join()


def _ending(code: int | None) -> str:
    """Describe how a process ended, from its exit code."""
    if code == _CUT:
        return SPOILED
    with suppress(ValueError):
        return f"its process ended ({signal.Signals(-(code or 0)).name})"
    return f"its process ended (exit code {code})"


class Apart(Agent):
    """An agent that runs a player in another process and returns the player's moves.

    Args:
        player: a spec, or an object that can be pickled.
        movetime: the run's limit in seconds per move, for agents with the option ``movetime``.
    """

    def __init__(self, player: Player, movetime: float | None = None) -> None:
        self._arrival = (player, movetime, registered_here())
        self._process = Process()
        self.name = player if isinstance(player, str) else ""

    def arrive(self) -> None:
        """Start the process and make the player in it, unless the process is running."""
        if not self._process.alive:
            self._process.call(_arrive, *self._arrival)

    def _call(self, function: Callable[..., Any], argument: Any) -> Any:
        self.arrive()
        found = self._process.call(function, argument)
        if isinstance(found, Fault):
            if found.ending == "crash":
                self._process.end()
            raise Faulted(found)
        return found

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game, in a new process if the last process has ended."""
        self._call(_begin, seed)

    def __call__(self, observation: Any) -> int:
        """Return the player's column, and set :attr:`nodes`.

        Raises:
            Faulted: the player failed.
        """
        column: int
        column, self.nodes = self._call(_answer, observation)
        return column

    def choose(self, position: Position) -> int:
        """Return the player's column in a position."""
        return parse_column(self(observe(position)))

    def close(self) -> None:
        """Close the player, and end its process."""
        self._process.end(_close)


def apart_if_foreign(spec: str) -> Agent:
    """Make the agent that a spec names; third-party code gets its own process.

    Raises:
        UnknownAgent, UnknownOption, ...: the spec is wrong.
    """
    if not names_code(spec):
        return agents.make(spec)
    agent = Apart(spec)
    with _told_of(spec):
        agent.arrive()
    return agent


def make_field(
    field: Mapping[str, Player], movetime: float | None = None
) -> tuple[Traits, dict[str, Agent]]:
    """Make the agents of a run from their specs, and read the traits of all players.

    Traits are, for example, whether a player is deterministic and the hashes of its code. A run
    calls this function before it starts workers, so that a wrong spec is reported first.

    Returns:
        the traits of the players, and the agents made in this process, by name. The caller must
        close these agents. Agents with third-party code are not among these agents.

    Raises:
        UnknownAgent, UnknownOption, ...: a spec is wrong.
        InvalidRun: a file was edited after this process imported it.
    """
    made: dict[str, Agent] = {}
    found = []
    process = Process()
    try:
        for name, player in field.items():
            if names_code(player):
                with _told_of(name):
                    found.append(process.call(_look, name, player, movetime, registered_here()))
                continue
            with OwnSettings(), stdout_to_stderr():
                if isinstance(player, str):
                    made[name] = make_player(player, movetime)
                found.append(look(name, player, made.get(name, player)))
    except BaseException:
        for started in made.values():
            started.close()
        raise
    finally:
        process.end()
    return join(found), made


@contextmanager
def _told_of(name: str) -> Iterator[None]:
    """A context that raises UnknownAgent if the agent cannot be made."""
    try:
        yield
    except (Faulted, RuntimeError) as error:
        raise UnknownAgent(f"agent {name!r} cannot be made: {error}") from None


# -- in the process -----------------------------------------------------------------------


def _serve(connection: Connection, parent: int) -> None:
    """Run the functions that the parent sends, until the connection closes."""
    exit_with_parent(parent)
    here = os.getpid()
    with stdout_to_stderr(), suppress(OSError):
        while True:
            try:
                question = connection.recv_bytes()
            except EOFError:
                os._exit(0)
            try:
                function, arguments = pickle.loads(question)
                found = True, function(*arguments)
            except BaseException as error:
                found = (
                    False,
                    error if isinstance(error, C4Error) else RuntimeError(in_words(error)),
                )
            if os.getpid() != here:  # an agent forked this process; the copy must not answer too
                os._exit(0)
            connection.send_bytes(dumps(found))
    os._exit(_CUT)


class _Here:
    agent: Any = None
    files: tuple[object, ...] = ()


def _arrive(player: Player, movetime: float | None, registered: Mapping[str, Any]) -> None:
    register_all(registered)
    _Here.agent = make_player(player, movetime) if isinstance(player, str) else player
    _Here.files = files_here()


def _look(name: str, spec: str, movetime: float | None, registered: Mapping[str, Any]) -> Traits:
    """Return the traits of an agent, which this function makes and closes."""
    register_all(registered)
    with OwnSettings():
        agent = make_player(spec, movetime)
        traits = look(name, spec, agent)
        with suppress(Exception):
            agent.close()
        del agent
    return traits


def _begin(seed: Any) -> Fault | None:
    return begin(_Here.agent, seed)


def _answer(observation: Observation) -> tuple[int, int] | Fault:
    answer = ask(_Here.agent, observation)
    if files_here() == _Here.files:
        return answer
    return Fault("crash", SPOILED)


def _close() -> None:
    if isinstance(_Here.agent, Agent):
        _Here.agent.close()
