"""The players of a run in the process that plays: a worker, a thread, or this process.

The run looks at its players before its first game. A spec of this project's agents is made here; a
spec of third-party code is made in a fresh worker, so that the code's identity is what that worker
loaded. The agents and workers made for the look then play.
"""

from __future__ import annotations

import atexit
import copy
import dataclasses
import pickle
import re
import threading
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from c4env.agents.registry.table import ZOO
from c4env.cores import usable_cores
from c4env.errors import InvalidOption, UnknownAgent
from c4env.evaluation.games.pool import (
    Clock,
    Worker,
    end_all,
    here,
    may_start_processes,
    pickled,
)
from c4env.evaluation.games.processes import agents_own, place_restored, stdout_to_stderr

from ... import agents
from ...agents.base import Agent
from ...agents.registry.registry import registered_here, split_spec
from ..plan.field import (
    Player,
    Traits,
    is_language_model,
    join,
    look,
    make_player,
)
from ..plan.identity import Watch
from ..store.record import GameRecord
from ..store.transcripts import Transcripts
from .game import Policy, describe_error, play_game

_OWN: Final = frozenset(entry.name for entry in ZOO)
_CODE: Final = re.compile(r"([^\s:]+):[A-Za-z_]\w*")  # FILE.py:NAME, package.module:NAME


def names_code(player: Player | bytes) -> bool:
    """Whether a player is a spec of third-party code that any process can import."""
    if not isinstance(player, str) or "__main__:" in player:
        return False
    name, options = split_spec(player)
    named = map(_CODE.fullmatch, options.values())
    known = ":" in name or name in agents.names()  # another bare name is refused here, at once
    foreign = name not in _OWN or any(found and found[1] not in _OWN for found in named)
    return known and foreign and name not in registered_here()


@dataclass(frozen=True)
class RunSpec:
    """The data that each worker of a run needs, except the list of games."""

    field: Mapping[str, Player | bytes]  # specs, objects, or pickled objects
    seed: int
    clock: Clock | None = None
    registered: Mapping[str, bytes] = dataclasses.field(default_factory=dict)  # see sendable
    transcripts: Transcripts | None = None  # of language models, which play in threads
    shared: bool = False  # workers are threads, each of which needs its own copy of an object
    id: str = ""  # of the lineup, whose agents play

    def for_workers(self, jobs: int) -> RunSpec | None:
        """Return the run as worker processes get it, or None if this process plays.

        With one job, workers play third-party code that can be sent: an object only with a limit of
        time, which ends the worker.
        """
        if not may_start_processes():
            if jobs > 1:
                warnings.warn(
                    "a daemonic process may start no processes: one job plays here",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return None
        if jobs > 1:
            return self.sent()
        players = self.field.values()
        objects = self.clock is not None and any(map(callable, players))
        if objects or any(map(names_code, players)):
            with suppress(InvalidOption):  # an object that cannot be pickled
                return self.sent()
        return None

    def sent(self) -> RunSpec:
        """Return the run with its objects pickled: what goes wrong there is one agent's own."""
        sent = {n: p if isinstance(p, str | bytes) else pickled(p) for n, p in self.field.items()}
        registered = sendable(self.field)
        return dataclasses.replace(self, field=sent, registered=registered, transcripts=None)


def play_one(run: RunSpec, pair: tuple[str, str], opening: str) -> GameRecord:
    """Play one game between agents made in this process."""
    here.turn.begin()
    policies = []
    for seat, name in enumerate(pair):
        here.turn.belongs_to(seat)
        policies.append(agent_cache.policy(run, name))
        here.turn.ends()
    first, second = policies
    if run.transcripts is not None:
        for policy in policies:
            if is_language_model(policy):
                policy.tape = run.transcripts.tape((pair, opening))
    return play_game((first, second), pair, opening, run.seed, run.clock)


class AgentCache(threading.local):
    """The agents that this thread has made for the current run, by name."""

    def __init__(self) -> None:
        self._run = ""
        self._made: dict[str, Any] = {}

    def policy(self, run: RunSpec, name: str) -> Policy:
        """Return the agent of a player; make it if this thread has not."""
        player = run.field[name]
        if callable(player) and not run.shared:
            return player
        self.adopt(run.id, {})
        if name not in self._made:
            with place_restored():
                if isinstance(player, bytes):
                    self._made[name] = pickle.loads(player)
                elif callable(player):
                    self._made[name] = copy.deepcopy(player)
                else:
                    register_all(run.registered)
                    self._made[name] = make_player(player, run.clock and run.clock.movetime)
        found: Policy = self._made[name]
        return found

    def adopt(self, run: str, made: dict[str, Agent]) -> None:
        """Take over agents that were made for a run, and forget those of another run."""
        if self._run != run:
            self.clear()
            self._run = run
        self._made.update(made)
        made.clear()

    def clear(self) -> None:
        """Close all agents."""
        close_agents(self._made)


def sendable(field: Mapping[str, Player | bytes]) -> dict[str, bytes]:
    """Return the registered agents, pickled, by name; an unnamed one that cannot be is left out.

    Raises:
        InvalidOption: an agent that a spec names cannot be pickled.
    """
    named: set[str] = set()
    for player in field.values():
        if isinstance(player, str):
            name, options = split_spec(player)
            named.update((name, *options.values()))
    sent = {}
    for name, agent in registered_here().items():
        try:
            sent[name] = pickled(agent)
        except InvalidOption:
            if name in named:
                raise
    return sent


def register_all(registered: Mapping[str, bytes]) -> None:
    """Register agents under the names that they have in the main process."""
    for name, agent in registered.items():
        agents.register(name, pickle.loads(agent), replace=True)


def close_agents(made: dict[Any, Any]) -> None:
    """Remove all agents from a dictionary and close them; warn if ``close`` raises an error."""
    while made:
        _, agent = made.popitem()
        if isinstance(agent, Agent):
            try:
                agent.close()
            except BaseException as error:
                if not agents_own(error):
                    raise
                warnings.warn(
                    f"{agent.name}: close() raised {describe_error(error)}",
                    RuntimeWarning,
                    stacklevel=2,
                )


agent_cache = AgentCache()
atexit.register(agent_cache.clear)


# -- before the first game ----------------------------------------------------------------


@dataclass
class Lineup:
    """The players of a run, with the agents and workers that were made to look at them.

    Attributes:
        players: the players by name.
        traits: the traits of the players, such as which are deterministic.
        made: agents made in this process, by name.
        workers: idle workers, each of which has made agents of third-party code.
        id: the id of the run for which the agents were made.
    """

    players: Mapping[str, Player]
    traits: Traits
    made: dict[str, Agent]
    workers: list[Worker]
    id: str

    def run(
        self, seed: int, clock: Clock | None = None, transcripts: Transcripts | None = None
    ) -> RunSpec:
        """Return what each worker needs to play with these players."""
        return RunSpec(self.players, seed, clock, transcripts=transcripts, id=self.id)

    @contextmanager
    def here(self) -> Iterator[None]:
        """A context in which this thread plays with the agents that were made."""
        agent_cache.adopt(self.id, self.made)
        try:
            yield
        finally:
            agent_cache.clear()

    def close(self) -> None:
        """Close the agents and end the workers."""
        close_agents(self.made)
        end_all(self.workers)


def line_up(field: Mapping[str, Player], movetime: float | None = None, jobs: int = 1) -> Lineup:
    """Make the players of a run, and read their traits; ``jobs`` workers stay for the run.

    Raises:
        UnknownAgent: an agent cannot be made.
    """
    found: dict[str, Traits] = {}
    lineup = Lineup(field, join(()), {}, [], uuid.uuid4().hex)
    outside = [n for n, player in field.items() if names_code(player) and may_start_processes()]
    try:
        for name in (name for name in field if name not in outside):
            player = field[name]
            with place_restored(), stdout_to_stderr(), Watch() as watch:
                if isinstance(player, str):
                    lineup.made[name] = make_player(player, movetime)
                found[name] = look(name, player, lineup.made.get(name, player), watch)
        registered = sendable(field) if outside else {}
        code = pickled(partial(look_in_worker, movetime, registered, lineup.id))
        while outside:
            some, outside = outside[: usable_cores()], outside[usable_cores() :]
            first = len(lineup.workers)
            for name in some:
                lineup.workers.append(Worker())
                lineup.workers[-1].give(code, [(name, field[name])])
            for at, name in enumerate(some, first):
                found[name] = _traits_from(lineup.workers, at, name, code)
            end_all(lineup.workers[jobs:])
            del lineup.workers[jobs:]
        lineup.traits = join([found[name] for name in field])
    except BaseException:
        lineup.close()
        raise
    return lineup


def _traits_from(
    workers: list[Worker], at: int, name: str, code: bytes, again: bool = True
) -> Traits:
    """Wait for the traits that a worker reads; if it dies, another worker takes its place."""
    task = workers[at].given[0]
    try:
        traits: Traits = workers[at].result()
        return traits
    except RuntimeError as error:
        said = str(error).strip().rpartition("\n")[2]
    except (EOFError, OSError):
        workers[at].join()
        said = workers[at].ending()
        if again:
            workers[at] = Worker()
            workers[at].give(code, [task])
            return _traits_from(workers, at, name, code, again=False)
    raise UnknownAgent(f"agent {name!r} cannot be made: {said}")


def look_in_worker(
    movetime: float | None, registered: Mapping[str, bytes], run: str, name: str, spec: str
) -> Traits:
    """Make an agent of third-party code in this worker, and return its traits."""
    register_all(registered)
    with place_restored(), Watch() as watch:
        agent = make_player(spec, movetime)
        traits = look(name, spec, agent, watch)
    agent_cache.adopt(run, {name: agent})
    return traits
