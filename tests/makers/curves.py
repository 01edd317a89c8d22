"""Draw blunders by processor minutes of trainings: python -m tests.makers curves FILE.tsv OUT.svg.

A line of the file has a training's name, its processor minutes, and the percentages of blunders on
the exam and on critical positions: columns ``training``, ``minutes``, ``exam``, ``critical``.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from c4env.evaluation.errors import UnreadableRun

FILE: Final = Path(__file__).parents[1] / "data" / "beside_pgx.tsv"
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#566178")
JUDGES: Final = {"exam": "the exam", "critical": "critical positions"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help=f"such as {FILE.name}")
    parser.add_argument("out", type=Path, metavar="OUT", help="the picture, SVG or PNG")


def read(file: Path) -> dict[str, list[tuple[float, ...]]]:
    """By training, the minutes and percentages of each line, the percentages as in JUDGES."""
    found: dict[str, list[tuple[float, ...]]] = {}
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                numbers = tuple(float(row[name]) for name in ("minutes", *JUDGES))
                found.setdefault(row["training"], []).append(numbers)
    except (OSError, KeyError, TypeError, ValueError) as error:
        names = ", ".join(("training", "minutes", *JUDGES))
        raise UnreadableRun(f"{file}: {error!r}: expected a table of {names}") from error
    return found


def execute(arguments: argparse.Namespace) -> None:
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env", "font.size": 8}):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        for number, axes in enumerate(figure.subplots(1, 2, sharey=True), start=1):
            for (name, rows), colour in zip(read(arguments.file).items(), COLOURS, strict=False):
                columns = list(zip(*rows, strict=True))
                axes.plot(columns[0], columns[number], ".-", c=colour, lw=1, ms=4, label=name)
            axes.set(xlabel="processor minutes of training", xlim=(0, None), ylim=(0, None))
            axes.set_title(list(JUDGES.values())[number - 1], fontsize=8)
            axes.grid(color="#d9dee5")
        figure.axes[0].set_ylabel("blunders, percent of the critical moves")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        dated = {"Date": None} if arguments.out.suffix == ".svg" else None
        figure.savefig(arguments.out, dpi=160, metadata=dated)
