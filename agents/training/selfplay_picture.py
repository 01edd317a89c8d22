"""The curves of trainings by self-play as a picture: ``progress.tsv`` drawn with matplotlib.

    python -m c4env.agents.training.selfplay_picture DIR FILE.svg

DIR is the folder of a training, or one with the folders of several, which are drawn in one picture.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np

from c4env.agents.errors import InvalidValue
from c4env.agents.training.command_line import PICTURES, needs, run
from c4env.arrays import Float64s

with needs("plots", __name__):
    import matplotlib as mpl
    from matplotlib.figure import Figure

PROGRESS: Final = "progress.tsv"
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#566178")


def draw(folder: Path, out: Path) -> None:
    """Draw scores and blunders by minutes.

    Args:
        folder: of the training, or of the folders of several.
        out: the picture to write, SVG or PNG.

    Raises:
        InvalidValue: not the file of a training.
        OSError: a file cannot be read or written.
    """
    own = folder / PROGRESS
    files = [own] if own.exists() else sorted(folder.glob(f"*/{PROGRESS}")) or [own]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env", "font.size": 8}):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, file in enumerate(files):
            curves = read(file)
            minutes, blunders = curves.pop("minutes"), curves.pop("blunders")
            for (name, shares), colour in zip(curves.items(), COLOURS, strict=False):
                label = None if number else name
                left.plot(minutes, 100 * shares, ".-", c=colour, lw=1, ms=4, label=label)
            label = file.parent.name if len(files) > 1 else None
            colour = COLOURS[number % len(COLOURS)]
            right.plot(minutes, 100 * blunders, ".-", c=colour, lw=1, ms=4, label=label)
        left.set(ylim=(0, 100), ylabel="percent of the points, by opponent")
        left.legend(loc="lower right")
        if len(files) > 1:
            right.legend(loc="upper right")
        right.set(ylim=(0, None), ylabel="blunders, percent of the critical moves")
        for axes in (left, right):
            axes.set(xlabel="minutes of training", xlim=(0, None))
            axes.grid(color="#d9dee5")
        dated = {"Date": None} if out.suffix == ".svg" else None
        figure.savefig(out, dpi=160, metadata=dated)


def read(file: Path) -> dict[str, Float64s]:
    """By name the judged figures of a training: minutes, blunders, then the score by opponent.

    Raises:
        InvalidValue: not the file of a training.
        OSError: it cannot be read.
    """
    try:
        heading, *lines = [line.split("\t") for line in file.read_text().splitlines()] or [[]]
        columns = np.array(lines, np.float64).T
        curves = dict(zip(heading, columns, strict=True))
        return {name: curves[name] for name in ("minutes", *heading[heading.index("blunders") :])}
    except (ValueError, KeyError) as error:
        raise InvalidValue(f"{file}: expected {PROGRESS} of a training: {error}") from None


if __name__ == "__main__":
    sys.exit(run(draw, __doc__, endings=PICTURES))
