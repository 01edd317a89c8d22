"""Draw the strength of agents and the win table with matplotlib (``c4env[plots]``).

The figures are for print: 7 inches wide, and as high as the number of agents needs. A small line
at the top names the run. Units and colours match the page. In grey, the colours remain distinct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.errors import Unwritable
from c4env.evaluation.tables import plural, rounded, shortened, signed
from c4env.lazy import from_extra

DPI: Final = 160
WIDTH: Final = 7.0  # inches
ROW: Final = 0.2  # inches for each agent's line
BLUE: Final = "#0072b2"  # of Okabe and Ito
INK: Final = "#566178"
POINTS: Final = np.array([1, 0.5, 0])  # points of a win, a draw, a loss
STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "c4env",  # the same games give the same bytes
    "font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": "#d9dee5", "lines.linewidth": 1.4,
}  # fmt: skip


def write_plots(folder: Path, found: Mapping[str, Any]) -> list[Path]:
    """Draw every figure, and write it to a PNG, an SVG and a PDF file.

    Args:
        folder: folder of the files, made if missing.
        found: the result of :func:`c4env.evaluation.report.page.contents`.

    Returns:
        the files, three for each figure.

    Raises:
        MissingExtra: matplotlib is not installed.
        Unwritable: the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures(found):
            for ending, date in (("png", None), ("svg", "Date"), ("pdf", "CreationDate")):
                path = folder / f"{name}.{ending}"
                figure.savefig(path, dpi=DPI, metadata=date and {date: None})
                written.append(path)
    except OSError as error:
        raise Unwritable(f"{folder} cannot be written: {error.strerror or error}") from None
    return written


def figures(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name of each figure, and the figure.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with from_extra("plots", "figures need matplotlib"):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    for name, draw in FIGURES.items():
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(WIDTH, 3.6), dpi=DPI, layout="constrained")
            games = plural(len(found["games"]), "game")
            run = f"{shortened(found['title'], 40)}: {games}, digest {found['digest']}"
            figure.suptitle(run, x=0.01, ha="left", size=7, color=INK)
            draw(figure, found)
            yield name, figure


def win_table(figure: Any, found: Mapping[str, Any]) -> None:
    """Draw the win table: percent of the points that the row's agent scores moving first."""
    from matplotlib.colors import LinearSegmentedColormap

    names = _numbered(found)
    cells = np.array(found["cells"], np.float64)
    with np.errstate(invalid="ignore"):
        shares = cells @ POINTS / cells.sum(-1)
    figure.set_size_inches(WIDTH, 0.8 + ROW * len(names))
    axes = figure.add_subplot()
    image = axes.imshow(
        shares,
        cmap=LinearSegmentedColormap.from_list("shares", ["#e8904d", "#ffffff", "#5aa5d2"]),
        vmin=0, vmax=1, aspect="auto",
    )  # fmt: skip
    for i, j in np.argwhere(~np.isnan(shares)).tolist():
        axes.text(j, i, rounded(100 * shares[i, j], ".0f"), ha="center", va="center", size=6.5)
    axes.set_xticks(range(len(names)), [str(i + 1) for i in range(len(names))])
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("percent of the points, moving first (rows) against second (columns)")
    bar = figure.colorbar(image, ax=axes, format=lambda x, _: f"{100 * x:.0f}", aspect=30)
    bar.outline.set_visible(False)


def strength(figure: Any, found: Mapping[str, Any]) -> None:
    """Draw the Elo of each agent with its interval."""
    axes = _rows(figure, found)
    values, low, high = np.array([rating[:3] for rating in found["ratings"]]).T
    errors = [values - low, high - values]
    axes.errorbar(values, range(len(values)), xerr=errors, fmt="o", color=BLUE, markersize=4)
    axes.xaxis.set_major_formatter(_signed)
    axes.set_xlabel("Elo, 95 % interval")


def _signed(x: float, _: int) -> str:
    return signed(x).replace("-", "\N{MINUS SIGN}")


FIGURES: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], None]]] = {
    "win-table": win_table,
    "strength": strength,
}
"""Drawing functions by file name."""


def _rows(figure: Any, found: Mapping[str, Any]) -> Any:
    """Make axes with a row for each agent, the strongest on top."""
    names = _numbered(found)
    figure.set_size_inches(WIDTH, 0.8 + ROW * len(names))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    return axes


def _numbered(found: Mapping[str, Any]) -> list[str]:
    return [f"{name}  {i}" for i, name in enumerate(found["labels"], start=1)]
