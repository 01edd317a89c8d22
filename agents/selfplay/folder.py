"""The folder of a training, and the agent ``selfplay:DIR`` that plays by its network.

The module also has the lock of the folder, the errors of its checkpoints, and the command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import numpy as np

from c4env.agents.base import Agent
from c4env.agents.making.as_agent import NetworkAgent
from c4env.agents.making.networks.network import Network
from c4env.agents.making.options import Folder, Range, Temperature, validate_args
from c4env.arguments import OnceParser
from c4env.arrays import Int8s
from c4env.errors import C4Error, InvalidOption, MissingExtra, Unwritable
from c4env.files import lock_file
from c4env.lazy import from_extra

LAST_SEED: Final = 2**32 - 1  # the greatest seed that all libraries take


@contextmanager
def needs(extra: str, module: str = "") -> Iterator[None]:
    """A context for optional imports; if one fails, the error says what to install.

    In the module ``"__main__"`` the error is printed, and the process exits with code 2.
    """
    try:
        with from_extra(extra, "this needs another package"):
            yield
    except MissingExtra as error:
        if module != "__main__":
            raise
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


@contextmanager
def claim_folder(folder: Path, settings: str) -> Iterator[None]:
    """A context that makes and locks a training's folder, which keeps its ``settings``.

    Raises:
        InvalidOption: the folder has a training with other settings.
        Unwritable: another process trains in the folder, or the settings cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "settings.txt"
    with path.open("a+b", buffering=0) as file:
        lock_file(file, folder)
        file.seek(0)
        earlier = file.read().decode(errors="replace")
        if not settings.startswith(earlier):  # a new file is empty; a kill leaves part of the line
            raise InvalidOption(
                f"{folder} holds a training with {' '.join(earlier.split())}: "
                f"expected {' '.join(settings.split())}"
            )
        try:
            file.write(settings[len(earlier) :].encode())
        except OSError as error:
            raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from None
        yield


@contextmanager
def reading_checkpoint(path: Path) -> Iterator[None]:
    """A context for reading a checkpoint; every error becomes a short InvalidOption."""
    try:
        yield
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InvalidOption(f"{path}: {reason}: expected a checkpoint, or no file") from None


class TrainingParser(OnceParser):
    """A parser that reports bad usage in one line, with exit code 2."""

    def __init__(self, prog: str, description: str = "") -> None:
        keeps_lines = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, formatter_class=keeps_lines)

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with code 2."""
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def run(function: Callable[..., Any], parser: TrainingParser, *argv: str) -> int:
    """Call a function with the arguments of the command line; report bad input in one line.

    Returns the exit code: 0 for success, 2 for bad input, 130 for an interrupt.
    """
    arguments = vars(parser.parse_args(argv or None))
    try:
        function(**arguments)
    except (C4Error, OSError) as error:
        print(f"{parser.prog}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0


class SelfPlay(NetworkAgent):
    """Plays by a network's mean policy for the board and its mirror image, without a search.

    ``network`` is a training folder, whose latest network plays, a network file, or a
    :class:`c4env.agents.selfplay.convnet.Evaluator`.
    """

    def __init__(self, network: Any, temperature: float = 0.0) -> None:
        from c4env.agents.selfplay.convnet import Evaluator

        evaluator = network if callable(network) else Evaluator.load(network)
        super().__init__(Network(MeanOfImages(evaluator), "logits"), temperature)
        self.name = ""


class MeanOfImages:
    """The mean logits of an evaluator for boards and their mirror images."""

    deterministic = True

    def __init__(self, evaluator: Any) -> None:
        self.evaluator = evaluator

    def __call__(self, planes: Int8s) -> Any:
        """Return logits ``[M, 7]`` of observations ``[M, 6, 7, 2]``."""
        logits, _ = self.evaluator(np.concatenate([planes, planes[:, :, ::-1]]))
        return (logits[: len(planes)] + logits[len(planes) :, ::-1]) / 2


@validate_args
def selfplay(
    path: Folder,
    simulations: Annotated[int, Range(0, 10**9)] = 0,
    temperature: Temperature = 0.0,
) -> Agent:
    """Play by a self-play network, with or without ``puct`` (needs the package torch).

    With simulations, ``puct`` evaluates two leaves at a time, follows forced moves, flattens the
    policy at the root, and plays the best column of the improved policy. With these settings puct
    errs less than with its defaults.

    Args:
        path: the training folder, or a network file.
        simulations: simulations of puct per move; 0 plays only by the policy.

    Raises:
        InvalidOption: both simulations and a temperature are given.
    """
    if not simulations:
        return SelfPlay(path, temperature)
    if temperature:
        raise InvalidOption(
            f"selfplay:{path}: simulations={simulations}, temperature={temperature}: expected "
            "only one of them"
        )
    from c4env.agents.sampling.puct import PUCT

    return PUCT(
        f"selfplay:{path}",
        simulations,
        batch=2,
        choice="improved",
        follow=True,
        root_temperature=2.0,
    )
