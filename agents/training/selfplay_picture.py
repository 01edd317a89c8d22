"""The curves of a training by self-play as a picture: its ``progress.tsv``, drawn with matplotlib.

python -m agents.training.selfplay_picture DIR FILE.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

from agents.errors import InvalidValue
from agents.scripts import PICTURES, needs, run

with needs("plots", __name__):
    import matplotlib as mpl
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#566178")


def draw(folder: Path, out: Path) -> None:
    """Draw scores and blunders by minutes.

    Args:
        folder: of the training.
        out: the picture to write, SVG or PNG.

    Raises:
        InvalidValue: not the file of a training.
        OSError: a file cannot be read or written.
    """
    progress = folder / "progress.tsv"
    try:
        heading, *lines = [line.split("\t") for line in progress.read_text().splitlines()] or [[]]
        rows = [[float(cell) for cell in line] for line in lines]
        curves = dict(zip(heading, zip(*rows, strict=True), strict=True))
        minutes, blunders = curves["minutes"], curves["blunders"]
    except (ValueError, KeyError) as error:
        raise InvalidValue(f"{progress}: expected progress.tsv of a training: {error}") from None
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env", "font.size": 8}):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        others = heading[heading.index("blunders") + 1 :]
        for name, colour in zip(others, COLOURS, strict=False):
            left.plot(minutes, [100 * share for share in curves[name]], ".-", c=colour, label=name)
        right.plot(minutes, [100 * share for share in blunders], ".-", c=COLOURS[0])
        left.set(ylim=(0, 100), ylabel="percent of the points, by opponent")
        left.legend(loc="lower right")
        right.set(ylim=(0, None), ylabel="blunders, percent of the critical moves")
        for axes in (left, right):
            axes.set(xlabel="minutes of training", xlim=(0, None))
            axes.grid(color="#d9dee5")
        dated = {"Date": None} if out.suffix == ".svg" else None
        figure.savefig(out, dpi=160, metadata=dated)


if __name__ == "__main__":
    sys.exit(run(draw, __doc__, endings=PICTURES))
