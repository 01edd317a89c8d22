"""Draw the strength of agents, the win table and a training's curve with matplotlib.

The figures are for print: 7 inches wide, and as high as the number of agents needs. A small line
at the top names the run. Units and colours match the page. In grey, the colours remain distinct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.errors import Unwritable
from c4env.evaluation.tables import plural, rounded, shortened, signed
from c4env.files import write_whole
from c4env.geometry import require_standard
from c4env.lazy import from_extra

require_standard(__name__)

if TYPE_CHECKING:
    from c4env.evaluation.results.training_curve import Strength

DPI: Final = 160
WIDTH: Final = 7.0  # inches
ROW: Final = 0.2  # inches for each agent's line
BLUE: Final = "#0072b2"  # of Okabe and Ito
LABEL: Final = 28  # the most characters of a name
INK: Final = "#566178"
STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "c4env",  # the same games give the same bytes
    "font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": "#d9dee5", "lines.linewidth": 1.4,
}  # fmt: skip

Figures = Iterator[tuple[str, Any]]
"""Names of files without an ending, and figures."""


def write_plots(folder: Path, figures: Figures) -> list[Path]:
    """Write each figure to a PNG, an SVG and a PDF file.

    Args:
        folder: folder of the files, made if missing.
        figures: the figures.

    Returns:
        the files, three for each figure.

    Raises:
        MissingExtra: matplotlib is not installed.
        Unwritable: the folder or a file cannot be written.
    """
    mpl, _ = _matplotlib()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{folder} cannot be made: {error.strerror or error}") from None
    written = []
    for name, figure in figures:
        for form, date in (("png", None), ("svg", "Date"), ("pdf", "CreationDate")):
            path = folder / f"{name}.{form}"
            options = {"format": form, "dpi": DPI, "metadata": date and {date: None}}
            with mpl.rc_context(STYLE):
                write_whole(path, partial(figure.savefig, **options))
            written.append(path)
    return written


def run_figures(content: Mapping[str, Any]) -> Figures:
    """Draw the figures of a run.

    Args:
        content: the result of :func:`c4env.evaluation.report.page.contents`.
    """
    games = plural(len(content["games"]["moves"]), "game")
    about = f"{shortened(content['title'], 40)}: {games}, digest {content['digest']}"
    for name, draw in FIGURES.items():
        yield name, _figure(about, draw, content)


def training_figures(title: str, curve: Sequence[Strength]) -> Figures:
    """Draw the Elo and the accuracy of a model along its training.

    Args:
        title: the name of the training.
        curve: its measurements.
    """
    about = f"{shortened(title, 40)}: {plural(len(curve), 'measurement')}"
    yield "training", _figure(about, draw_training, curve)


def _matplotlib() -> tuple[Any, Any]:
    """Import matplotlib; return it and its class of figures."""
    with from_extra("plots", "figures need matplotlib"):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    return mpl, Figure


def _figure(about: str, draw: Callable[[Any, Any], None], content: Any) -> Any:
    mpl, figure_class = _matplotlib()
    with mpl.rc_context(STYLE):
        figure = figure_class(figsize=(WIDTH, 3.6), dpi=DPI, layout="constrained")
        figure.suptitle(about, x=0.01, ha="left", size=7, color=INK, parse_math=False)
        draw(figure, content)
    return figure


def draw_win_table(figure: Any, content: Mapping[str, Any]) -> None:
    """Draw the win table: percent of the points that the row's agent scores moving first."""
    from matplotlib.colors import LinearSegmentedColormap

    names, pairs = _numbered(content), content["pairs"]
    shares = np.full((len(names), len(names)), np.nan)
    shares[pairs["first"], pairs["second"]] = pairs["score"]
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
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("percent of the points, moving first (rows) against second (columns)")
    bar = figure.colorbar(image, ax=axes, format=lambda x, _: f"{100 * x:.0f}", aspect=30)
    bar.outline.set_visible(False)


def draw_strength(figure: Any, content: Mapping[str, Any]) -> None:
    """Draw the Elo of each agent with its interval."""
    axes = _rows(figure, content)
    rows = [[row[name] for name in ("Elo", "Elo_low", "Elo_high")] for row in content["standings"]]
    values, low, high = np.array(rows).T
    errors = [values - low, high - values]
    axes.errorbar(values, range(len(values)), xerr=errors, fmt="o", color=BLUE, markersize=4)
    axes.xaxis.set_major_formatter(_signed)
    axes.set_xlabel("Elo, 95 % interval")


def draw_training(figure: Any, curve: Sequence[Strength]) -> None:
    """Draw Elo with its interval above the accuracy, by training step."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    steps, elo, low, high, accuracy = (
        np.array([getattr(point, name) for point in curve])
        for name in ("step", "elo", "low", "high", "accuracy")
    )
    above.fill_between(steps, low, high, color=BLUE, alpha=0.15, linewidth=0)
    above.plot(steps, elo, color=BLUE, marker="o", markersize=3)
    above.yaxis.set_major_formatter(_signed)
    above.set_ylabel("Elo, 95 % interval")
    below.plot(steps, 100 * accuracy, color=BLUE, marker="o", markersize=3)
    below.set_ylim(top=100)
    below.set_ylabel("accuracy, %")
    below.set_xlabel("step")
    below.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    for axes in (above, below):
        axes.grid(axis="y")


def _signed(x: float, _: int) -> str:
    return signed(x).replace("-", "\N{MINUS SIGN}")


def _rows(figure: Any, content: Mapping[str, Any]) -> Any:
    """Make axes with a row for each agent, the strongest on top."""
    names = _numbered(content)
    figure.set_size_inches(WIDTH, 0.8 + ROW * len(names))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    return axes


def _numbered(content: Mapping[str, Any]) -> list[str]:
    names = [shortened(row["agent"], LABEL) for row in content["standings"]]
    return [f"{name}  {i}" for i, name in enumerate(names, start=1)]


FIGURES: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], None]]] = {
    "win-table": draw_win_table,
    "strength": draw_strength,
}
"""Drawing functions of a run by file name."""
