"""Fit a model to labels, with checkpoints that a stopped run resumes from."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from c4env.agents.learned import features_of
from c4env.agents.selfplay.convnet import Optimiser
from c4env.agents.selfplay.folder import reading_checkpoint
from c4env.agents.solver.exam import held_out
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import BOTTOM, CELLS, COLUMN, COLUMNS, STRIDE, mirror_all
from c4env.files import write_whole
from c4env.observation import planes_of
from tests.makers.weights.labels import Labels, played_columns
from tests.makers.weights.model import Model

BATCH: Final = 1024  # labelled positions per step
LATER: Final = 8  # one in so many is from each pool but the first
FOLLOWED: Final = 8  # to one in so many a batch adds a position one ply on
WARM: Final = 300  # steps until the learning rate is at its highest
FLAT: Final = 0.5  # share of the steps after which the rate falls linearly
ROUNDED: Final = 0.94  # share of the steps after which the weights are rounded
VALUE_LOSS: Final = 0.5  # weight beside the policy's
SAVED: Final = 500  # steps between two checkpoints
UNKNOWN: Final = -100  # in place of an outcome


class Batch(NamedTuple):
    """N positions and their targets."""

    planes: Int8s  # [N, 6, 7, 5]
    to_move: Int64s  # [N]
    keeps: Int8s  # [N, 7] 1: a column to play; rows without a 1, or without a 0, have no policy
    outcomes: Int64s  # [N] 0 for a win of the side to move, 1 draw, 2 loss, or UNKNOWN


def drawn(pools: Sequence[Labels], generator: np.random.Generator, size: int = BATCH) -> Batch:
    """Draw a batch from the pools: positions mirrored at random, and for some one a ply on."""
    others = size // LATER
    counts = [size - others * (len(pools) - 1), *[others] * (len(pools) - 1)]
    chosen = [
        pool.take(generator.integers(len(pool.mine), size=count))
        for pool, count in zip(pools, counts, strict=True)
    ]
    labels = Labels(*(np.concatenate(fields) for fields in zip(*chosen, strict=True)))
    turned = generator.random(size) < 0.5
    mine, theirs = np.where(
        turned, [mirror_all(labels.mine), mirror_all(labels.theirs)], [labels.mine, labels.theirs]
    )
    keeps = np.where(turned[:, None], labels.keeps[:, ::-1], labels.keeps)
    labels = Labels(mine, theirs, labels.signs, keeps)
    own, other, outcomes = after(labels.take(np.arange(0, size, FOLLOWED)), generator)
    mine, theirs = np.append(mine, own), np.append(theirs, other)
    planes = planes_of(features_of(mine, theirs))
    return Batch(
        planes,
        np.bitwise_count(mine | theirs).astype(np.int64) & 1,
        np.concatenate([keeps, urgent(planes[size:])]),
        np.concatenate([1 - labels.signs.astype(np.int64), outcomes]),
    )


def after(labels: Labels, generator: np.random.Generator) -> tuple[Int64s, Int64s, Int64s]:
    """Play a random column in each position: bitboards, and the outcome for the side to move.

    The result leaves out positions whose outcome the labels do not tell, those that are over, and
    those held out of training.
    """
    mine, theirs, signs, keeps = labels
    columns = (generator.random(keeps.shape) * (keeps >= 0)).argmax(axis=1)
    kept = keeps[np.arange(len(keeps)), columns] == 1
    cells = ((mine | theirs) + BOTTOM) & (COLUMN << (STRIDE * columns))
    # A column that throws a draw away loses; one that throws a win away may do either.
    outcomes = np.where(kept, 1 + signs, 0).astype(np.int64)
    known = (kept | (signs == 0)) & (np.bitwise_count(mine | theirs) < CELLS - 1)
    known &= ~held_out(theirs, mine | cells)
    return theirs[known], (mine | cells)[known], outcomes[known]


def urgent(planes: Int8s) -> Int8s:
    """Int8 ``[N, 7]``: 1 for columns that win at once, or else stop the other side from it.

    The others are 0, or -1 where full; all are -1 where nothing is urgent.
    """
    legal, wins, blocks = played_columns(planes)
    columns = np.where(wins.any(axis=1, keepdims=True), wins, blocks)
    asked = columns.any(axis=1, keepdims=True) & legal
    return np.where(asked, columns, -1).astype(np.int8)


def losses(out: Tensor, keeps: Tensor, outcomes: Tensor) -> tuple[Tensor, Tensor]:
    """The losses of policy and value, of outputs ``[N, 10]``.

    The policy's is minus the logarithm of the probability of all columns that keep the value, a
    mean over the positions where another does not.
    """
    logits = out[:, :COLUMNS].masked_fill(keeps < 0, -1e4)
    right = logits.masked_fill(keeps < 1, -1e4).logsumexp(1)
    asked = (keeps == 1).any(1) & (keeps == 0).any(1)
    policy = ((logits.logsumexp(1) - right) * asked).sum() / asked.sum().clamp(min=1)
    value = functional.cross_entropy(out[:, COLUMNS:], outcomes, ignore_index=UNKNOWN)
    return policy, value


def fit(
    model: Model,
    pools: Callable[[int], Sequence[Labels]],
    stop: int,
    steps: int,
    seed: int,
    checkpoint: Path,
    report: Callable[[str], None],
) -> None:
    """Fit the model, in place, up to a step; the same seed gives the same on the same machine.

    ``pools`` gives what there is to learn from at a step, a multiple of ``SAVED``; most is drawn
    from the first. The rate falls along the ``steps`` of the whole training. ``checkpoint`` is
    begun from, and written every ``SAVED`` steps and at the end; ``report`` gets a line then.
    """
    optimiser = Optimiser(model)
    begin = 0
    if checkpoint.exists():
        with reading_checkpoint(checkpoint):
            state = torch.load(checkpoint, weights_only=True)
            model.load_state_dict(state["model"])
            optimiser.load_state_dict(state["optimisers"])
            begin = state["step"]
    model.rounded = True
    if begin >= stop:
        return
    told: list[tuple[float, float]] = []
    for step in range(begin, stop):
        if step % SAVED == 0 or step == begin:
            known = pools(step - step % SAVED)
        model.rounded = step >= ROUNDED * steps
        batch = drawn(known, np.random.default_rng([seed, step]))
        out = model(tensor(batch.planes), torch.from_numpy(batch.to_move))
        parts = losses(out, torch.from_numpy(batch.keeps), torch.from_numpy(batch.outcomes))
        optimiser.step(parts[0] + VALUE_LOSS * parts[1], rate(step, steps))
        told.append((parts[0].item(), parts[1].item()))
        if (step + 1) % SAVED == 0 or step + 1 == stop:
            save(checkpoint, model, optimiser, step + 1)
            policy, value = np.mean(told, axis=0)
            told = []
            report(f"step {step + 1:,} of {steps:,}: loss {policy:.4f} policy, {value:.4f} value")
    model.rounded = True


def rate(step: int, steps: int) -> float:
    """The learning rate as a share of the highest: it rises, stays, and falls linearly."""
    return min((step + 1) / WARM, (1 - step / steps) / (1 - FLAT), 1.0)


def tensor(planes: Int8s) -> Tensor:
    """Planes as the model takes them, channels last in memory, of few bits."""
    return torch.from_numpy(planes).to(torch.bfloat16).permute(0, 3, 1, 2)


def save(path: Path, model: Model, optimiser: Optimiser, step: int) -> None:
    """Write a checkpoint, whole or not at all."""
    state = {"model": model.state_dict(), "optimisers": optimiser.state_dict(), "step": step}
    write_whole(path, lambda file: torch.save(state, file))
