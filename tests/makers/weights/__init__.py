"""Train the network that ships: label positions by exact play, and fit a network to the labels.

    python -m tests.makers weights --out DIR

A few times on the way the network plays, and the training labels the positions of its games too.
DIR holds the whole training: after an interrupt or a kill the same command resumes it. It writes
the weights to ``DIR/weights.npz``; ``learned:weights=DIR/weights.npz`` plays with them.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from c4env.agents.base import require_count
from c4env.agents.learned import IntegerNetwork
from c4env.agents.selfplay.folder import LAST_SEED, claim_folder, needs
from c4env.errors import InvalidOption
from c4env.system import usable_cores
from tests.makers.weights.labels import Labels, exact, measure, portion, positions_met

STEPS: Final = 45_000  # of the optimisers
PORTIONS: Final = 340  # of labels
BEGIN: Final = 25  # portions at the first step
GROWTH: Final = 100  # steps between two further portions
PLAYED: Final = (0.3, 0.4, 0.5, 0.6, 0.7)  # shares of the steps after which the network plays
PARTS: Final = 8  # of its games: one against all opponents, the others against itself
PART: Final = 1_000  # games
SELF_ERRS: Final = 1 / 60  # share of random moves in games against itself
JOBS: Final = usable_cores()
SHAPE: Final = (64, 4, 32, 256)  # of the model: channels, blocks, squeezed channels, dense units


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, help="folder of the training")
    parser.add_argument("--seed", type=int, default=1, help="of weights and games (default 1)")
    parser.add_argument("--jobs", type=int, default=JOBS, help="cores to use (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full training")


def execute(arguments: argparse.Namespace) -> None:
    train(arguments.out, arguments.seed, arguments.jobs, arguments.scale)


def train(out: Path, seed: int = 1, jobs: int = JOBS, scale: float = 1.0) -> IntegerNetwork:
    """Train a network; see the module.

    The same seed gives the same positions of erring players and labels anywhere, and the same
    weights on the same machine. Of ``jobs`` cores one trains, the others label positions; ``scale``
    is the share of the positions and steps of the full training.
    """
    if not 0 < scale <= 1:
        raise InvalidOption(f"scale={scale!r}: expected a number above 0, at most 1")
    require_count("seed", seed, 0, LAST_SEED)
    require_count("jobs", jobs, 1, 1 << 31)
    with needs("torch"):
        import torch

        from tests.makers.weights.fit import SAVED, fit
        from tests.makers.weights.model import Model
    torch.set_num_threads(1)  # with more, sums come out differently from run to run
    torch.manual_seed(seed)
    model = Model(*SHAPE)
    with claim_folder(out, f"seed {seed}, scale {scale:g}\n"):
        started = time.monotonic()

        def say(text: str) -> None:
            print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

        def share(count: int) -> int:
            return max(2, round(count * scale))

        def known(step: int) -> list[Labels]:
            count = min(share(BEGIN) + step // GROWTH, len(made))
            early, *played = (future.result() for future in made[:count])
            pools = [Labels.join(played), early, *met, *met]  # twice, to be drawn twice as often
            say(f"fitting to {sum(len(pool.mine) for pool in pools[:3]):,} positions")
            return pools

        steps, checkpoint = share(STEPS), out / "model.pt"
        stops = [int(part * steps / SAVED) * SAVED for part in PLAYED]
        met: list[Labels] = []
        # Labels are made while the model learns from those there are.
        workers = ThreadPoolExecutor(max(1, jobs - 1))
        try:
            made = [workers.submit(portion, out, n, seed) for n in range(share(PORTIONS))]
            for turn, stop in enumerate(stops):
                fit(model, known, stop, steps, seed, checkpoint, say)
                asked = partial(
                    met_by, IntegerNetwork(model.export()), out, share(PART), seed, turn
                )
                met[:] = [Labels.join([*met, *workers.map(asked, range(PARTS))])]
            fit(model, known, steps, steps, seed, checkpoint, say)
        finally:
            workers.shutdown(cancel_futures=True)
        network = IntegerNetwork(model.export())
        network.save(out / "weights.npz")
        kept_out = Labels.join(portion(out, number, seed, kept=True) for number in (0, 1))
        blunders, signs = measure(network, kept_out)
        say(
            f"of {int(kept_out.critical.sum()):,} critical positions held out {blunders:.2%} "
            f"blunders, the sign of the value right in {signs:.1%}; wrote {out / 'weights.npz'}"
        )
        return network


def met_by(
    network: IntegerNetwork, folder: Path, games: int, seed: int, turn: int, part: int
) -> Labels:
    """The labelled positions of one part of a network's games, read from their file or made now."""
    path = folder / f"met-{turn}-{part}.npz"
    if not path.exists():
        play = partial(positions_met, network, games, [seed, turn, part])
        exact(*(play() if part == 0 else play([""], SELF_ERRS))).write(path)
    return Labels.read(path)
