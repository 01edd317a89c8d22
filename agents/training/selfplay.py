"""From random weights to a strong network by self-play alone: AlphaZero's loop, Gumbel searches.

    python -m agents.training.selfplay --out DIR [--minutes M] [--seed S]

plays, learns and prints a line of figures now and then. ``selfplay:DIR`` plays the latest
network. Everything is kept in DIR: the same command goes on where it was, whatever ended it, and
more minutes train on. Processor time decides what is done when, so two trainings with the same
seed are not alike.

Nothing is learned from exact play: targets are the results of games, the searches' values and
policies, and what the rules prove within a search's tree.
"""

from __future__ import annotations

import argparse
import copy
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.adapters.model import BatchFunctionAgent
from agents.batched import opponent
from agents.errors import InvalidValue
from agents.learned.train import settle
from agents.sampling.gumbel import GumbelSearch
from agents.solver.exam import exam_positions
from agents.training import needs
from agents.training.selfplay_judge import (
    COUNT,
    blunders,
    critical_positions,
    safe_position,
    score_against,
)
from c4env.bitboard import CELLS, COLUMNS
from c4env.envs.batch import DRAWN, Batch, boards_from
from c4env.errors import C4Error
from c4env.files import write_whole
from c4env.position import Position

with needs("torch", __name__):
    import torch
    from torch import nn
    from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    from agents.learned.convolution import MODEL, Evaluator, Network, tensor_of

BOARDS: Final = 256  # games at once
SIMULATIONS: Final = {0: 16, 10: 32, 60: 64}  # a move, from so many minutes on
FROM_EMPTY: Final = 0.3  # of the games; the others begin with 1 to RANDOM_PLIES random discs
RANDOM_PLIES: Final = 24
USES: Final = 4  # of each position in learning
BATCH: Final = 512  # positions a step of learning
WINDOW: Final = 2_000_000  # the latest positions kept; half of all, while they are fewer
FEWEST: Final = 4_096  # positions before learning begins
RATE: Final = 1.2e-3  # of learning
LAST_RATE: Final = 5e-5
FLAT: Final = 0.6  # share of the time before the rate falls
AVERAGE: Final = 0.995  # of the weights that play: how much a step keeps of them
SAVED: Final = 60.0  # seconds between two checkpoints
JUDGED: Final = 20  # times in a training
AGAINST: Final = ("greedy", "alphabeta-chain")

STATE: Final = "state.pt"
PROGRESS: Final = "progress.tsv"
SAMPLE: Final = np.dtype(
    [
        ("board", np.int64, 2),  # the side to move first
        ("policy", np.float16, COLUMNS),
        ("value", np.float32),  # the result expected; nan: not known yet
        ("proven", np.bool_),  # the value is the result under best play
    ]
)
Samples = NDArray[np.void]


class Games:
    """Games of a network against itself, all one ply on at a time."""

    def __init__(self, boards: int, generator: np.random.Generator) -> None:
        self.generator = generator
        self.batch = Batch(boards)
        self.moves: Samples = np.zeros((boards, CELLS), SAMPLE)  # of the games so far, by ply
        self.begin(np.ones(boards, np.bool_))

    def begin(self, where: NDArray[np.bool_]) -> None:
        """New games on some boards."""
        starts = []
        for _ in range(int(where.sum())):
            empty = self.generator.random() < FROM_EMPTY
            plies = 0 if empty else int(self.generator.integers(1, RANDOM_PLIES + 1))
            starts.append(safe_position(plies, self.generator))
        self.moves[where] = 0
        if starts:
            self.batch.reset(where, starts)

    def play(self, search: GumbelSearch) -> Samples:
        """One ply on every board; the moves of the games that it ended."""
        boards = boards_from(self.batch.observe()[0])
        found = search(boards, self.generator.gumbel(size=(len(boards), COLUMNS)))
        at = np.arange(len(boards)), self.batch.plies
        self.moves["board"][at] = boards
        self.moves["policy"][at] = found.policies
        self.moves["value"][at] = found.values
        self.moves["proven"][at] = found.proven
        self.batch.step(found.columns)
        over = self.batch.over
        ended = [np.zeros(0, SAMPLE)]
        for i in np.flatnonzero(over):
            moves = self.moves[i][self.moves["policy"][i].any(axis=1)]
            # Whoever made the last move won, the one before lost, and so on.
            result = (-1.0) ** np.arange(len(moves) - 1, -1, -1)
            if self.batch.results[i] == DRAWN:
                result *= 0
            searched = np.where(np.isnan(moves["value"]), result, moves["value"])
            moves["value"] = np.where(moves["proven"], searched, (searched + result) / 2)
            ended.append(moves)
        self.begin(over)
        return np.concatenate(ended)


class Trainer:
    """All that a training is, and its checkpoint.

    Args:
        out: its folder.
        seed: of weights and games.
        boards: games at once.
        shape: arguments of :class:`~agents.learned.convolution.Network`.
    """

    def __init__(self, out: Path, seed: int, boards: int, shape: Sequence[int]) -> None:
        torch.manual_seed(seed)
        self.out = out
        self.generator = np.random.default_rng(seed)
        self.network = Network(*shape)
        average = get_ema_multi_avg_fn(AVERAGE)
        self.averaged = AveragedModel(self.network, multi_avg_fn=average)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=RATE, fused=True)
        self.games = Games(boards, self.generator)
        self.samples: Samples = np.zeros(0, SAMPLE)  # a ring: the oldest is overwritten
        self.positions = self.learned = 0  # sampled, and learned from, ever
        self.seconds = 0.0
        self.history: list[dict[str, float]] = []
        exam = sorted((p.mine, p.theirs) for p in exam_positions())
        self._exam = np.array(exam, np.int64)
        if (out / STATE).exists():
            self._restore()
        self.player = Evaluator(copy.deepcopy(self.averaged.module), torch.bfloat16)
        self.hand_over()

    def hand_over(self) -> None:
        """Let the averaged weights play, in bfloat16."""
        state = self.averaged.module.state_dict()
        self.player.network.to(torch.bfloat16).load_state_dict(state)

    def add(self, moves: Samples) -> None:
        """Keep positions to learn from, without those of the exam."""
        asked = np.isin(moves["board"][:, 0], self._exam[:, 0])
        for k in np.flatnonzero(asked):
            asked[k] = (self._exam == moves["board"][k]).all(axis=1).any()
        moves = moves[~asked]
        while len(self.samples) < min(self.positions + len(moves), WINDOW):
            self.samples = np.resize(self.samples, min(WINDOW, max(1 << 16, 2 * len(self.samples))))
        at = np.arange(self.positions, self.positions + len(moves)) % max(1, len(self.samples))
        self.samples[at] = moves
        self.positions += len(moves)

    def learn(self) -> tuple[float, float]:
        """One step on a batch of the window; the losses of policy and value."""
        window = min(len(self.samples), max(FEWEST, self.positions // 2), self.positions)
        drawn = self.positions - 1 - self.generator.integers(window, size=BATCH)
        samples = self.samples[drawn % len(self.samples)]
        turned = self.generator.random(BATCH) < 0.5
        policy = samples["policy"].astype(np.float32)
        policy[turned] = policy[turned, ::-1]
        with torch.autocast("cpu", torch.bfloat16):
            logits, raw = self.network(tensor_of(samples["board"], turned))
        policy_loss = cross_entropy(logits.float(), torch.from_numpy(policy))
        chance = torch.from_numpy((samples["value"] + 1) / 2)
        value_loss = binary_cross_entropy_with_logits(raw.float(), chance)
        self.optimiser.zero_grad()
        (policy_loss + value_loss).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.averaged.update_parameters(self.network)
        self.learned += BATCH
        return float(policy_loss.detach()), float(value_loss.detach())

    def save(self) -> None:
        """Write a checkpoint, and the network that plays."""
        state = {
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.bit_generator.state,
            "samples": as_bytes(self.samples[: self.positions]),
            "boards": torch.from_numpy(boards_from(self.games.batch.observe()[0])),
            "moves": as_bytes(self.games.moves),
            **{name: getattr(self, name) for name in KEPT},
        }
        write_whole(self.out / STATE, lambda file: torch.save(state, file))
        Evaluator(self.averaged.module).save(self.out / MODEL)
        if self.history:
            rows = ["\t".join(self.history[0])]
            rows += ["\t".join(f"{v:.6g}" for v in row.values()) for row in self.history]
            write_whole(self.out / PROGRESS, "\n".join(rows) + "\n")

    def _restore(self) -> None:
        try:
            state = torch.load(self.out / STATE, weights_only=True)
            for name in ("network", "averaged", "optimiser"):
                getattr(self, name).load_state_dict(state[name])
            self.generator.bit_generator.state = state["generator"]
            self.samples = state["samples"].numpy().view(SAMPLE)
            self.games.moves = state["moves"].numpy().view(SAMPLE).reshape(-1, CELLS)
            boards = [Position.from_bitboards(*pair) for pair in state["boards"].tolist()]
            self.games.batch = Batch(len(boards))
            self.games.batch.reset(None, boards)
            for name in KEPT:
                setattr(self, name, state[name])
        except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
            said = " ".join(str(error).split())[:100]
            raise InvalidValue(f"{self.out / STATE} is no checkpoint: {said}") from None


KEPT: Final = ("positions", "learned", "seconds", "history")


def as_bytes(array: Samples) -> Any:
    """An array as a tensor of bytes, which loads without running code."""
    return torch.from_numpy(np.ascontiguousarray(array).view(np.uint8).reshape(-1))


def rate_at(share: float) -> float:
    """The rate of learning after a share of the time: flat, then along a cosine."""
    fall = min(max((share - FLAT) / (1 - FLAT), 0.0), 1.0)
    return LAST_RATE + (RATE - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * fall))


def train(
    out: Path,
    minutes: float = 30.0,
    seed: int = 1,
    *,
    boards: int = BOARDS,
    shape: Sequence[int] = (64, 3, 256),
    critical: int = COUNT,
) -> Trainer:
    """Train until so many minutes are spent, those of earlier calls counted.

    Args:
        out: folder of everything made.
        minutes: of processor time, on one core: by the clock, if nothing else runs there.
        seed: of weights and games.
        boards: games at once.
        shape: channels and layers of convolutions, units of dense layers.
        critical: positions that the judged figure of blunders is chosen from.

    Raises:
        InvalidValue: a bad number, or a folder of another training.
        MissingExtra: PyTorch is not installed.
        OSError: the folder cannot be written.
    """
    if not 0 < minutes < math.inf:
        raise InvalidValue(f"minutes={minutes!r}: expected a number above 0")
    if seed < 0:
        raise InvalidValue(f"seed={seed!r}: expected an integer >= 0")
    torch.set_num_threads(1)
    settle(out, f"seed {seed}\n")
    trainer = Trainer(out, seed, boards, shape)
    judged = critical_positions(critical)
    field = {name: opponent(name) for name in AGAINST}
    judge = Evaluator(trainer.averaged.module)
    itself = opponent(BatchFunctionAgent(lambda seen: judge(seen["observation"])[0]))
    begun = time.process_time() - trainer.seconds
    saved, marked = trainer.seconds, (trainer.seconds, trainer.positions)
    losses: list[tuple[float, float]] = []
    while True:
        trainer.seconds = time.process_time() - begun
        share = trainer.seconds / (60 * minutes)
        due = (len(trainer.history) + 1) / JUDGED
        if trainer.seconds - saved > SAVED or share >= min(1, due):
            if share >= min(1, due):
                row = {"minutes": trainer.seconds / 60, "positions": float(trainer.positions)}
                row["a second"] = (trainer.positions - marked[1]) / (trainer.seconds - marked[0])
                row["policy loss"], row["value loss"] = np.mean(losses or [(0, 0)], axis=0).tolist()
                row["blunders"] = blunders(judge.evaluate, judged)
                row |= {name: score_against(itself, other) for name, other in field.items()}
                trainer.history.append(row)
                print(line(row), flush=True)
                judge.save(out / f"model-{row['minutes']:06.1f}.pt")
                losses = []
                trainer.seconds = time.process_time() - begun
                marked = trainer.seconds, trainer.positions
            trainer.save()
            saved = trainer.seconds
            if share >= 1:
                return trainer
        simulations = [n for since, n in SIMULATIONS.items() if trainer.seconds >= 60 * since][-1]
        trainer.add(trainer.games.play(GumbelSearch(trainer.player.evaluate, simulations)))
        for group in trainer.optimiser.param_groups:
            group["lr"] = rate_at(share)
        while trainer.positions >= FEWEST and trainer.learned < USES * (trainer.positions - FEWEST):
            losses.append(trainer.learn())
        trainer.hand_over()


def line(row: dict[str, float]) -> str:
    """The judged figures in words."""
    scores = ", ".join(f"{row[name]:.1%} against {name}" for name in AGAINST)
    return (
        f"{row['minutes']:6.1f} min  {row['positions']:>9,.0f} positions ({row['a second']:,.0f}/s)"
        f"  loss {row['policy loss']:.3f} + {row['value loss']:.3f}  "
        f"blunders {row['blunders']:.1%}, score {scores}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m agents.training.selfplay", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for all that is made")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all (default 30)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    try:
        train(given.out, given.minutes, given.seed)
    except (C4Error, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
