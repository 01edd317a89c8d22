"""Makes the weights: labels, fitting; labels of positions the network met in games, fitting again.

Then come rounds, each of games of the network against itself, labels of what it met, and fitting.

    python -m agents.learned.train --out DIR

Everything is kept in DIR: a run that was interrupted, or killed, goes on where it was. The weights
are written to ``DIR/weights.npz``; ``learned:weights=DIR/weights.npz`` plays with them.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from agents.base import require_count
from agents.errors import InvalidValue
from agents.learned.labels import Labels, exact, measure, portion, positions_met
from agents.learned.network import Network
from agents.scripts import LAST_SEED, claimed, needs, run
from c4env.cores import usable_cores

STEPS: Final = 30_000  # of the optimiser, before the rounds
BEGIN: Final = 25  # portions of labels to begin with
PORTIONS: Final = 100  # before the rounds
GROWTH: Final = 200  # steps, after each of which there is a portion more
MET: Final = 0.81  # share of the steps after which the network plays
GAMES: Final = 3_000
ROUNDS: Final = 4
ROUND: Final = 5_500  # steps
ALL_PORTIONS: Final = 170  # in the rounds
PARTS: Final = 8  # of the games of a round
PART: Final = 1_000  # games
SELF_ERRS: Final = 1 / 60  # share of the moves in them that are at random
JOBS: Final = usable_cores()
SHAPE: Final = (64, 4, 32, 256)  # of the model: channels, blocks, squeezed channels, dense units


def train(out: Path, seed: int = 1, jobs: int = JOBS, scale: float = 1.0) -> Network:
    """Train a network; see the module.

    Args:
        out: folder for all that is made.
        seed: the same seed gives the same positions and labels anywhere, and the same
            weights on the same machine.
        jobs: cores to use: one trains, the others label positions.
        scale: share of the positions and steps of the full training.

    Raises:
        InvalidValue: a bad number, or a folder of another training.
        FileInUse: another process trains in the folder.
        OSError: it cannot be written.
        MissingExtra: PyTorch is not installed.
        BookUnavailable: the 12-ply book is not.
    """
    if not 0 < scale <= 1:
        raise InvalidValue(f"scale={scale!r}: expected a number above 0, at most 1")
    require_count("seed", seed, 0, LAST_SEED)
    require_count("jobs", jobs, 1, 1 << 31)
    with needs("train"):
        import torch

        from agents.learned.fit import SAVED, fit
        from agents.learned.model import Model
    torch.set_num_threads(1)  # with more, sums come out differently from run to run
    torch.manual_seed(seed)
    model = Model(*SHAPE)
    with claimed(out, f"seed {seed}, scale {scale:g}\n"):
        started = time.monotonic()

        def say(text: str) -> None:
            print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

        def share(count: int) -> int:
            return max(2, round(count * scale))

        def known(step: int) -> list[Labels]:
            count = min(share(BEGIN) + step // GROWTH, share(PORTIONS))
            early, *played = (future.result() for future in made[:count])
            joined = Labels.join(played)
            say(f"fitting to {len(early.mine) + len(joined.mine):,} positions")
            return [joined, early, *met_in_games]

        steps, later = share(STEPS), ROUNDS * share(ROUND)
        checkpoint, again, path = out / "model.pt", out / "again.pt", out / "met.npz"
        met_in_games: list[Labels] = []
        # Labels are made while the model learns from those there are.
        workers = ThreadPoolExecutor(max(1, jobs - 1))
        try:
            made = [workers.submit(portion, out, n, seed) for n in range(share(ALL_PORTIONS))]
            fit(model, known, int(MET * steps / SAVED) * SAVED, steps, seed, checkpoint, say)
            if not path.exists():
                say("playing")
                found = positions_met(Network(model.export()), share(GAMES), [seed])
                exact(*found).write(path)
            met_in_games.append(Labels.read(path))
            fit(model, known, steps, steps, seed, checkpoint, say)
            early, *played = (future.result() for future in made)
            others, pools = Labels.join(played), list[Labels]()
            for turn in range(ROUNDS):
                say(f"round {turn + 1} of {ROUNDS}")
                asked = out, turn, Network(model.export()), share(PART), seed
                met_in_games += workers.map(partial(played_alone, *asked), range(PARTS))
                joined = Labels.join(met_in_games)
                say(f"fitting to {len(joined.mine):,} more positions")
                pools[:] = [others, early, joined, joined]  # twice, to be drawn twice as often
                stop = later * (turn + 1) // ROUNDS
                fit(model, lambda _: pools, stop, later, seed, again, say)
        finally:
            workers.shutdown(cancel_futures=True)
        network = Network(model.export())
        network.save(out / "weights.npz")
        kept_out = Labels.join(portion(out, number, seed, kept=True) for number in (0, 1))
        print(table(network, kept_out))
        say(f"wrote {out / 'weights.npz'}")
        return network


def played_alone(
    folder: Path, turn: int, network: Network, games: int, seed: int, part: int
) -> Labels:
    """What a network meets in a part of the games of a round, from its file or made now."""
    path = folder / f"met-{turn}-{part}.npz"
    if not path.exists():
        exact(*positions_met(network, games, [seed, turn, part], [""], SELF_ERRS)).write(path)
    return Labels.read(path)


def table(network: Network, labels: Labels) -> str:
    """How often the network errs on positions it was not trained on."""
    lines = ["held out: plies, critical positions, blunders, share, sign of the value right"]
    for row in measure(network, labels):
        counts = f"{row.plies:>6} {row.critical:>7,} {row.blunders:>6,}"
        lines.append(f"{counts} {row.rate:>7.2%} {row.sign:>7.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(train, __doc__, resumes=True))
