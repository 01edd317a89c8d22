"""Write positions with the exact score of every column, for training and tests.

  c4 data train.npz --positions 100000 --plies 8..30
  c4 data test.npz --positions 1000 --plies 8..30 --seed 1

FILE ends in .npz (NumPy) or .parquet (pandas, Hugging Face's datasets). Its fields are mine and
theirs (bitboards, side to move first), ply, score, columns (the score of each column, -99 if it is
full), best (the columns with the greatest score) and split. No two positions are equal or mirror
images, and no position is in the exam of `c4 quality`. Half of the positions are from random games,
and half are from games between agents, with some random moves.

With --concepts the file also has bitboards of the cells that the next disc can take (playable), of
the playable cells that keep the win or the draw (keeping), and of each side's threats: in odd rows,
in even rows, and playable at once (mine_odd, mine_even, mine_now, theirs_odd, theirs_even,
theirs_now).

The file does not depend on --jobs. If the command is interrupted, run it again: it resumes from
FILE.part.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from c4env.evaluation.cli.declare import add_options, add_quiet, keywords
from c4env.evaluation.cli.output import Progress, say
from c4env.geometry import COLUMNS, ROWS


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.exact.data import data

    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write")
    add_options(parser, data, "positions")
    parser.add_argument(
        "--plies", type=_range, metavar="A..B", help="number of discs on the board (default 8..30)"
    )
    add_options(parser, data, "seed")
    parser.add_argument(
        "--concepts",
        action="store_true",
        help="also write threats, playable cells and cells that keep the win or draw, as bitboards",
    )
    add_options(parser, data, "jobs")
    add_quiet(parser)
    add_options(parser.add_argument_group("seldom needed"), data, "backend address")


def execute(arguments: argparse.Namespace) -> None:
    import numpy as np

    from c4env.evaluation.exact.data import data

    with Progress("positions", arguments.quiet) as progress:
        written = data(**keywords(arguments, data), watch=progress.watch)
    won, drawn, lost = (int((np.sign(written.score) == sign).sum()) for sign in (1, 0, -1))
    names, counts = np.unique(written.split, return_counts=True)
    splits = ", ".join(f"{n:,} {name}" for name, n in zip(names, counts, strict=True))
    noun = "position" if len(written) == 1 else "positions"
    say(
        f"{len(written):,} {noun} in {arguments.file}; the side to move wins {won:,}, draws "
        f"{drawn:,}, loses {lost:,}; {splits}"
    )


def _range(text: str) -> range:
    """Parse ``A..B``, or one number, as a range of plies."""
    bounds = re.fullmatch(r"(\d{1,3})(?:\.\.(\d{1,3}))?", text, re.ASCII)
    plies = range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1) if bounds else range(0)
    if not plies or plies[-1] >= ROWS * COLUMNS:
        expected = f"a number or a range such as 8..30, within 0..{ROWS * COLUMNS - 1}"
        raise argparse.ArgumentTypeError(f"{text}: expected {expected}")
    return plies
