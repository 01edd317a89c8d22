"""A referee plays the games of one thread; its agents play in this process or in others.

    a Python object, a language model, a program    in a thread of this process, the referee
    this project's agents                           together in one process for each job
    a spec that names other people's code           in a separate process for each job

If the process of an agent dies or is late, the agent loses the game, and its next move starts a new
process. Without a clock, the first job plays this project's agents in the referee's process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from c4env.agents.base import Agent
from c4env.agents.making.options import DAY
from c4env.agents.making.spec import Spec
from c4env.agents.programs.exec import Engine
from c4env.errors import EngineFault, InvalidOption, Unavailable
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Contents
from c4env.evaluation.runs.code_hashes import contents_of, files_of, require_same
from c4env.evaluation.runs.play_game import Clock, play_game
from c4env.evaluation.runs.players import (
    Players,
    Traits,
    for_another_job,
    make_player,
    traits_of,
)
from c4env.evaluation.runs.remote_agent import CLOSING, AgentProcess, RemoteAgent, allow
from c4env.system import one_thread

T = TypeVar("T")


class Referee:
    """Plays the games of one thread; an agent is made when it is first asked for.

    Args:
        players: the players of the run.
        clock: the time limit of a move, or None.
        seed: the run's seed, from which the seeds of players in a game are derived.
        first: whether this thread is the first of a run. Without a clock, the first thread plays
            this project's agents in this process. In a run with language models every thread plays
            them in this process, because most games wait for a server and need no core.
        begun: by player, the hashes of its files when the run began; :meth:`traits` adds them. The
            referees of a run share the mapping, and compare when they load code again.
        making: seconds for a process to make an agent.

    Raises:
        InvalidOption: a player is a text; :func:`name_players` parses texts.
    """

    def __init__(
        self,
        players: Players,
        clock: Clock | None = None,
        seed: int = 0,
        first: bool = True,
        begun: dict[str, Contents] | None = None,
        making: float = DAY,
    ) -> None:
        for name, player in players.items():
            if isinstance(player, str):  # it would pass for a Python object
                raise InvalidOption(f"agent {name!r} is a text, {player!r}: expected a Spec")
        self.players, self.clock, self.seed = players, clock, seed
        self.begun = {} if begun is None else begun
        self._making = making
        specs = [player for player in players.values() if isinstance(player, Spec)]
        served = any(spec.asks_server for spec in specs)
        self._is_local = clock is None and (first or served)
        self._is_first = first
        self._shared = AgentProcess(f"{__package__}.agent_process", "games")
        if not first and not self._is_local and any(spec.runs == "shared" for spec in specs):
            self._shared.start()  # loads its code while the first thread plays
        self._agents: dict[str, Agent] = {}
        self._awake: set[str] = set()  # agents that may hold memory

    def agent(self, name: str) -> Agent:
        """Return an agent; the first call makes it."""
        if name not in self._agents:
            agent = self._agents[name] = self._make(name, self.players[name])
            self._awake.add(name)
            if self.clock is not None:
                allow(agent, self.clock.limit)
        return self._agents[name]

    def _make(self, name: str, player: Spec | Agent) -> Agent:
        if isinstance(player, Agent):
            return player
        movetime = None if self.clock is None else self.clock.movetime
        place = player.runs
        if place == "own":
            is_first = self._is_first and player not in map(self.players.get, self._agents)
            process = AgentProcess(notices=is_first, making=self._making)
            return RemoteAgent(process, name, player, movetime, self.begun)
        if place != "here" and not self._is_local:
            return RemoteAgent(self._shared, name, player, movetime, self.begun)
        self._require_same(name)
        agent = make_player(player, movetime)
        if isinstance(agent, Engine):
            agent.on_load = partial(self._require_same, name)
        return agent

    def _require_same(self, name: str) -> None:
        """Check that the files of an agent in this process have not changed since the run began."""
        if begun := self.begun.get(name):
            require_same(name, contents_of(map(Path, begun), os.getcwd()), begun)

    def traits(self, name: str) -> Traits:
        """Return an agent's traits, with its identity."""
        agent, player = self.agent(name), self.players[name]
        if isinstance(agent, RemoteAgent):
            return agent.make()
        traits = traits_of(agent)
        if isinstance(player, Spec) and not player.is_of_session:
            self.begun[name] = contents_of(files_of(player), os.getcwd())
            return traits._replace(files=self.begun[name])
        version = getattr(agent, "version", None)
        return traits._replace(version="" if version is None else str(version))

    def play(self, pair: tuple[str, str], opening: str) -> GameRecord:
        """Play a game of the schedule. If a process was killed, try the game again.

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
        first, second = self.agent(pair[0]), self.agent(pair[1])
        self._let_others_rest(pair)
        if (
            self.clock is None
            and isinstance(first, RemoteAgent)
            and isinstance(second, RemoteAgent)
            and first.process is second.process
        ):
            return first.play(second, opening, self.seed)
        return play_game((first, second), pair, opening, self.seed, self.clock)

    def _let_others_rest(self, pair: tuple[str, str]) -> None:
        for name in self._awake.difference(pair):
            player = self.players[name]
            if isinstance(player, Spec) and player.runs == "shared":
                self._agents[name].close()  # its next move takes the memory again
        self._awake = {*pair}

    def close(self) -> None:
        """Close all agents; an error in an agent does not end the run."""
        for agent in [*self._agents.values()]:
            if isinstance(agent, RemoteAgent):
                agent.process.close()
            else:
                with suppress(Exception):
                    agent.close()
        self._shared.close()


def referees(
    players: Players, clock: Clock | None = None, seed: int = 0, jobs: int = 1
) -> list[Referee]:
    """Return a referee for each thread of a run, with its own copies of Python objects.

    Raises:
        InvalidOption: an object cannot be copied.
    """
    first = Referee(players, clock, seed)
    others = (
        Referee(for_another_job(players), clock, seed, first=False, begun=first.begun)
        for _ in range(jobs - 1)
    )
    return [first, *others]


def map_in_threads(
    task: Callable[..., T], tasks: Iterable[tuple[Any, ...]], team: Sequence[Referee]
) -> Generator[T, None, None]:
    """Call ``task(referee, *arguments)`` for each task in threads; yield results as they come.

    Every referee works in its own thread, but a single referee works in this thread. If the
    generator is closed early, the players end, and an unfinished task has no result.
    """
    with one_thread():  # as in an agent process, for the user's agents
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
