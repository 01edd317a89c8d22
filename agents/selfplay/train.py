"""Self-play from random weights: AlphaZero's loop with Gumbel MuZero's search.

    python -m c4env.agents.selfplay.train --out DIR [--minutes M] [--seed S]

The command plays, learns, and now and then prints a line of figures. ``selfplay:DIR`` plays the
latest network. DIR holds the whole training. The same command resumes an interrupted training, and
more minutes continue a finished one. The clock decides when the network learns, so two trainings
with the same seed differ.

No solver teaches the network. The policy target is the search's improved policy. The value target
is the mean of the search's value and the game's result, or a result that the search proves.
"""

from __future__ import annotations

import argparse
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
from c4env.agents.selfplay.agent import SelfPlay
from c4env.agents.selfplay.folder import LAST_SEED, checkpoint_read, claimed, needs, run
from c4env.agents.selfplay.games import SAMPLE, Samples, SelfPlayGames
from c4env.agents.selfplay.search import GumbelSearch, Remembered
from c4env.agents.solver.exam import in_exam
from c4env.bitboard import CELLS
from c4env.errors import InvalidOption
from c4env.files import write_whole

with needs("torch", __name__):
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    from c4env.agents.selfplay import MODEL
    from c4env.agents.selfplay.network import Evaluator, SelfPlayNetwork, tensor_of
    from c4env.agents.selfplay.optimiser import Optimiser

BOARDS: Final = 256  # games at once


class Stage(NamedTuple):
    """The settings of a training once it has played a given number of positions."""

    simulations: int  # a move
    blocks: int  # of the network


STAGES: Final = {  # by positions, not minutes: the same on quick machines and slow ones
    0: Stage(16, 4),
    500_000: Stage(32, 4),
    1_500_000: Stage(32, 6),
    5_000_000: Stage(64, 8),
}
REMEMBERED: Final = 16  # plies between two resets of the cache of the network's answers
USES: Final = 4  # times that each position is learned
BATCH: Final = 512  # positions a step of learning
WINDOW: Final = 2_000_000  # capacity of the replay buffer, of whose positions half are sampled
FEWEST: Final = 4_096  # positions before learning begins
BEHIND: Final = 4_096  # positions that learning may be behind while games continue
STEEP: Final = 150_000  # positions at which the learning rate is 1 / sqrt(2) of the first
FLAT: Final = 0.5  # share of the time after which a cosine lowers the learning rate too
LAST: Final = 0.1  # the factor at the end of the cosine
AVERAGE: Final = 0.995  # decay of the moving average of the weights, by which the network plays
SAVED: Final = 60.0  # seconds between two checkpoints
REPORTS: Final = 20  # in a training; each keeps the current network

STATE: Final = "state.pt"
PROGRESS: Final = "progress.tsv"
Look = Callable[[SelfPlay, int], Any]


class Trainer:
    """The state of a training (network, optimiser, games, replay buffer).

    A checkpoint in the folder ``out`` is resumed. ``seed`` seeds weights and games.
    """

    positions = learned = 0  # positions played and learned so far
    seconds = 0.0
    history: Sequence[dict[str, float]] = ()  # the figures of all reports

    def __init__(self, out: Path, seed: int, boards: int, shape: Sequence[int]) -> None:
        torch.manual_seed(seed)
        self.out = out
        self.generator, playing = np.random.default_rng(seed).spawn(2)
        self.network = SelfPlayNetwork(*shape)
        average = get_ema_multi_avg_fn(AVERAGE)
        self.averaged = AveragedModel(self.network, multi_avg_fn=average)
        self.optimiser = Optimiser(self.network)
        self.games = SelfPlayGames(boards, playing)
        self.samples: Samples = np.zeros(0, SAMPLE)  # the replay buffer, a ring
        self._answers = Remembered(Evaluator(self.network).evaluate)
        self._plies = 0  # plies since the cache was cleared
        if (out / STATE).exists():
            self._restore()

    def grow(self, blocks: int) -> None:
        """Add blocks to the network until it has ``blocks``."""
        if blocks > len(self.network.blocks):
            averaged = self.averaged.module.state_dict()
            self.network.grow(blocks)
            self.averaged.module.grow(blocks)
            self.averaged.module.load_state_dict(self.network.state_dict() | averaged)
            self.optimiser.refresh()

    def playing(self, stage: Stage) -> Callable[[], Samples]:
        """Return a function that plays one ply of each game with a copy of the averaged weights."""
        self.grow(stage.blocks)
        if self._plies % REMEMBERED == 0:
            self._answers.clear()
        self._plies += 1
        network = copy.deepcopy(self.averaged.module).to(torch.bfloat16)
        self._answers.evaluate = Evaluator(network, torch.bfloat16).evaluate
        return partial(self.games.play, GumbelSearch(self._answers, stage.simulations))

    def keep(self, moves: Samples) -> None:
        """Add positions to the replay buffer, except positions of the exam that tests agents."""
        moves = moves[~in_exam(*moves["board"].T)]
        while len(self.samples) < min(self.positions + len(moves), WINDOW):
            self.samples = np.resize(self.samples, min(WINDOW, 2 * len(self.samples) + (1 << 16)))
        if len(moves):
            at = np.arange(self.positions, self.positions + len(moves)) % len(self.samples)
            self.samples[at] = moves
            self.positions += len(moves)

    def learn(self, share: float) -> tuple[float, float]:
        """Take one gradient step on a batch from the newer half of the positions.

        ``share`` is the learning rate, as a fraction of the highest. Returns the losses of policy
        and value.
        """
        window = min(len(self.samples), max(FEWEST, self.positions // 2), self.positions)
        drawn = self.positions - 1 - self.generator.integers(window, size=BATCH)
        samples = self.samples[drawn % len(self.samples)]
        turned = self.generator.random(BATCH) < 0.5  # mirrored
        policy = samples["policy"].astype(np.float32)
        policy[turned] = policy[turned, ::-1]
        with torch.autocast("cpu", torch.bfloat16):
            logits, raw = self.network(tensor_of(samples["board"], turned))
        policy_loss = cross_entropy(logits.float(), torch.from_numpy(policy))
        chance = torch.from_numpy((samples["value"] + 1) / 2)
        value_loss = binary_cross_entropy_with_logits(raw.float(), chance)
        self.optimiser.step(policy_loss + value_loss, share, longest=1.0)
        self.averaged.update_parameters(self.network)
        self.learned += BATCH
        return float(policy_loss.detach()), float(value_loss.detach())

    def save(self) -> None:
        """Write a checkpoint, the averaged network, and the table of reported figures."""
        self._plies = 0  # clears the cache, since a resumed training begins without answers
        state = {
            "blocks": len(self.network.blocks),
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generators": [g.bit_generator.state for g in (self.generator, self.games.generator)],
            "samples": as_bytes(self.samples[: self.positions]),
            "boards": torch.from_numpy(self.games.boards),
            "moves": as_bytes(self.games.moves),
            **{name: getattr(self, name) for name in COUNTED},
        }
        write_whole(self.out / STATE, lambda file: torch.save(state, file))
        Evaluator(self.averaged.module).save(self.out / MODEL)
        names = list(self.history[0]) if self.history else []
        rows = [[f"{row.get(name, math.nan):.8g}" for name in names] for row in self.history]
        write_whole(self.out / PROGRESS, "".join("\t".join(row) + "\n" for row in [names, *rows]))

    def _restore(self) -> None:
        with checkpoint_read(self.out / STATE):
            state = torch.load(self.out / STATE, weights_only=True)
            self.grow(state["blocks"])
            for name in ("network", "averaged", "optimiser"):
                getattr(self, name).load_state_dict(state[name])
            for generator, its in zip(
                (self.generator, self.games.generator), state["generators"], strict=True
            ):
                generator.bit_generator.state = its
            self.samples = state["samples"].numpy().view(SAMPLE)
            self.games.moves = state["moves"].numpy().view(SAMPLE).reshape(-1, CELLS)
            self.games.boards = state["boards"].numpy()
            for name in COUNTED:
                setattr(self, name, state[name])


COUNTED: Final = ("positions", "learned", "seconds", "history")


def as_bytes(array: Samples) -> Any:
    """Return an array as a tensor of bytes, which PyTorch loads without running code."""
    return torch.from_numpy(np.ascontiguousarray(array).view(np.uint8).reshape(-1))


def rate_at(share: float, positions: int) -> float:
    """Return the learning rate, as a fraction of the highest learning rate.

    The rate falls with the inverse square root of the positions played so far, and also by a cosine
    at the end of the training, of which ``share`` has passed.
    """
    fall = min(max((share - FLAT) / (1 - FLAT), 0.0), 1.0)
    end = LAST + (1 - LAST) * 0.5 * (1 + math.cos(math.pi * fall))
    return end / math.sqrt(1 + positions / STEEP)


def train(
    out: Path,
    minutes: float = 30.0,
    seed: int = 1,
    *,
    boards: int = BOARDS,
    shape: Sequence[int] = (32, 256),
    look: Look | None = None,
) -> Trainer:
    """Train until the training has taken ``minutes`` minutes, earlier calls included.

    Args:
        out: the folder of the training.
        minutes: the wall-clock time of training, without the time between two calls.
        boards: games at once.
        shape: channels and units of :class:`~c4env.agents.selfplay.network.SelfPlayNetwork`.
        look: a function to call at each report, with the agent and the number of positions so far.

    Raises:
        InvalidOption: a number is out of range.
    """
    if not 0 < minutes < math.inf:
        raise InvalidOption(f"minutes={minutes!r}: expected a number above 0")
    require_count("seed", seed, 0, LAST_SEED)
    torch.set_num_threads(1)
    beside = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,))
    with claimed(out, f"seed {seed}\n"), beside:
        trainer = Trainer(out, seed, boards, shape)
        if (spent := trainer.seconds / 60) >= minutes:
            print(f"{out}: its {minutes:g} minutes are spent ({spent:.3g}); ask for more to go on")
            return trainer
        improve(trainer, minutes, look, beside)
    return trainer


def improve(trainer: Trainer, minutes: float, look: Look | None, beside: Executor) -> None:
    """Play in another thread, learn meanwhile, report and save now and then; see :func:`train`."""
    latest = Evaluator(trainer.averaged.module)
    saved, before = trainer.seconds, (trainer.seconds, trainer.positions)
    losses = [(math.nan, math.nan)]
    begun = time.monotonic() - trainer.seconds
    while (share := trainer.seconds / (60 * minutes)) < 1:
        stage = [stage for since, stage in STAGES.items() if trainer.positions >= since][-1]
        played = beside.submit(trainer.playing(stage))
        while (behind := USES * (trainer.positions - FEWEST) - trainer.learned) > 0:
            if played.done() and behind <= USES * BEHIND:
                break
            losses.append(trainer.learn(rate_at(share, trainer.positions)))
        trainer.keep(played.result())
        trainer.seconds = time.monotonic() - begun
        share = trainer.seconds / (60 * minutes)
        told = trainer.history[-1]["minutes"] if trainer.history else 0.0
        if share >= 1 or trainer.seconds / 60 - told >= minutes / REPORTS:
            speed = (trainer.positions - before[1]) / (trainer.seconds - before[0])
            row = {"minutes": trainer.seconds / 60, "positions": trainer.positions, "speed": speed}
            row["policy loss"], row["value loss"] = np.mean(losses[1:] or losses, axis=0).tolist()
            trainer.history = [*trainer.history, row]
            print(
                f"{row['minutes']:6.1f} min  {row['positions']:>9,.0f} positions ({speed:,.0f}/s)"
                f"  loss {row['policy loss']:.3f} + {row['value loss']:.3f}",
                flush=True,
            )
            latest.save(trainer.out / f"model-{row['minutes']:06.1f}.pt")
            if look is not None:
                look(SelfPlay(latest), trainer.positions)
            losses = losses[-1:]
            trainer.seconds = time.monotonic() - begun
            before, saved = (trainer.seconds, trainer.positions), -math.inf
        if trainer.seconds - saved > SAVED:
            trainer.save()
            saved = trainer.seconds


def main(*argv: str) -> int:
    """Run the command ``python -m c4env.agents.selfplay.train``; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the training")
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="earlier calls included (default 30)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of weights and games (default 1)")
    return run(train, parser, *argv)


if __name__ == "__main__":
    sys.exit(main())
