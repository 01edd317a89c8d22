"""Makes the weights: games, exact labels, fitting; then games of the network itself, and again.

    python -m agents.learned.train --out DIR

Everything is kept in DIR: a run that was interrupted goes on where it was. The weights are
written to ``DIR/weights.npz``; ``learned:weights=DIR/weights.npz`` plays with them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from agents.errors import InvalidValue
from agents.learned.features import Planes
from agents.learned.labels import (
    BOARDS,
    Labels,
    Player,
    held_out,
    label,
    measure,
    noisy_tactician,
    played,
    solver,
)
from agents.learned.network import Network
from c4env.arrays import Int8s, Int64s
from c4env.cores import usable_cores
from c4env.errors import C4Error, MissingExtra
from c4env.files import write_whole

# How many positions of each number of plies. The solver needs longest for those just beyond
# its book's; the earliest and the latest are few.
FROM_TACTICIANS: Final = {
    **dict.fromkeys(range(12), 12_000),
    **{12: 600, 13: 1500, 14: 4000, 15: 5000, 16: 7000, 17: 10_000, 18: 13_000, 19: 15_000},
    **dict.fromkeys(range(20, 30), 20_000),
    **dict.fromkeys(range(30, 37), 12_000),
    **dict.fromkeys(range(37, 42), 5_000),
}
FROM_ITSELF: Final = {
    **dict.fromkeys(range(12), 6_000),
    **{14: 500, 15: 1000, 16: 2000, 17: 3000, 18: 4000},
    **dict.fromkeys(range(19, 30), 6_000),
    **dict.fromkeys(range(30, 36), 3_000),
}
STEPS: Final = (1_200, 5_000)  # of the optimiser, by round
WIDTH, INNER, BLOCKS = 192, 64, 2  # units of the first layer, units within a block, blocks


def network_player(network: Network) -> Player:
    """Draws each column as often as the network's policy says."""

    def play(planes: Planes, masks: Int8s, generator: np.random.Generator) -> Int64s:
        logits, _ = network(planes, masks)
        noise = generator.gumbel(size=logits.shape)
        columns: Int64s = np.argmax(logits + noise, axis=1)
        return columns

    return play


def train(out: Path, seed: int, jobs: int, scale: float) -> Network:
    """Train a network; see the module.

    Args:
        out: folder of everything made.
        seed: the same seed gives the same positions and labels anywhere, and the same
            weights on the same machine.
        jobs: processes that label.
        scale: share of the positions and steps of the full training.

    Raises:
        InvalidValue: no share.
        MissingExtra: PyTorch is not installed.
        BookUnavailable: the 12-ply book is not.
    """
    if not 0 < scale <= 1:
        raise InvalidValue(f"scale={scale!r}: expected a number above 0, at most 1")
    try:
        import torch

        from agents.learned.fit import fit
        from agents.learned.model import Model
    except ImportError as error:
        raise MissingExtra(
            f"training needs PyTorch ({error}): pip install 'c4env[train]'"
        ) from None
    solver()  # without its book, fail now
    torch.set_num_threads(1)  # with more, sums come out differently from run to run
    torch.manual_seed(seed)
    model = Model(WIDTH, INNER, BLOCKS)
    settle(out, f"seed {seed}, scale {scale:g}\n")
    learned_from: list[Labels] = []
    player: Player = noisy_tactician
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    for number, steps in enumerate(STEPS):
        quota = FROM_ITSELF if number else FROM_TACTICIANS
        quota = {ply: max(1, round(count * scale)) for ply, count in quota.items()}
        path = out / f"positions-{number}.npy"
        if not path.exists():
            say(f"round {number}: playing")
            boards = max(64, round(BOARDS * scale))
            write(path, played(player, quota, seed + number, boards))
        planes = np.load(path, allow_pickle=False)
        say(f"round {number}: labelling {len(planes):,} positions")
        learned_from.append(label(planes, out / f"labels-{number}", jobs))
        labels = Labels(*(np.concatenate(fields) for fields in zip(*learned_from, strict=True)))
        kept = held_out(labels.mine, labels.theirs)
        state = out / f"model-{number}.pt"
        if state.exists():
            model.load_state_dict(torch.load(state, weights_only=True))
        else:
            say(f"round {number}: fitting")
            fit(model, labels.take(~kept), max(1, round(steps * scale)), seed + number, say)
            write_whole(state, lambda file: torch.save(model.state_dict(), file))
        network = Network(model.export())
        print(table(network, labels.take(kept)))
        player = network_player(network)
    network.save(out / "weights.npz")
    say(f"wrote {out / 'weights.npz'}")
    return network


def settle(out: Path, settings: str) -> None:
    """Make the folder, or see that it was made with the same settings.

    Raises:
        InvalidValue: it was made with others.
    """
    path = out / "settings.txt"
    out.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text() != settings:
        raise InvalidValue(
            f"{out} holds a training with {path.read_text().strip()}: expected {settings.strip()}"
        )
    write_whole(path, settings)


def write(path: Path, planes: Int8s) -> None:
    """Write positions to a file, whole or not at all."""
    write_whole(path, lambda file: np.save(file, planes, allow_pickle=False))


def table(network: Network, labels: Labels) -> str:
    """How often the network is right on positions it was not trained on."""
    lines = ["held out: plies, positions, best column, outcome kept, sign of the value"]
    for row in measure(network, labels):
        shares = " ".join(f"{share:>7.1%}" for share in row[2:])
        lines.append(f"{row.plies:>6} {row.positions:>7,} {shares}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m agents.learned.train", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for all that is made")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes that label")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full training")
    given = parser.parse_args(arguments)
    try:
        train(given.out, given.seed, given.jobs, given.scale)
    except C4Error as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
