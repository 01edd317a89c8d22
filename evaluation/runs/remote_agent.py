"""Agents in other processes: a :class:`RemoteAgent` here stands for an agent there."""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from c4env.agents.base import Agent
from c4env.agents.heuristics import QUIET
from c4env.agents.making.options import DAY
from c4env.agents.making.spec import Spec
from c4env.agents.programs.exec import Engine
from c4env.agents.programs.kaggle import late_words
from c4env.agents.programs.process import LineProcess
from c4env.boards import VARIABLE
from c4env.errors import AgentChanged, EngineFault, LateAnswer, Unavailable, UnknownAgent
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Contents
from c4env.evaluation.runs.players import Traits
from c4env.evaluation.runs.turn import Forfeit
from c4env.geometry import BOARD_SIZE
from c4env.position import Position
from c4env.system import FOLDER, KERNELS, NUMBA, SILENT

CLOSING: Final = 2.0  # seconds for agents to close, before their process is killed
ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
"""An agent process computes in one thread, so that its sums do not depend on the machine. More
threads than cores would slow down a small network a hundred times. The user's own variables come
first."""
_START: Final = """
import importlib.machinery, importlib.util, runpy, sys
folder, module = sys.argv.pop(1), sys.argv.pop(1)
spec = importlib.machinery.PathFinder.find_spec("c4env", [folder])
sys.modules["c4env"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["c4env"])
sys.path.append(folder)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""The start of an agent process: like ``python -m``, but without the current folder (``-P``), and
with the c4env of this process, even if another c4env is installed."""


class AgentProcess:
    """A process that plays agents; it starts at the first question, and again after its death.

    Args:
        module: the module that the process runs, and its arguments.
        notices: whether the agents may print notices on standard error.
        making: seconds to make an agent.
    """

    def __init__(
        self,
        module: str = f"{__package__}.agent_process",
        *arguments: str,
        notices: bool = True,
        making: float = DAY,
    ) -> None:
        self.making = making
        self._command = (sys.executable, "-P", "-c", _START, str(FOLDER), module, *arguments)
        quiet = {SILENT: "1"} if notices else {SILENT: "1", QUIET: "1"}
        self._variables = ONE_THREAD | quiet | os.environ | {VARIABLE: str(BOARD_SIZE)}
        self._process: LineProcess | None = None
        self._remove_code: Callable[[], object] = lambda: None  # the folder of users' machine code
        self._idle = True
        self._closed = False
        self.agents: set[str] = set()
        """The names of the agents that the process has made."""

    def start(self) -> LineProcess:
        """Start the process if it does not run, and return it.

        Raises:
            EngineFault: the process cannot be started, or was closed.
        """
        if self._closed:
            raise EngineFault("its process was closed")
        if self._process is None:
            # Compile users' functions again, because old machine code may be from old files.
            code = tempfile.mkdtemp(prefix="c4env-")
            self._remove_code = weakref.finalize(self, shutil.rmtree, code, ignore_errors=True)
            kernels = self._variables.get(KERNELS, self._variables.get(NUMBA, ""))
            variables = self._variables | {KERNELS: kernels, NUMBA: code}
            self._process = LineProcess(
                self._command, "its process", stderr=None, variables=variables
            )
        return self._process

    def call(self, *request: Any, seconds: float = DAY) -> Any:
        """Return the answer to a request.

        Raises:
            LateAnswer: no answer within ``seconds``; the process is killed.
            EngineFault: the process died.
            Unavailable: a service that the agent needs does not answer.
            AgentChanged: the agent's code has changed since the run began.
        """
        process, self._idle = self.start(), False
        try:
            answer = json.loads(process.ask(json.dumps(request), seconds))
        except BaseException:
            self.stop()
            raise
        self._idle = True
        if "changed" in answer:
            raise AgentChanged(answer["changed"])
        if "unavailable" in answer:
            raise Unavailable(answer["unavailable"])
        return answer

    def close(self) -> None:
        """End the process, and close its agents if no agent is thinking."""
        if self._process is not None and self._idle and self.agents:
            with suppress(EngineFault, LateAnswer):
                self.call("end", *self.agents, seconds=CLOSING)
        self._closed = True
        self.stop()

    def stop(self) -> None:
        """Kill the process, even during an answer; the next question starts another process."""
        process, self._process, self._idle, self.agents = self._process, None, True, set()
        if process is not None:
            process.close()
        self._remove_code()


class RemoteAgent(Agent):
    """An agent in an :class:`AgentProcess`. If the process dies or is late, the agent forfeits."""

    limit = math.inf  # seconds that a run allows per move

    def __init__(
        self,
        process: AgentProcess,
        name: str,
        spec: Spec,
        movetime: float | None,
        begun: dict[str, Contents],
    ) -> None:
        self.process, self.name = process, name
        self._request = ("make", name, spec.text, movetime)
        self._begun = begun  # by agent, the hashes of its files when the run began
        self._traits = Traits(deterministic=False, timed=False)
        self._left = 0.0  # seconds left of the overage in this game

    def make(self) -> Traits:
        """Make the agent in its process, and return its traits.

        Raises:
            UnknownAgent: the agent cannot be made.
            AgentChanged: the agent's files have changed since the run began.
        """
        try:
            begun = self._begun.get(self.name, {})
            answer = self.process.call(*self._request, begun, seconds=self.process.making)
        except EngineFault as error:
            answer = {"fault": ("crash", str(error))}
        if "error" in answer:
            raise UnknownAgent(answer["error"])
        if "fault" in answer:
            raise UnknownAgent(f"agent {self._request[2]!r} cannot be made: {answer['fault'][1]}")
        self.process.agents.add(self.name)
        self._traits = Traits(*answer["answer"])
        self._begun[self.name] = self._traits.files
        self._left = self._traits.overage
        return self._traits

    def ready(self) -> None:
        """Make the agent, unless its process has made it.

        Raises:
            Unavailable: the agent was made before in this run and cannot be made now, so something
                is wrong with the machine.
        """
        if self.name not in self.process.agents:
            try:
                self.make()
            except UnknownAgent as error:
                if self.name not in self._begun:
                    raise
                raise Unavailable(
                    f"agent {self.name!r} on {platform.node()} could be made when the run began, "
                    f"and now cannot: {error}"
                ) from None

    def reset(self, seed: Any = None) -> None:
        """Begin a game."""
        self._call("reset", seed, seconds=DAY)
        self._left = self._traits.overage

    def choose(self, position: Position) -> int:
        """Return the agent's column; set ``nodes``."""
        timeout, overage = self._traits.timeout or DAY, self._traits.overage
        seconds = min(self.limit, timeout + self._left)
        try:
            column, self.nodes, self._left = self._call(
                "ask", position.mine, position.theirs, seconds=seconds
            )
        except Forfeit as fault:
            if overage and fault.ending == "time" and seconds < self.limit:
                words = f"it took longer than {late_words(timeout, overage)}"
                raise Forfeit("time", words) from None
            raise
        return int(column)

    def _call(self, action: str, *arguments: Any, seconds: float) -> Any:
        try:
            self.ready()
            answer = self.process.call(action, self.name, *arguments, seconds=seconds)
        except LateAnswer as error:
            raise Forfeit("time", str(error)) from None
        except (EngineFault, UnknownAgent) as error:
            raise Forfeit("crash", str(error)) from None
        if "fault" in answer:
            raise Forfeit(*answer["fault"])
        return answer["answer"]

    def play(self, other: RemoteAgent, opening: str, seed: int) -> GameRecord:
        """Play a whole game in the process that both agents share."""
        self.ready()
        other.ready()
        names = self.name, other.name
        answer = self.process.call("play", names, opening, seed)
        if "fault" in answer:
            raise Unavailable(f"a game of {' and '.join(names)} failed: {answer['fault'][1]}")
        return GameRecord.parse(answer["answer"])

    def close(self) -> None:
        """Free the agent's memory until it plays again."""
        if self.name in self.process.agents:
            self.process.call("free", self.name)


def allow(agent: Agent, seconds: float) -> None:
    """Tell an agent in another process or program how long a move may take."""
    if isinstance(agent, Engine | RemoteAgent):
        agent.limit = seconds
