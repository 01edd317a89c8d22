"""Makes the weights: labels, fitting; labels of positions the network met in games, fitting again.

    python -m agents.learned.train --out DIR

Everything is kept in DIR: a run that was interrupted, or killed, goes on where it was. The weights
are written to ``DIR/weights.npz``; ``learned:weights=DIR/weights.npz`` plays with them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from agents.errors import InvalidValue
from agents.learned.labels import Labels, exact, measure, portion, positions_met
from agents.learned.network import Network
from c4env.cores import usable_cores
from c4env.errors import C4Error, MissingExtra
from c4env.files import write_whole

STEPS: Final = 7_500  # of the optimiser
BEGIN: Final = 25  # portions of labels to begin with
PORTIONS: Final = 45  # in the end
GROWTH: Final = 200  # steps, after each of which there is a portion more
MET: Final = 0.81  # share of the steps after which the network plays
GAMES: Final = 3_000
SHAPE: Final = (32, 4, 32, 256)  # of the model: channels, blocks, squeezed channels, dense units


def train(out: Path, seed: int, jobs: int, scale: float) -> Network:
    """Train a network; see the module.

    Args:
        out: folder of everything made.
        seed: the same seed gives the same positions and labels anywhere, and the same
            weights on the same machine.
        jobs: processes that label.
        scale: share of the positions and steps of the full training.

    Raises:
        InvalidValue: no share, or a bad number.
        OSError: the folder cannot be written.
        MissingExtra: PyTorch is not installed.
        BookUnavailable: the 12-ply book is not.
    """
    if not 0 < scale <= 1:
        raise InvalidValue(f"scale={scale!r}: expected a number above 0, at most 1")
    if seed < 0 or jobs < 1:
        raise InvalidValue(f"seed={seed}, jobs={jobs}: expected integers from 0, and from 1, on")
    try:
        import torch

        from agents.learned.fit import SAVED, fit
        from agents.learned.model import Model
    except ImportError as error:
        raise MissingExtra(
            f"training needs PyTorch ({error}): pip install 'c4env[train]'"
        ) from None
    torch.set_num_threads(1)  # with more, sums come out differently from run to run
    torch.manual_seed(seed)
    model = Model(*SHAPE)
    claim_folder(out, f"seed {seed}, scale {scale:g}\n")
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    def share(count: int) -> int:
        return max(2, round(count * scale))

    def known(step: int) -> list[Labels]:
        count = min(share(BEGIN) + step // GROWTH, len(made))
        played = Labels.join(future.result() for future in made[:count])
        say(f"fitting to {len(played.mine):,} positions")
        return [played, *met_in_games]

    steps = share(STEPS)
    checkpoint, path = out / "model.pt", out / "met.npz"
    met_in_games: list[Labels] = []
    # Labels are made while the model learns from those there are.
    workers = ThreadPoolExecutor(max(1, jobs - 1))
    try:
        made = [workers.submit(portion, out, n, seed) for n in range(share(PORTIONS))]
        fit(model, known, int(MET * steps / SAVED) * SAVED, steps, seed, checkpoint, say)
        if not path.exists():
            say("playing")
            exact(*positions_met(Network(model.export()), share(GAMES), seed)).write(path)
        met_in_games.append(Labels.read(path))
        fit(model, known, steps, steps, seed, checkpoint, say)
    finally:
        workers.shutdown(cancel_futures=True)
    network = Network(model.export())
    network.save(out / "weights.npz")
    kept_out = Labels.join(portion(out, number, seed, kept=True) for number in (0, 1))
    print(table(network, kept_out))
    say(f"wrote {out / 'weights.npz'}")
    return network


def claim_folder(out: Path, settings: str) -> None:
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


def table(network: Network, labels: Labels) -> str:
    """How often the network errs on positions it was not trained on."""
    lines = ["held out: plies, critical positions, blunders, share, sign of the value right"]
    for row in measure(network, labels):
        counts = f"{row.plies:>6} {row.critical:>7,} {row.blunders:>6,}"
        lines.append(f"{counts} {row.rate:>7.2%} {row.sign:>7.1%}")
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
    except (C4Error, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
