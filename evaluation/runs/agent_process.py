"""The process in which agents play: ``python -m c4env.evaluation.runs.agent_process``.

A request is a line with a JSON list, and its answer is a line with a JSON object:

    ["make", "mine", "mine.py:agent", null, {}]  {"answer": [false, false, {"mine.py": ...}, ...]}
    ["reset", "mine", 5]                         {"answer": null}
    ["ask", "mine", 2097152, 4194304]            {"answer": [3, 0, 0.0]}    column, nodes, overage
    ["ask", "mine", 0, 0]                        {"fault": ["exception", "KeyError: ..."]}
    ["play", ["a", "b"], "44", 1]                {"answer": {...}}     a whole game

What agents print goes to standard error. A process that plays a plain function of an observation
loads no compiled code.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import chdir, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, Final

import numpy as np

from c4env.agents.heuristics import QUIET
from c4env.agents.making.as_agent import FunctionAgent
from c4env.agents.making.spec import Spec
from c4env.agents.programs.kaggle import Submission
from c4env.errors import AgentChanged, C4Error, Unavailable, describe_error
from c4env.evaluation.records.header import Contents
from c4env.evaluation.runs.code_hashes import contents_of, files_of, require_same, users_files
from c4env.evaluation.runs.turn import Forfeit, ask, begin
from c4env.position import Position

ENDING: Final = 1.0  # seconds from the last request to the end of the process
agents: Final[dict[str, Any]] = {}
"""The agents of this process, by name."""
_own: Final[dict[str, set[Path]]] = {}
"""The files in the hash of an agent that has this process for itself, by the agent's name."""


def make(name: str, text: str, movetime: float | None, begun: Contents) -> Any:
    """Make an agent; return its traits, with the hashes of its files.

    Args:
        name: the agent's name in the run.
        text: the agent's spec.
        movetime: seconds per move, or None.
        begun: the hashes of the agent's files when the run began, or nothing.

    Raises:
        AgentChanged: the files have changed since the run began.
    """
    from c4env.evaluation.runs.players import make_player, traits_of

    start, spec = os.getcwd(), Spec.parse(text)  # an agent may change the folder
    is_alone = spec.runs == "own"
    require_same(name, contents_of(map(Path, begun), start), begun)
    if is_alone:
        take_path(spec)
    agents[name] = agent = make_player(spec, movetime)
    traits = traits_of(agent)
    with chdir(start):
        files = {*files_of(spec), *(users_files() if is_alone else ())}
    # Load now what a move may load: no clock counts it, and its generator is seeded in time.
    texts = [file.read_bytes() for file in files if file.suffix == ".py"]
    for library in ("numba", "torch"):
        if any(re.search(rb"(import|from)[^\n]*\b%s\b" % library.encode(), text) for text in texts):
            with suppress(ImportError):
                importlib.import_module(library)
    if not isinstance(agent, FunctionAgent):
        importlib.import_module("c4env.bitboard")
    contents = contents_of(files, start)
    require_same(name, contents, begun)
    if is_alone:
        _own[name] = files
    if isinstance(agent, Submission):  # each game loads it again
        own = {file: contents[file] for file in contents if Path(start, file) == Path(agent.file)}
        agent.on_load = lambda: require_same(name, contents_of(map(Path, own), start), own)
    return traits._replace(files=contents)


def take_path(spec: Spec) -> None:
    """Look for modules first beside the files that a spec names, as ``python FILE.py`` does.

    For ``package.module:NAME`` the current folder comes first, as with ``python -m``.
    """
    for text in reversed((spec.name, *spec.options.values())):
        if found := re.match(r"(.+\.py)(:|$)", text):
            sys.path.insert(0, os.path.dirname(os.path.realpath(found[1])))
        elif re.fullmatch(r"[\w.]+:[A-Za-z_]\w*", text):
            sys.path.insert(0, os.getcwd())


def reset(name: str, seed: int) -> None:
    """Begin a game, and seed the generators that many programs draw from."""
    seed_generators(seed)
    begin(agents[name], seed)


def seed_generators(seed: int) -> None:
    """Seed the global generators of Python and NumPy, and of Numba and PyTorch if loaded."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # the generator that agents use
    if "numba" in sys.modules:
        from c4env.envs.drand48 import seed_numba

        seed_numba(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def move(name: str, mine: int, theirs: int) -> tuple[int, int, float]:
    """Return the agent's column, its nodes, and the remaining seconds of its overage."""
    agent = agents[name]
    column, nodes = ask(agent, Position.from_bitboards(mine, theirs))
    return column, nodes, agent.left if isinstance(agent, Submission) else 0.0


def play(names: list[str], opening: str, seed: int) -> dict[str, Any]:
    """Play a game between two agents of this process."""
    from c4env.evaluation.runs.play_game import play_game

    first, second = names
    return play_game((agents[first], agents[second]), (first, second), opening, seed).values()


def free(*names: str) -> None:
    """Free the memory of agents until they play again."""
    for name in names:
        agents[name].close()


def end(*names: str) -> None:
    """Close agents, and print which files their moves imported, since no hash has these files."""
    free(*names)
    for name in _own if QUIET not in os.environ else ():
        if late := sorted({file.name for file in {*users_files()} - _own[name]}):
            print(
                f"agent {name!r}: its moves imported {', '.join(late)}, which its identity in a "
                "kept run lacks: with an import at the top of its file, an edit is noticed",
                file=sys.stderr,
            )


_ACTIONS: Final[dict[str, Callable[..., Any]]] = {
    "make": make, "reset": reset, "ask": move, "play": play, "free": free, "end": end,
}  # fmt: skip


def reply(action: str, *arguments: Any) -> dict[str, Any]:
    """Answer a request about an agent."""
    try:
        return {"answer": _ACTIONS[action](*arguments)}
    except Forfeit as fault:
        return {"fault": (fault.ending, fault.reason)}
    except AgentChanged as error:
        return {"changed": str(error)}
    except Unavailable as error:  # not the agent's fault: the run ends, and can be resumed
        return {"unavailable": str(error)}
    except C4Error as error:  # its message needs no type
        return {"fault": ("exception", text := describe_error(error, False)), "error": text}
    except BaseException as error:  # also a KeyboardInterrupt, which the agent raised itself
        return {"fault": ("exception", describe_error(error))}


def serve(reply: Callable[..., Any]) -> None:
    """Answer the lines of standard input until the end, as when the referee is killed.

    What agents print goes to standard error. Agents read an empty standard input.
    """
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(requests, lines), daemon=True).start()
    while line := lines.get():
        print(json.dumps(reply(*json.loads(line))), file=answers, flush=True)


def _read(requests: IO[str], lines: SimpleQueue[str]) -> None:
    """Pass on each line. After the last line, end this process, even during an endless move."""
    for line in requests:
        lines.put(line)
    lines.put("")
    time.sleep(ENDING)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # with the agent's own processes
    os._exit(1)


if __name__ == "__main__":
    if "games" in sys.argv:  # of this project's agents: load what they need before the first one
        from c4env.evaluation.runs import referee as referee
    serve(reply)
    free(*agents)
