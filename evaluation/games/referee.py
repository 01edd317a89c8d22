"""A referee plays the games of one thread; its players play in this process or in others.

    a Python object, a language model, a program    in a thread of this process, the referee
    this project's agents                           together in one process for each job
    a spec that names other people's code           in a process of its own for each job

A player whose process dies or is late loses the game, and the next question starts a new process.
Without a clock, this project's agents play in the referee's process in the first job.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, TypeVar

from c4env.agents.adapters.process import LineProcess
from c4env.agents.adapters.programs import Engine, late_words
from c4env.agents.heuristics import QUIET
from c4env.agents.making.options import DAY
from c4env.agents.making.spec import Spec
from c4env.agents.making.wrap import as_agent
from c4env.boards import VARIABLE
from c4env.errors import EngineFault, InvalidOption, LateAnswer, Unavailable, UnknownAgent
from c4env.evaluation.games.asking import Answer, Fault, ask, begin
from c4env.evaluation.games.field import (
    Field,
    Traits,
    for_another_job,
    make_player,
    traits_of,
)
from c4env.evaluation.games.game import Clock, play_game
from c4env.evaluation.games.identity import files_of, identity_of
from c4env.evaluation.store.run_files import GameRecord
from c4env.geometry import BOARD_SIZE
from c4env.position import Position
from c4env.system import FOLDER, SILENT, one_thread

CLOSING: Final = 2.0  # seconds for agents to close, before their process is killed
ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
"""A host computes in one thread: its sums do not depend on the machine, and more threads than cores
would slow down a small network a hundred times. The user's own variables come first."""
_START: Final = """
import importlib.machinery, importlib.util, runpy, sys
folder, module = sys.argv.pop(1), sys.argv.pop(1)
spec = importlib.machinery.PathFinder.find_spec("c4env", [folder])
sys.modules["c4env"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["c4env"])
sys.path.append(folder)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""The start of a host: as ``python -m``, but without the current folder (``-P``), and with
the c4env of this process, wherever another may be installed."""

T = TypeVar("T")


class Host:
    """A process that plays agents; it starts with the first question, and after its death."""

    def __init__(
        self, module: str = f"{__package__}.host", *arguments: str, notices: bool = True
    ) -> None:
        self._command = (sys.executable, "-P", "-c", _START, str(FOLDER), module, *arguments)
        quiet = {SILENT: "1"} if notices else {SILENT: "1", QUIET: "1"}
        self._variables = ONE_THREAD | quiet | os.environ | {VARIABLE: str(BOARD_SIZE)}
        self._process: LineProcess | None = None
        self._idle = True
        self._closed = False
        self.agents: set[str] = set()
        """The names of the agents that the process has made."""

    def start(self) -> LineProcess:
        """Start the process if it does not run, and return it.

        Raises:
            EngineFault: it cannot be started, or was closed.
        """
        if self._closed:
            raise EngineFault("its process was closed")
        if self._process is None:
            self._process = LineProcess(
                self._command, "its process", stderr=None, variables=self._variables
            )
        return self._process

    def call(self, *request: Any, seconds: float = DAY) -> Any:
        """Return the answer to a request.

        Raises:
            LateAnswer: no answer within ``seconds``; the process is killed.
            EngineFault: the process died.
            Unavailable: a service that the agent needs does not answer.
        """
        process, self._idle = self.start(), False
        try:
            answer = json.loads(process.ask(json.dumps(request), seconds))
        except BaseException:
            self.stop()
            raise
        self._idle = True
        if isinstance(answer, dict) and "unavailable" in answer:
            raise Unavailable(answer["unavailable"])
        return answer

    def close(self) -> None:
        """End the process, and close its agents if none of them is thinking."""
        if self._process is not None and self._idle and self.agents:
            with suppress(EngineFault, LateAnswer):
                self.call("rest", *self.agents, seconds=CLOSING)
        self._closed = True
        self.stop()

    def stop(self) -> None:
        """Kill the process, also amid an answer; the next question starts another."""
        process, self._process, self._idle, self.agents = self._process, None, True, set()
        if process is not None:
            process.close()


class LocalPlayer:
    """A player in this process: an agent, or anything that becomes one."""

    def __init__(self, agent: Any) -> None:
        self.agent = as_agent(agent)

    def make(self) -> Traits:
        """Check that the player is ready, and return its traits."""
        return traits_of(self.agent)

    def reset(self, seed: int) -> Fault | None:
        """Begin a game."""
        return begin(self.agent, seed)

    def ask(self, position: Position, moves: str, clock: Clock | None) -> Answer:
        """Return the player's column and nodes, or its fault."""
        if clock is not None and isinstance(self.agent, Engine):
            self.agent.limit = clock.movetime + clock.margin
        return ask(self.agent, position)

    def close(self) -> None:
        """Give back what the agent holds: memory, a program. Its errors end no run."""
        with suppress(Exception):
            self.agent.close()

    def late(self) -> list[str]:
        """Return nothing: a kept run knows an object by its ``version``."""
        return []

    rest = close  # an agent takes it again for its next move


class HostedPlayer:
    """A player in a process of a :class:`Host`."""

    def __init__(self, host: Host, name: str, spec: Spec, movetime: float | None) -> None:
        self.host, self.name = host, name
        self._request = ("make", name, spec.text, movetime)
        self._limits = Traits(deterministic=False, timed=False)
        self._left = 0.0  # of the overage, in this game

    def make(self) -> Traits:
        """Make the agent in its process, and return its traits.

        Raises:
            UnknownAgent: it cannot be made.
        """
        try:
            answer = self.host.call(*self._request)
        except EngineFault as error:
            answer = {"fault": ("crash", str(error))}
        if "error" in answer:
            raise UnknownAgent(answer["error"])
        if "fault" in answer:
            raise UnknownAgent(f"agent {self._request[2]!r} cannot be made: {answer['fault'][1]}")
        self.host.agents.add(self.name)
        traits = Traits(*answer["answer"])
        self._limits, self._left = traits, traits.overage
        return traits

    def ready(self) -> None:
        """Make the agent, unless its process has made it."""
        if self.name not in self.host.agents:
            self.make()

    def reset(self, seed: int) -> Fault | None:
        """Begin a game."""
        answer = self._call("reset", seed, seconds=DAY)
        self._left = self._limits.overage
        return answer if isinstance(answer, Fault) else None

    def ask(self, position: Position, moves: str, clock: Clock | None) -> Answer:
        """Return the player's column and nodes, or its fault."""
        limit = DAY if clock is None else clock.movetime + clock.margin
        timeout, overage = self._limits.timeout or DAY, self._limits.overage
        started = time.perf_counter()
        longest = timeout + self._left
        left = [self._left] if overage else []
        answer = self._call("ask", moves, *left, seconds=min(limit, longest))
        if overage:
            self._left -= max(0.0, time.perf_counter() - started - timeout)
            late = isinstance(answer, Fault) and answer.ending == "time"
            if (late or self._left < 0) and limit > longest:
                return Fault("time", f"it took longer than {late_words(timeout, overage)}")
        return answer if isinstance(answer, Fault) else (answer[0], answer[1])

    def _call(self, action: str, *arguments: Any, seconds: float) -> Any:
        try:
            self.ready()
            answer = self.host.call(action, self.name, *arguments, seconds=seconds)
        except LateAnswer as error:
            return Fault("time", str(error))
        except (EngineFault, UnknownAgent) as error:
            return Fault("crash", str(error))
        return Fault(*answer["fault"]) if "fault" in answer else answer["answer"]

    def play(self, other: HostedPlayer, opening: str, seed: int) -> GameRecord:
        """Play a whole game in the process that both players share."""
        self.ready()
        other.ready()
        names = self.name, other.name
        answer = self.host.call("play", names, opening, seed)
        if "fault" in answer:
            raise Unavailable(f"a game of {' and '.join(names)} failed: {answer['fault'][1]}")
        return GameRecord.parse(answer["answer"])

    def late(self) -> list[str]:
        """Return the users' files that moves imported, and that are not in the agent's identity."""
        if not self.host.agents:
            return []
        try:
            files: list[str] = self.host.call("late")["answer"]
        except EngineFault:  # it ended since its last answer
            return []
        return files

    def rest(self) -> None:
        """Give back the agent's memory, until it plays again."""
        if self.name in self.host.agents:
            self.host.call("rest", self.name)

    def close(self) -> None:
        """End the process."""
        self.host.close()


class Referee:
    """Plays the games of one thread; a player is made when it is first asked for.

    Args:
        field: the players of the run.
        clock: the time limit of a move, or None.
        seed: the run's seed, from which the seeds of players in a game are derived.
        first: whether this thread is the first of a run. Without a clock, this project's agents
            then play in this process. In a run with language models they do so in every thread:
            most games wait for a server, and need no core each.

    Raises:
        InvalidOption: a text is in the field; :func:`name_players` parses texts.
    """

    def __init__(
        self, field: Field, clock: Clock | None = None, seed: int = 0, first: bool = True
    ) -> None:
        for name, player in field.items():
            if isinstance(player, str):  # it would pass for a Python object
                raise InvalidOption(f"agent {name!r} is a text, {player!r}: expected a Spec")
        self.field, self.clock, self.seed = field, clock, seed
        specs = [player for player in field.values() if isinstance(player, Spec)]
        served = any(spec.asks_server for spec in specs)
        self._is_local = clock is None and (first or served)
        self._is_first = first
        self._shared = Host(f"{__package__}.host", "games")
        if not first and not self._is_local and any(spec.place == "shared" for spec in specs):
            self._shared.start()  # loads its code while the first thread plays
        self._players: dict[str, LocalPlayer | HostedPlayer] = {}
        self._awake: set[str] = set()  # players that may hold memory
        self.late: dict[str, list[str]] = {}
        """By player, files that its moves imported, and that are not in its identity."""

    def player(self, name: str) -> LocalPlayer | HostedPlayer:
        """Return a player; the first call makes it."""
        if name not in self._players:
            self._players[name] = self._make(name, self.field[name])
            self._awake.add(name)
        return self._players[name]

    def _make(self, name: str, player: Any) -> LocalPlayer | HostedPlayer:
        if not isinstance(player, Spec):
            return LocalPlayer(player)
        movetime = None if self.clock is None else self.clock.movetime
        place = player.place
        if place == "own":
            is_first = self._is_first and player not in map(self.field.get, self._players)
            return HostedPlayer(Host(notices=is_first), name, player, movetime)
        if place == "here" or self._is_local:
            return LocalPlayer(make_player(player, movetime))
        return HostedPlayer(self._shared, name, player, movetime)

    def traits(self, name: str) -> Traits:
        """Return a player's traits, with its identity."""
        seat, player = self.player(name), self.field[name]
        traits = seat.make()
        if isinstance(seat, HostedPlayer):
            return traits
        if isinstance(player, Spec) and not player.is_of_session:
            return traits._replace(code=identity_of(files_of(player), os.getcwd()))
        version = getattr(seat.agent, "version", None)
        return traits._replace(code={"version": "" if version is None else str(version)})

    def play(self, pair: tuple[str, str], opening: str) -> GameRecord:
        """Play a game of the schedule; a process that was killed has a second try.

        Raises:
            Unavailable: a process ended twice, or a service does not answer.
        """
        for _ in range(2):
            try:
                return self._play(pair, opening)
            except EngineFault as error:  # the process was killed: not the agents' fault
                failure = error
        raise Unavailable(f"a process ended twice in a game of {' and '.join(pair)}: {failure}")

    def _play(self, pair: tuple[str, str], opening: str) -> GameRecord:
        first, second = self.player(pair[0]), self.player(pair[1])
        self._let_others_rest(pair)
        if (
            self.clock is None
            and isinstance(first, HostedPlayer)
            and isinstance(second, HostedPlayer)
            and first.host is second.host
        ):
            return first.play(second, opening, self.seed)
        game = play_game((first, second), pair, opening, self.seed, self.clock)
        for name, player in zip(pair, (first, second), strict=True):
            if files := player.late():
                self.late[name] = files
        return game

    def _let_others_rest(self, pair: tuple[str, str]) -> None:
        for name in self._awake.difference(pair):
            player = self.field[name]
            if isinstance(player, Spec) and player.place == "shared":
                self._players[name].rest()
        self._awake = {*pair}

    def close(self) -> None:
        """Close all players."""
        for player in [*self._players.values()]:
            player.close()
        self._shared.close()


def referees(
    field: Field, clock: Clock | None = None, seed: int = 0, jobs: int = 1
) -> list[Referee]:
    """Return a referee for each thread of a run; each has a copy of a Python object.

    Raises:
        InvalidOption: an object cannot be copied.
    """
    first = Referee(field, clock, seed)
    others = (Referee(for_another_job(field), clock, seed, first=False) for _ in range(jobs - 1))
    return [first, *others]


def do_all(
    task: Callable[..., T], tasks: Iterable[tuple[Any, ...]], team: Sequence[Referee]
) -> Generator[T, None, None]:
    """Call ``task(referee, *arguments)`` for each task in threads; yield results as they come.

    Each referee works in a thread of its own; one alone works in this thread. Closing the
    generator early ends the players; an unfinished task has no result.
    """
    with one_thread():  # as in a host, for agents of the user's
        if len(team) == 1:
            yield from (task(team[0], *arguments) for arguments in tasks)
        else:
            yield from _in_threads(task, tasks, team)


def _in_threads(
    task: Callable[..., T], tasks: Iterable[tuple[Any, ...]], team: Sequence[Referee]
) -> Generator[T, None, None]:
    # A result in a list, an error, or None when a thread ends.
    messages: SimpleQueue[list[T] | BaseException | None] = SimpleQueue()
    waiting, taking, stopped = iter(tasks), Lock(), Event()

    def work(referee: Referee) -> None:
        try:
            while not stopped.is_set():
                with taking:
                    arguments = next(waiting, None)
                if arguments is None:
                    return
                messages.put([task(referee, *arguments)])
        except BaseException as error:
            messages.put(error)
        finally:
            messages.put(None)

    threads = [Thread(target=work, args=(referee,), daemon=True) for referee in team]
    working = len(team)
    try:
        for thread in threads:
            thread.start()
        while working:
            message = messages.get()
            if isinstance(message, BaseException):
                raise message
            if message is None:
                working -= 1
            else:
                yield from message
    finally:
        stopped.set()
        if working:  # a process that is thinking is killed
            for referee in team:
                referee.close()
        for thread in threads:
            if thread.is_alive():  # an interrupt may come before all are started
                thread.join(CLOSING)
