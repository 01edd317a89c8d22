"""The figures of a run as PNG and SVG files, drawn with matplotlib (``c4env[plots]``).

The figures are for print: 7 inches wide, and as high as the number of agents needs. A small line
at the top names the run. Units and colours match the page. In grey, the colours remain distinct.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.evaluation.errors import UnwritableRun
from c4env.evaluation.tables import plural, rounded, shortened, signed
from c4env.lazy import from_extra

DPI: Final = 160
WIDTH: Final = 7.0  # inches
ROW: Final = 0.2  # inches for each agent's line
BLUE: Final = "#0072b2"  # moving first, more than half; blue and vermilion of Okabe and Ito
VERMILION: Final = "#d55e00"  # moving second, less than half, bounds
OTHERS: Final = "#c9d0da"
INK: Final = "#566178"
PERCENT: Final = "{x:.0f}%"  # numbers along an axis
POINTS: Final = np.array([1, 0.5, 0])  # points of a win, a draw, a loss
STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "c4env",  # the same games give the same bytes
    "font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": "#d9dee5", "lines.linewidth": 1.4,
}  # fmt: skip


def write_plots(folder: Path, found: Mapping[str, Any]) -> list[Path]:
    """Draw every figure that has data, and write it to a PNG and an SVG file.

    Args:
        folder: folder of the files, made if missing.
        found: the result of :func:`c4env.evaluation.report.page.contents`.

    Returns:
        the files, two for each figure.

    Raises:
        MissingExtra: matplotlib is not installed.
        UnwritableRun: the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures(found):
            for ending in ("png", "svg"):
                path = folder / f"{name}.{ending}"
                metadata = {"Date": None} if ending == "svg" else None
                figure.savefig(path, dpi=DPI, metadata=metadata)
                written.append(path)
    except OSError as error:
        raise UnwritableRun(f"{folder} cannot be written: {error.strerror or error}") from None
    return written


def figures(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and matplotlib figure of each figure that has data.

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
            if draw(figure, found):
                yield name, figure


def win_table(figure: Any, found: Mapping[str, Any]) -> bool:
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
    return True


def elo(figure: Any, found: Mapping[str, Any]) -> bool:
    """Draw the Elo of each agent with its interval."""
    axes = _rows(figure, found)
    values, low, high = np.array([rating[:3] for rating in found["ratings"]]).T
    errors = [values - low, high - values]
    axes.errorbar(values, range(len(values)), xerr=errors, fmt="o", color=BLUE, markersize=4)
    axes.xaxis.set_major_formatter(_signed)
    axes.set_xlabel("Elo, spread over openings" if found["exact"] else "Elo, 95 % interval")
    return True


def first_move(figure: Any, found: Mapping[str, Any]) -> bool:
    """Draw the score of each agent moving first and moving second."""
    cells = np.array(found["cells"], np.float64)
    cells[np.diag_indices(len(cells))] = 0  # an agent against itself moves first and second
    with np.errstate(invalid="ignore"):
        first = 100 * (cells.sum(1) @ POINTS) / cells.sum((1, 2))
        second = 100 * (cells.sum(0) @ POINTS[::-1]) / cells.sum((0, 2))
    axes, players = _rows(figure, found), range(len(cells))
    axes.plot([first, second], [players, players], color=OTHERS)
    axes.plot(first, players, "o", color=BLUE, label="moving first", markersize=4, zorder=3)
    axes.plot(second, players, "s", color=VERMILION, label="moving second", markersize=4)
    axes.set_xlim(-3, 103)
    axes.xaxis.set_major_formatter(PERCENT)
    axes.set_xlabel("share of the points")
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    return True


def cost(figure: Any, found: Mapping[str, Any]) -> bool:
    """Draw Elo against seconds per move, or against nodes per move if there are no times."""
    unit = 1 if any(c[1] > 0 for c in found["cost"]) else 0
    shown = [i for i, c in enumerate(found["cost"]) if c[unit] > 0]
    if not shown:
        return False
    figure.set_size_inches(WIDTH, max(3.6, 1.6 + 0.16 * len(shown)))
    axes = figure.add_subplot()
    points = [(found["cost"][i][unit], found["ratings"][i][0]) for i in shown]
    axes.set_xscale("log")
    axes.plot(*zip(*points, strict=True), "o", color=BLUE, markersize=4)
    low, high = (round_(math.log10(pick(p[0] for p in points))) for pick, round_ in _ENDS)
    axes.set_xlim(10.0**low, 10.0 ** max(high, low + 1))
    axes.margins(y=0.08)
    axes.grid()
    axes.xaxis.set_major_formatter(lambda x, _: _quantity(x, unit == 1))
    axes.yaxis.set_major_formatter(_signed)
    axes.set(xlabel=("nodes", "seconds")[unit] + " a move", ylabel="Elo")
    _name_points(figure, axes, points, [found["labels"][i] for i in shown])
    return True


def _signed(x: float, _: int) -> str:
    return signed(x).replace("-", "\N{MINUS SIGN}")


def _quantity(x: float, seconds: bool) -> str:
    """Format a power of ten as a number of nodes (10k) or a time (10 ms)."""
    power, units = round(math.log10(x)), ("µs", "ms", "s") if seconds else ("", "k", "M")
    step = min(max((power + 6 * seconds) // 3, 0), 2)
    return f"{10 ** (power + 6 * seconds - 3 * step)}{' ' * seconds}{units[step]}"


_ENDS: Final[Any] = ((min, math.floor), (max, math.ceil))  # of an axis of whole decades


def blunders(figure: Any, found: Mapping[str, Any]) -> bool:
    """Draw blunders per critical move by ply, with a panel for each agent.

    Each panel shows the other agents in grey. Points with few moves are hollow.
    """
    if found["quality"] is None:
        return False
    quality, players = found["quality"], range(len(found["players"]))
    curves = [
        [((r[1] + r[2] + 1) / 2, 100 * r[4], r[3]) for r in quality["by_ply"] if r[0] == i]
        for i in players
    ]
    across = min(len(curves), 4)
    names = _numbered(found)
    down = -(-len(names) // across)
    figure.set_size_inches(WIDTH, 0.5 + (2.2 if across < 4 else 1.15) * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for i, axes in enumerate(grid.flat):
        axes.set_visible(i < len(names))
        if i >= len(names):
            continue
        for curve in curves:
            axes.plot([p[0] for p in curve], [p[1] for p in curve], color=OTHERS, linewidth=0.7)
        axes.plot([p[0] for p in curves[i]], [p[1] for p in curves[i]], color=BLUE)
        if curves[i]:
            x, y, moves = zip(*curves[i], strict=True)
            fill = ["white" if n < quality["few"] else BLUE for n in moves]  # hollow: few moves
            axes.scatter(x, y, s=7, color=fill, edgecolors=BLUE, linewidths=0.8, zorder=3)
        axes.set_title(names[i], size=7, loc="left", pad=3)
        axes.set_ylim(-3 * quality["top"], 103 * quality["top"])
        axes.set_yticks([0, 50 * quality["top"], 100 * quality["top"]])
        axes.yaxis.set_major_formatter(PERCENT)
        axes.set_xticks([0, 14, 28, 42])
        axes.tick_params(labelbottom=i + across >= len(names))
        axes.grid(axis="y")
    figure.supxlabel("discs on the board", size=8)
    figure.supylabel("blunders, share of the critical moves", size=8)
    return True


def course(figure: Any, found: Mapping[str, Any]) -> bool:
    """Draw the log likelihood ratio of a match after each pair of games, and the test's bounds."""
    if found["course"] is None:
        return False
    test = found["course"]
    axes = figure.add_subplot()
    for bound, hypothesis in zip(test["bounds"], test["hypotheses"], strict=True):
        axes.axhline(bound, color=VERMILION, linestyle="--", linewidth=1)
        above = bound > 0
        axes.annotate(
            hypothesis, (0, bound), (4, 4 if above else -4),
            va="bottom" if above else "top",
            xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
    axes.plot(range(len(test["llr"]) + 1), [0, *test["llr"]], color=BLUE)
    axes.margins(y=0.12)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="pairs of games", ylabel="log likelihood ratio")
    return True


FIGURES: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], bool]]] = {
    "win-table": win_table,
    "elo": elo,
    "strength-and-cost": cost,
    "blunders": blunders,
    "first-move": first_move,
    "course": course,
}
"""Drawing functions by file name; each returns whether there was data to draw."""


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


def _name_points(
    figure: Any, axes: Any, points: list[tuple[float, float]], names: list[str]
) -> None:
    """Write each name as near to its point as possible without covering points or names."""
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()  # computes the layout
    figure.set_layout_engine("none")
    inside, point = axes.get_window_extent(), figure.dpi / 72
    dots = axes.transData.transform(points)
    taken = [
        Bbox([[x - 3 * point, y - 3 * point], [x + 3 * point, y + 3 * point]]) for x, y in dots
    ]
    for name, place, (x, y) in zip(names, points, dots, strict=True):
        label = axes.annotate(name, place, (0, 0), textcoords="offset points", size=7, va="center")
        size = label.get_window_extent()
        wide, high = size.width / point, size.height / point
        for dx, dy in _around(wide, high):
            left, middle = x + dx * point, y + dy * point
            box = Bbox.from_bounds(left, middle - size.height / 2, size.width, size.height)
            if not (inside.fully_contains(*box.min) and inside.fully_contains(*box.max)):
                continue
            if box.count_overlaps(taken):
                continue
            label.set_position((dx, dy))
            taken.append(box)
            if max(abs(dy), max(dx, -dx - wide)) > 10:  # too far away: draw a line to the point
                end = min(max(0, dx), dx + wide), dy - (high / 2 if dy > 0 else -high / 2)
                axes.annotate(
                    "", place, end, textcoords="offset points",
                    arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.5, "shrinkA": 0},
                )  # fmt: skip
            break
        else:
            label.remove()


_DIRECTIONS: Final = (
    (1, 0), (-1, 0), (0.7, 0.7), (0.7, -0.7), (-0.7, 0.7), (-0.7, -0.7), (0, 1), (0, -1),
)  # fmt: skip


def _around(wide: float, high: float) -> Iterator[tuple[float, float]]:
    """Yield offsets from a data point to the left end of its name, in 1/72 inch, nearest first."""
    for away in range(5, 80, 5):
        for dx, dy in _DIRECTIONS:
            left = dx * away - (wide if dx < 0 else wide / 2 if dx == 0 else 0)
            yield left, dy * (away + high / 2)
