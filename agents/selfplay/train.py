"""Self-play from random weights: AlphaZero's loop with Gumbel MuZero's search.

    python -m c4env.agents.selfplay.train --out DIR [--minutes M] [--seed S] [--checkpoints N]

The command plays, learns, and now and then prints a line of figures. ``selfplay:DIR`` plays the
latest network. DIR holds the whole training. The same command resumes an interrupted training, and
more minutes continue a finished one. The clock decides when the network learns, so two trainings
with the same seed differ.

Every group of games plays in its own thread while the network learns in the main thread.

No solver teaches the network. The policy target is the search's improved policy. The value target
is the mean of the search's value and the game's result, or a result that the search proves.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.base import require_count
from c4env.agents.selfplay.folder import (
    LAST_SEED,
    SelfPlay,
    TrainingParser,
    claim_folder,
    needs,
    reading_checkpoint,
    run,
)
from c4env.agents.selfplay.gumbel import EvaluationCache, GumbelSearch
from c4env.agents.selfplay.plays import SAMPLE, Samples, SelfPlayGames
from c4env.agents.selfplay.replay import ReplayBuffer
from c4env.errors import InvalidOption
from c4env.files import write_whole
from c4env.rules import CELLS

with needs("torch", __name__):
    import torch
    from torch import Tensor
    from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    from c4env.agents.selfplay import MODEL
    from c4env.agents.selfplay.convnet import (
        Evaluator,
        Optimiser,
        SelfPlayNetwork,
        tensor_of,
    )


class Stage(NamedTuple):
    """The settings of a training once it has played a given number of positions."""

    simulations: int  # per move
    blocks: int  # of the network


# Stages begin by positions, not minutes: the same on quick machines and slow ones.
STAGES: Final = "0:16:4,250000:32:4,800000:32:6,2500000:64:8"
SIZES: Final[dict[str, tuple[Any, str]]] = {  # of a training: the default and the help of each
    "groups": (1, "groups of games, each played in a thread"),
    "boards": (256, "games at once in a group"),
    "channels": (32, "channels of the network"),
    "units": (256, "units of the network's dense layers"),
    "window": (2_000_000, "positions of the replay buffer, of which half are sampled"),
    "uses": (8, "times that each position is learned"),
    "batch": (512, "positions per step of learning"),
    "steep": (150_000, "positions at which the learning rate is 1 / sqrt(2)"),
    "stages": (STAGES, "POSITIONS:SIMULATIONS:BLOCKS,... from how many positions on"),
}
FIXED: Final = 6  # so many of the sizes cannot change when a training is resumed
GREATEST_SIZES: Final = {"groups": 32, "boards": 1 << 16, "channels": 1 << 10, "units": 1 << 13}
CACHE_PLIES: Final = 16  # plies between two resets of the cache of the network's answers
FEWEST: Final = 8  # batches of positions before learning begins
BEHIND: Final = 16  # plies of all games that learning may be behind while games continue
FLAT: Final = 0.5  # share of the time after which a cosine lowers the learning rate too
LAST_FACTOR: Final = 0.1  # the factor at the end of the cosine
AVERAGE: Final = 0.995  # decay of the moving average of the weights, by which the network plays
SAVE_EVERY: Final = 60.0  # seconds between two checkpoints
REPORTS: Final = 20  # in a training; each keeps the current network
SPAN: Final = 1000  # a series of checkpoints begins after about this part of the time

STATE: Final = "state.pt"
PROGRESS: Final = "progress.tsv"
COUNTERS: Final = ("learned", "seconds", "history")  # that a checkpoint has

OnReport = Callable[[SelfPlay, int], Any]


def train(
    out: Path,
    minutes: float = 30.0,
    seed: int = 1,
    *,
    checkpoints: int = 0,
    on_report: OnReport | None = None,
    **sizes: Any,
) -> Trainer:
    """Train until the training has taken ``minutes`` minutes, earlier calls included.

    Args:
        out: the folder of the training.
        minutes: the wall-clock time of training, without the time between two calls.
        checkpoints: how many networks to save besides, evenly spaced by the logarithm of the time,
            as ``out/checkpoint-POSITIONS.pt``. Networks due in the same ply are one file.
        on_report: a function to call at each report, with the agent and the number of positions.
        **sizes: any of :data:`SIZES`.

    Raises:
        InvalidOption: a size is unknown, or a number is out of range.
    """
    if not 0 < minutes < math.inf:
        raise InvalidOption(f"minutes={minutes!r}: expected a number above 0")
    require_count("seed", seed, 0, LAST_SEED)
    require_count("checkpoints", checkpoints, 0, 1000)
    sizes = sizes_of(sizes)
    fixed = ", ".join([f"{name} {size}" for name, size in sizes.items()][:FIXED])
    torch.set_num_threads(1)
    threads = ThreadPoolExecutor(sizes["groups"], initializer=torch.set_num_threads, initargs=(1,))
    with claim_folder(out, f"seed {seed}\n{fixed}\n"), threads:
        trainer = Trainer(out, seed, sizes)
        if (spent := trainer.seconds / 60) >= minutes:
            print(f"{out}: its {minutes:g} minutes are spent ({spent:.3g}); ask for more to go on")
        else:
            improve(trainer, minutes, on_report, threads, checkpoints)
    return trainer


def improve(
    trainer: Trainer,
    minutes: float,
    on_report: OnReport | None,
    threads: Executor,
    checkpoints: int,
) -> None:
    """Play in other threads, learn meanwhile, report and save now and then; see :func:`train`."""
    sizes = trainer.sizes
    uses = sizes["uses"]
    most = uses * BEHIND * sizes["groups"] * sizes["boards"]
    losses: list[tuple[Any, Any]] = [(math.nan, math.nan)]
    saved, before = trainer.seconds, (trainer.seconds, trainer.positions)
    begun = time.monotonic() - trainer.seconds
    due = [moment for moment in moments_of(checkpoints, 60 * minutes) if moment > trainer.seconds]
    while (share := trainer.seconds / (60 * minutes)) < 1:
        stage = [stage for since, stage in trainer.stages.items() if trainer.positions >= since][-1]
        played = [threads.submit(play) for play in trainer.playing(stage)]
        while (behind := uses * (trainer.positions - trainer.fewest) - trainer.learned) > 0:
            if behind <= most and all(play.done() for play in played):
                break
            losses.append(trainer.learn(rate_at(share, trainer.positions, sizes["steep"])))
        for play in played:
            trainer.replay.add(play.result())
        trainer.seconds = time.monotonic() - begun
        reported = trainer.history[-1]["minutes"] if trainer.history else 0.0
        is_over = trainer.seconds / (60 * minutes) >= 1
        if is_over or trainer.seconds / 60 - reported >= minutes / REPORTS:
            speed = (trainer.positions - before[1]) / (trainer.seconds - before[0])
            trainer.report(losses[1:] or losses, speed)
            if on_report is not None:
                on_report(SelfPlay(Evaluator(trainer.averaged.module)), trainer.positions)
            losses = losses[-1:]
            trainer.seconds = time.monotonic() - begun
            before, saved = (trainer.seconds, trainer.positions), -math.inf
        if due and trainer.seconds >= due[0]:
            due = [moment for moment in due if moment > trainer.seconds]
            trainer.keep_network(f"checkpoint-{trainer.positions:09}")
            saved = -math.inf
        if trainer.seconds - saved > SAVE_EVERY:
            trainer.save()
            saved = trainer.seconds


class Trainer:
    """The state of a training (network, optimiser, games, replay buffer).

    A checkpoint in the folder ``out`` is resumed. ``seed`` seeds weights and games.
    """

    learned = 0  # positions learned so far
    seconds = 0.0
    history: Sequence[dict[str, float]] = ()  # the figures of all reports

    def __init__(self, out: Path, seed: int, sizes: dict[str, Any]) -> None:
        torch.manual_seed(seed)
        self.out, self.sizes = out, sizes
        self.stages = stages_of(sizes["stages"])
        self.fewest = FEWEST * sizes["batch"]  # positions before learning begins
        self.generator, *playing = np.random.default_rng(seed).spawn(1 + sizes["groups"])
        self.network = SelfPlayNetwork(sizes["channels"], sizes["units"])
        average = get_ema_multi_avg_fn(AVERAGE)
        self.averaged = AveragedModel(self.network, multi_avg_fn=average)
        self.optimiser = Optimiser(self.network)
        self._generators = [self.generator, *playing]
        self.groups = [SelfPlayGames(sizes["boards"], generator) for generator in playing]
        self.replay = ReplayBuffer(sizes["window"], self.fewest)
        self._played = self.network  # the first ply replaces it by a copy of the average
        self._caches: list[EvaluationCache] = []  # of each group
        self._plies = 0  # plies since the caches were cleared
        if (out / STATE).exists():
            self._restore()

    @property
    def positions(self) -> int:
        """How many positions were added to the replay buffer so far."""
        return self.replay.positions

    def grow(self, blocks: int) -> None:
        """Add blocks to the network until it has ``blocks``."""
        if blocks > len(self.network.blocks):
            averaged = self.averaged.module.state_dict()
            self.network.grow(blocks)
            self.averaged.module.grow(blocks)
            self.averaged.module.load_state_dict(self.network.state_dict() | averaged)
            self.optimiser.refresh()

    def playing(self, stage: Stage) -> list[Callable[[], Samples]]:
        """Return a function for each group, to call once before the next call of this method.

        The function plays one ply of each game of the group with the averaged weights as of now.
        """
        self.grow(stage.blocks)
        for cache in self._caches if self._plies % CACHE_PLIES == 0 else ():
            cache.clear()
        self._plies += 1
        averaged = self.averaged.module
        if not self._caches or self._played.shape != averaged.shape:
            self._played = copy.deepcopy(averaged).to(torch.bfloat16)
            evaluate = Evaluator(self._played).evaluate
            self._caches = [EvaluationCache(evaluate) for _ in self.groups]
        self._played.load_state_dict(averaged.state_dict())
        return [
            partial(games.play, GumbelSearch(cache, stage.simulations))
            for games, cache in zip(self.groups, self._caches, strict=True)
        ]

    def learn(self, share: float) -> tuple[Tensor, Tensor]:
        """Take one gradient step on a batch of positions.

        ``share`` is the learning rate, as a fraction of the highest. Returns the losses of policy
        and value.
        """
        batch = self.sizes["batch"]
        samples = self.replay.draw(self.generator, batch)
        turned = self.generator.random(batch) < 0.5  # mirrored
        policy = samples["policy"].astype(np.float32)
        policy[turned] = policy[turned, ::-1]
        with torch.autocast("cpu", torch.bfloat16):
            logits, raw = self.network(tensor_of(samples["board"], turned))
        policy_loss = cross_entropy(logits.float(), torch.from_numpy(policy))
        chance = torch.from_numpy((samples["value"] + 1) / 2)
        value_loss = binary_cross_entropy_with_logits(raw.float(), chance)
        self.optimiser.step(policy_loss + value_loss, share, longest=1.0)
        self.averaged.update_parameters(self.network)
        self.learned += batch
        return policy_loss.detach(), value_loss.detach()

    def report(self, losses: list[tuple[Any, Any]], speed: float) -> None:
        """Print a line of figures, add it to the history, and keep the averaged network."""
        figures = [[float(loss) for loss in pair] for pair in losses]
        policy_loss, value_loss = np.mean(figures, axis=0).tolist()
        minutes = self.seconds / 60
        row = {"minutes": minutes, "positions": self.positions, "speed": speed}
        row |= {"policy loss": policy_loss, "value loss": value_loss}
        self.history = [*self.history, row]
        print(
            f"{minutes:6.1f} min  {self.positions:>9,.0f} positions ({speed:,.0f}/s)"
            f"  loss {policy_loss:.3f} + {value_loss:.3f}",
            flush=True,
        )
        self.keep_network(f"model-{self.positions:09}")

    def keep_network(self, name: str) -> None:
        """Write the averaged network to a new file, which later networks do not replace."""
        Evaluator(self.averaged.module).save(self.out / f"{name}.pt")

    def save(self) -> None:
        """Write a checkpoint, the averaged network, and the table of reported figures."""
        self._plies = 0  # clears the cache, since a resumed training begins without answers
        state = {
            "blocks": len(self.network.blocks),
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generators": [generator.bit_generator.state for generator in self._generators],
            "positions": self.positions,
            "samples": as_bytes(self.replay.samples[: self.positions]),
            "boards": torch.from_numpy(np.concatenate([games.boards for games in self.groups])),
            "moves": as_bytes(np.concatenate([games.moves for games in self.groups])),
            **{name: getattr(self, name) for name in COUNTERS},
        }
        write_whole(self.out / STATE, lambda file: torch.save(state, file))
        Evaluator(self.averaged.module).save(self.out / MODEL)
        names = list(self.history[0]) if self.history else []
        rows = [[f"{row.get(name, math.nan):.8g}" for name in names] for row in self.history]
        write_whole(self.out / PROGRESS, "".join("\t".join(row) + "\n" for row in [names, *rows]))

    def _restore(self) -> None:
        with reading_checkpoint(self.out / STATE):
            state = torch.load(self.out / STATE, "cpu", weights_only=True)
            self.grow(state["blocks"])
            for name in ("network", "averaged", "optimiser"):
                getattr(self, name).load_state_dict(state[name])
            for generator, saved in zip(self._generators, state["generators"], strict=True):
                generator.bit_generator.state = saved
            self.replay.restore(state["samples"].numpy().view(SAMPLE), state["positions"])
            moves = state["moves"].numpy().view(SAMPLE).reshape(-1, CELLS)
            for i, games in enumerate(self.groups):
                games.boards = np.split(state["boards"].numpy(), len(self.groups))[i]
                games.moves = np.split(moves, len(self.groups))[i]
            for name in COUNTERS:
                setattr(self, name, state[name])


def stages_of(text: str) -> dict[int, Stage]:
    """Return the stages of ``POSITIONS:SIMULATIONS:BLOCKS,...``, by positions.

    Raises:
        InvalidOption: the text is something else, or positions or blocks fall.
    """
    try:
        rows = [[int(number) for number in row.split(":")] for row in text.split(",")]
        stages = {since: Stage(simulations, blocks) for since, simulations, blocks in rows}
    except ValueError:
        stages = {}
    blocks = [stage.blocks for stage in stages.values()]
    rising = [*stages] == sorted(stages) and blocks == sorted(blocks)
    counts = {stage.simulations for stage in stages.values()} - {*range(1, 4097)}
    if [*stages][:1] != [0] or not rising or blocks[0] < 0 or counts:
        raise InvalidOption(
            f"stages={text!r}: expected POSITIONS:SIMULATIONS:BLOCKS,... from 0 positions on, "
            f"such as {STAGES}"
        )
    return stages


def moments_of(count: int, end: float) -> list[float]:
    """Return ``count`` times up to ``end``, evenly spaced by their logarithms."""
    return [end * SPAN ** (-i / count) for i in reversed(range(count))]


def rate_at(share: float, positions: int, steep: int) -> float:
    """Return the learning rate, as a fraction of the highest learning rate.

    The rate falls with the inverse square root of the positions played so far, and also by a cosine
    at the end of the training, of which ``share`` has passed.
    """
    fall = min(max((share - FLAT) / (1 - FLAT), 0.0), 1.0)
    end = LAST_FACTOR + (1 - LAST_FACTOR) * 0.5 * (1 + math.cos(math.pi * fall))
    return end / math.sqrt(1 + positions / steep)


def sizes_of(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return a value for each of :data:`SIZES`: as chosen, or the default.

    Raises:
        InvalidOption: a size is out of range or unknown.
    """
    if unknown := [*chosen.keys() - SIZES.keys()]:
        raise InvalidOption(f"{unknown[0]}: expected one of {', '.join(SIZES)}")
    sizes = {name: default for name, (default, _) in SIZES.items()} | chosen
    for name, size in sizes.items():
        if name != "stages":
            require_count(name, size, 1, GREATEST_SIZES.get(name, 1 << 30))
    stages_of(sizes["stages"])
    return sizes


def as_bytes(array: Samples) -> Any:
    """Return an array as a tensor of bytes, which PyTorch loads without running code."""
    return torch.from_numpy(np.ascontiguousarray(array).view(np.uint8).reshape(-1))


def main(*argv: str) -> int:
    """Run the command ``python -m c4env.agents.selfplay.train``; return its exit code."""
    parser = TrainingParser(
        "python -m c4env.agents.selfplay.train", (__doc__ or "").replace("``", "")
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the training")
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="earlier calls included (default 30)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of weights and games (default 1)")
    parser.add_argument(
        "--checkpoints", type=int, default=0, help="networks to save, log-spaced (default 0)"
    )
    for name, (default, help) in SIZES.items():
        text = f"{help} (default {default})"
        parser.add_argument(f"--{name}", type=type(default), default=default, help=text)
    return run(train, parser, *argv)


if __name__ == "__main__":
    sys.exit(main())
