"""The players of a run: each plays in this process, or in another one that can be killed.

    a Python object, a language model, a program    in a thread of this process, the referee
    this project's agents                           together in one process for each job
    a spec that names other people's code           in a process of its own for each job

A player whose process dies or is late loses the game, and the next question starts a new process.
Without a clock, this project's agents play in the referee's process in the first job.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, NamedTuple, TypeVar

from threadpoolctl import threadpool_limits

from c4env.agents.adapters.process import LineProcess
from c4env.agents.adapters.programs import Engine
from c4env.agents.base import Agent
from c4env.agents.heuristics import QUIET
from c4env.agents.options import DAY
from c4env.agents.spec import Spec
from c4env.boards import VARIABLE
from c4env.errors import EngineFault, InvalidOption, LateAnswer, Unavailable, UnknownAgent
from c4env.evaluation.games.asking import Answer, Fault, ask, begin, function_of
from c4env.evaluation.games.field import Field, Traits, identity_of, make_player, traits_of
from c4env.evaluation.games.game import Clock, play_game
from c4env.evaluation.store.run_files import GameRecord
from c4env.geometry import BOARD_SIZE
from c4env.observation import observe
from c4env.position import Position
from c4env.system import FOLDER

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
        quiet = {} if notices else {QUIET: "1"}
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
                self.call("keep", seconds=CLOSING)
        self._closed = True
        self.stop()

    def stop(self) -> None:
        """Kill the process, also amid an answer; the next question starts another."""
        process, self._process, self._idle, self.agents = self._process, None, True, set()
        if process is not None:
            process.close()


class LocalPlayer:
    """A player in this process: an agent, or any function of an observation."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self._function = function_of(agent)

    def make(self) -> Traits:
        """Check that the player is ready, and return its traits."""
        return traits_of(self.agent)

    def reset(self, seed: int) -> Fault | None:
        """Begin a game."""
        return begin(self.agent, seed)

    def ask(self, position: Position, moves: str, clock: Clock | None) -> Answer:
        """Return the player's column and nodes, or its fault."""
        if self._function is not None:
            return ask(self._function, observe(position), position.is_legal, self._function)
        if clock is not None and isinstance(self.agent, Engine):
            self.agent.limit = clock.movetime + clock.margin
        return ask(self.agent.choose, position, position.is_legal, self.agent)

    def close(self) -> None:
        """Give back what the agent holds: memory, a program."""
        if isinstance(self.agent, Agent):
            self.agent.close()


class HostedPlayer:
    """A player in a process of a :class:`Host`."""

    def __init__(self, host: Host, name: str, spec: Spec, movetime: float | None) -> None:
        self.host, self.name = host, name
        self._request = ("make", name, spec.text, movetime)
        self._limit = DAY

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
        self._limit = traits.limit or DAY
        return traits

    def ready(self) -> None:
        """Make the agent, unless its process has made it."""
        if self.name not in self.host.agents:
            self.make()

    def reset(self, seed: int) -> Fault | None:
        """Begin a game."""
        answer = self._call("reset", seed, DAY)
        return answer if isinstance(answer, Fault) else None

    def ask(self, position: Position, moves: str, clock: Clock | None) -> Answer:
        """Return the player's column and nodes, or its fault."""
        limit = DAY if clock is None else clock.movetime + clock.margin
        answer = self._call("ask", moves, min(limit, self._limit))
        return answer if isinstance(answer, Fault) else (answer[0], answer[1])

    def _call(self, action: str, argument: Any, seconds: float) -> Any:
        try:
            self.ready()
            answer = self.host.call(action, self.name, argument, seconds=seconds)
        except LateAnswer as error:
            return Fault("time", str(error))
        except (EngineFault, UnknownAgent) as error:
            return Fault("crash", str(error))
        return Fault(*answer["fault"]) if "fault" in answer else answer["answer"]

    def close(self) -> None:
        """End the process."""
        self.host.close()


class Seats(dict[str, LocalPlayer | HostedPlayer]):
    """The players of one thread, by name; a player is made when it first plays.

    Args:
        field: the players of the run.
        clock: the time limit of a move, or None.
        first: whether this thread is the first of a run. Without a clock, this project's agents
            then play in this process. In a run with language models they do so in every thread:
            most games wait for a server, and need no core each.
    """

    def __init__(self, field: Field, clock: Clock | None, first: bool = True) -> None:
        super().__init__()
        for player in field.values():
            if isinstance(player, str):  # else it would pass for a Python object
                raise InvalidOption(
                    f"agent {player!r} is a text: expected name_players to parse it"
                )
        self.field, self._clock = field, clock
        specs = [player for player in field.values() if isinstance(player, Spec)]
        served = any(spec.asks_server for spec in specs)
        self._is_local = clock is None and (first or served)
        self._is_first = first
        self._shared = Host(f"{__package__}.host", "games")
        if not first and not self._is_local and any(spec.place == "shared" for spec in specs):
            self._shared.start()  # loads its code while the first thread plays
        self._awake: tuple[str, ...] = ()

    def __missing__(self, name: str) -> LocalPlayer | HostedPlayer:
        player = self.field[name]
        movetime = None if self._clock is None else self._clock.movetime
        if not isinstance(player, Spec):
            seat: LocalPlayer | HostedPlayer = LocalPlayer(player)
        elif (place := player.place) == "own":
            is_first = self._is_first and player not in map(self.field.get, self)
            seat = HostedPlayer(Host(notices=is_first), name, player, movetime)
        elif place == "here" or self._is_local:
            seat = LocalPlayer(make_player(player, movetime))
        else:
            seat = HostedPlayer(self._shared, name, player, movetime)
        self[name] = seat
        return seat

    def traits(self, name: str) -> Traits:
        """Make a player, and return its traits."""
        seat, player = self[name], self.field[name]
        traits = seat.make()
        if isinstance(seat, HostedPlayer):
            return traits
        if isinstance(player, Spec) and not player.is_of_session:
            return traits._replace(code=identity_of(player.files(), os.getcwd()))
        version = getattr(function_of(seat.agent) or seat.agent, "version", None)
        return traits._replace(code={"version": "" if version is None else str(version)})

    def for_next_thread(self) -> Seats:
        """Return the players of another thread; a Python object is copied."""
        field = {}
        for name, player in self.field.items():
            try:
                field[name] = player if isinstance(player, Spec) else copy.deepcopy(player)
            except Exception as error:
                raise InvalidOption(
                    f"agent {name!r} cannot be copied for another job ({error}): expected jobs=1, "
                    "or a spec FILE.py:NAME"
                ) from None
        return Seats(field, self._clock, first=False)

    def keep_memory_of(self, *names: str) -> None:
        """Give back the memory of this project's agents but these, until they play again."""
        if names == self._awake:
            return
        self._awake = names
        if self._shared.agents.difference(names):
            self._shared.call("keep", *names)
        for name, seat in self.items():
            player = self.field[name]
            ours = isinstance(player, Spec) and player.place == "shared"
            if ours and isinstance(seat, LocalPlayer) and name not in names:
                seat.close()

    def whole_game(self, names: tuple[str, str], opening: str, seed: int) -> GameRecord | None:
        """Play a game of two agents of the shared process there; None if they play elsewhere."""
        first, second = (self[name] for name in names)
        if not (
            self._clock is None
            and isinstance(first, HostedPlayer)
            and isinstance(second, HostedPlayer)
            and first.host is second.host is self._shared
        ):
            return None
        first.ready()
        second.ready()
        answer = self._shared.call("play", names, opening, seed)
        if "fault" in answer:
            raise Unavailable(f"a game of {' and '.join(names)} failed: {answer['fault'][1]}")
        return GameRecord.parse(answer["answer"])

    def close(self) -> None:
        """Close all players."""
        for seat in [*self.values()]:
            seat.close()
        self._shared.close()


def team(field: Field, clock: Clock | None, jobs: int) -> list[Seats]:
    """Return the players of each thread of a run."""
    first = Seats(field, clock)
    return [first, *(first.for_next_thread() for _ in range(jobs - 1))]


class GameSettings(NamedTuple):
    """What a game needs besides its players and its opening."""

    seed: int
    clock: Clock | None = None


def play_one(
    settings: GameSettings, seats: Seats, pair: tuple[str, str], opening: str
) -> GameRecord:
    """Play one game; a host that was killed has a second try."""
    for _ in range(2):
        try:
            seats.keep_memory_of(*pair)
            game = seats.whole_game(pair, opening, settings.seed)
            break
        except EngineFault as error:  # the process was killed: not the agents' fault
            failure = error
    else:
        raise Unavailable(f"a process ended twice in a game of {' and '.join(pair)}: {failure}")
    if game is not None:
        return game
    players = seats[pair[0]], seats[pair[1]]
    return play_game(players, pair, opening, settings.seed, settings.clock)


def do_all(
    task: Callable[..., T], tasks: Iterable[tuple[Any, ...]], team: Sequence[Seats]
) -> Generator[T, None, None]:
    """Call ``task(seats, *arguments)`` for each task in threads; yield each result when it comes.

    Each of the team plays in a thread of its own; one alone plays in this thread. Closing the
    generator ends the players; an unfinished task has no result.
    """
    with threadpool_limits(1, "blas"):  # as in a host
        if len(team) == 1:
            yield from (task(team[0], *arguments) for arguments in tasks)
        else:
            yield from _in_threads(task, tasks, team)


def _in_threads(
    task: Callable[..., T], tasks: Iterable[tuple[Any, ...]], team: Sequence[Seats]
) -> Generator[T, None, None]:
    # A result in a list, an error, or None when a thread ends.
    messages: SimpleQueue[list[T] | BaseException | None] = SimpleQueue()
    waiting, taking, stopped = iter(tasks), Lock(), Event()

    def work(seats: Seats) -> None:
        try:
            while not stopped.is_set():
                with taking:
                    arguments = next(waiting, None)
                if arguments is None:
                    return
                messages.put([task(seats, *arguments)])
        except BaseException as error:
            messages.put(error)
        finally:
            messages.put(None)

    threads = [Thread(target=work, args=(seats,), daemon=True) for seats in team]
    try:
        for thread in threads:
            thread.start()
        working = len(team)
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
        for seats in team:
            seats.close()  # a process that is thinking is killed
        for thread in threads:
            if thread.is_alive():  # an interrupt may come before all are started
                thread.join(CLOSING)
