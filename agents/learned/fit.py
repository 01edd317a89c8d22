"""Fitting a model to labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from agents.learned.features import describe, planes_from
from agents.learned.labels import FULL, Labels, best_score, held_out, mirrored
from agents.learned.model import Model
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import BOTTOM, CELLS, COLUMN, STRIDE

BATCH: Final = 1024  # labelled positions a step; half as many that follow from them are added
RATE: Final = 2e-3  # of learning, falling along a cosine
TEMPERATURE: Final = 0.5  # of the policy's target, in units of the score
OUTCOME: Final = 4  # what a win is worth over a draw there, more than its score says
SLOWEST: Final = 0.8  # value of a win with the last disc; the quickest has 1
VALUE_LOSS: Final = 4.0  # weight beside the policy's


def value_target(scores: Int8s) -> NDArray[np.float32]:
    """The value of exact scores: by outcome, and somewhat by how soon."""
    signs = np.sign(scores)
    soon = SLOWEST + (1 - SLOWEST) * np.abs(scores.astype(np.float32)) / (CELLS // 2)
    return (signs * soon).astype(np.float32)


def policy_target(scores: Int8s) -> NDArray[np.float32]:
    """Shares ``[N, 7]`` of the columns by their exact scores ``[N, 7]``."""
    worth = np.where(scores == FULL, -np.inf, scores + OUTCOME * np.sign(scores).astype(float))
    shares = np.exp((worth - worth.max(axis=1, keepdims=True)) / TEMPERATURE)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares, np.float32)


def after(labels: Labels, generator: np.random.Generator) -> tuple[Int64s, Int64s, Int8s]:
    """Positions one ply on, by a random column each, as bitboards and scores for the mover there.

    Games that end with that ply are left out, and positions held out of training.
    """
    mine, theirs, scores = labels.mine, labels.theirs, labels.scores
    plies = np.bitwise_count(mine | theirs).astype(np.int64)
    ends = (scores == ((CELLS + 1 - plies) >> 1)[:, None]) | (plies == CELLS - 1)[:, None]
    drawn = generator.random(scores.shape) * ((scores != FULL) & ~ends)
    columns = drawn.argmax(axis=1)
    cells = ((mine | theirs) + BOTTOM) & (COLUMN << (STRIDE * columns))
    kept = (drawn.max(axis=1) > 0) & ~held_out(theirs, mine | cells)
    return theirs[kept], (mine | cells)[kept], -scores[np.arange(len(scores)), columns][kept]


def fit(model: Model, labels: Labels, steps: int, seed: int, report: Callable[[str], None]) -> None:
    """Fit the model; the same seed, and one thread, give the same model on the same machine.

    Args:
        model: changed in place.
        labels: to learn from.
        steps: of the optimiser.
        seed: of the choice of positions.
        report: called now and then with a line on how far it is.
    """
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=1e-4, fused=True)
    warm = min(200, steps // 10 + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min((step + 1) / warm, 0.5 * (1 + math.cos(math.pi * step / steps)) + 1e-3),
    )
    losses = []
    for step in range(1, steps + 1):
        chosen = labels.take(generator.integers(len(labels.mine), size=BATCH))
        mine, theirs, scores = after(chosen.take(np.arange(BATCH // 2)), generator)
        scores = np.concatenate([best_score(chosen.scores), scores])
        mine, theirs = np.concatenate([chosen.mine, mine]), np.concatenate([chosen.theirs, theirs])
        turned = generator.random(len(mine)) < 0.5
        mine, theirs = np.where(turned, [mirrored(mine), mirrored(theirs)], [mine, theirs])
        columns = np.where(turned[:BATCH, None], chosen.scores[:, ::-1], chosen.scores)
        # The model wants the positions of player 0 first.
        to_move = np.bitwise_count(mine | theirs) & 1
        order = np.argsort(to_move, kind="stable")
        told = torch.from_numpy(describe(planes_from(mine[order], theirs[order])))
        logits, raw = model(told, int(np.count_nonzero(to_move == 0)))
        back = torch.from_numpy(np.argsort(order))
        logits = logits[back[:BATCH]].masked_fill(torch.from_numpy(columns == FULL), -30.0)
        values = torch.from_numpy(value_target(scores))[order]
        shares = torch.from_numpy(policy_target(columns))
        policy_loss = -(shares * logits.log_softmax(1)).sum(1).mean()
        value_loss = (raw / torch.sqrt(1 + raw * raw) - values).square().mean()
        optimiser.zero_grad()
        (policy_loss + VALUE_LOSS * value_loss).backward()
        optimiser.step()
        schedule.step()
        losses.append((policy_loss.item(), value_loss.item()))
        if step % 200 == 0 or step == steps:
            policy, value = np.mean(losses, axis=0)
            report(f"step {step:,} of {steps:,}: loss {policy:.3f} policy, {value:.3f} value")
            losses = []
