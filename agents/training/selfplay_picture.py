"""The curves of a training by self-play as a picture: its ``progress.tsv``, drawn with matplotlib.

python -m agents.training.selfplay_picture DIR FILE.svg
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.errors import InvalidValue
from agents.training import needs
from c4env.errors import C4Error

with needs("plots", __name__):
    import matplotlib as mpl
    from matplotlib.figure import Figure


def draw(progress: Path, picture: Path) -> None:
    """Draw scores and blunders by minutes.

    Raises:
        InvalidValue: not the file of a training.
        OSError: a file cannot be read or written.
    """
    try:
        heading, *lines = (line.split("\t") for line in progress.read_text().splitlines())
        rows = [dict(zip(heading, map(float, line), strict=True)) for line in lines]
        minutes = [row["minutes"] for row in rows]
        others = heading[heading.index("blunders") + 1 :]
    except (ValueError, KeyError) as error:
        raise InvalidValue(f"{progress}: expected progress.tsv of a training: {error}") from None
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env", "font.size": 8}):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        scores, blunders = figure.subplots(1, 2)
        for other, colour in zip(
            others, ("#0072b2", "#d55e00", "#566178", "#009e73"), strict=False
        ):
            scores.plot(
                minutes, [100 * row[other] for row in rows], ".-", color=colour, label=other
            )
        scores.set(ylim=(0, 100), ylabel="percent of the points against")
        scores.legend(loc="lower right")
        blunders.plot(minutes, [100 * row["blunders"] for row in rows], ".-", color="#0072b2")
        blunders.set(ylim=(0, None), ylabel="blunders, percent of the critical moves")
        for axes in (scores, blunders):
            axes.set(xlabel="minutes of training", xlim=(0, None))
            axes.grid(color="#d9dee5")
        figure.savefig(
            picture, dpi=160, metadata={"Date": None} if picture.suffix == ".svg" else None
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m agents.training.selfplay_picture")
    parser.description = __doc__
    parser.add_argument("folder", type=Path, help="of the training")
    parser.add_argument("picture", type=Path, help="what to write: .svg or .png")
    given = parser.parse_args(arguments)
    try:
        draw(given.folder / "progress.tsv", given.picture)
    except (C4Error, OSError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
