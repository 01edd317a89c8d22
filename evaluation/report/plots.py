"""The figures of a run as files, PNG and SVG, drawn with matplotlib (``c4env[plots]``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from c4env.errors import MissingExtra
from evaluation.errors import UnwritableRun

DPI: Final = 160


def write_plots(folder: Path, found: Mapping[str, Any]) -> list[Path]:
    """Draw every figure there is something to show in.

    Args:
        folder: made when missing.
        found: as :func:`evaluation.report.page.contents` gives it.

    Returns:
        the files, two a figure.

    Raises:
        MissingExtra: matplotlib is not installed.
        UnwritableRun: the folder cannot be written.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("figures need matplotlib: pip install 'c4env[plots]'") from None
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Texts stay texts in an SVG, and two runs of the same games write the same bytes.
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env"}):
            for name, draw in FIGURES.items():
                figure = Figure(figsize=(7, 4.5), layout="constrained")
                if not draw(figure, found):
                    continue
                for ending in ("png", "svg"):
                    path = folder / f"{name}.{ending}"
                    metadata = {"Date": None} if ending == "svg" else None
                    figure.savefig(path, dpi=DPI, metadata=metadata)
                    written.append(path)
    except OSError as error:
        raise UnwritableRun(f"{folder} cannot be written: {error.strerror or error}") from None
    return written


def win_table(figure: Any, found: Mapping[str, Any]) -> bool:
    """Share of the points of each first player (rows) against each second."""
    players = found["players"]
    shares = [[_share(cell) for cell in row] for row in found["cells"]]
    axes = figure.add_subplot()
    image = axes.imshow(
        [[float("nan") if s is None else s for s in row] for row in shares],
        cmap="RdYlGn", vmin=0, vmax=1, aspect="auto",
    )  # fmt: skip
    for i, row in enumerate(shares):
        for j, share in enumerate(row):
            if share is not None:
                axes.text(j, i, f"{share:.0%}", ha="center", va="center", color="black", size=8)
    axes.set_xticks(range(len(players)), players, rotation=40, ha="right")
    axes.set_yticks(range(len(players)), players)
    axes.set(title="Score moving first (rows) against second (columns)")
    figure.colorbar(image, ax=axes, format=lambda x, _: f"{x:.0%}")
    return True


def elo(figure: Any, found: Mapping[str, Any]) -> bool:
    """Elo of each agent with its interval."""
    axes = figure.add_subplot()
    places = range(len(found["players"]))
    values = [r[0] for r in found["ratings"]]
    low = [r[0] - r[1] for r in found["ratings"]]
    high = [r[2] - r[0] for r in found["ratings"]]
    axes.errorbar(values, places, xerr=[low, high], fmt="o", capsize=3)
    axes.set_yticks(places, found["players"])
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set(xlabel="Elo", title="Spread over openings" if found["exact"] else "95 % intervals")
    return True


def cost(figure: Any, found: Mapping[str, Any]) -> bool:
    """Elo against seconds a move, or nodes where no time was kept."""
    unit = 1 if any(c[1] > 0 for c in found["cost"]) else 0
    shown = [i for i, c in enumerate(found["cost"]) if c[unit] > 0]
    if not shown:
        return False
    axes = figure.add_subplot()
    for i in shown:
        point = found["cost"][i][unit], found["ratings"][i][0]
        axes.plot(*point, "o")
        axes.annotate(found["players"][i], point, xytext=(6, 4), textcoords="offset points", size=8)
    axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.grid(alpha=0.3)
    axes.set(xlabel=("nodes", "seconds")[unit] + " a move", ylabel="Elo", title="Strength and cost")
    return True


def blunders(figure: Any, found: Mapping[str, Any]) -> bool:
    """Blunders per critical move along the game."""
    if found["quality"] is None:
        return False
    axes = figure.add_subplot()
    for i, player in enumerate(found["players"]):
        rows = [r for r in found["quality"]["by_ply"] if r[0] == i and r[4] is not None]
        if rows:
            middles = [(r[1] + r[2] + 1) / 2 for r in rows]
            axes.plot(middles, [r[4] for r in rows], "o-", label=player, markersize=4)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    axes.set(xlabel="discs on the board", title="Blunders per critical move")
    return True


def first_move(figure: Any, found: Mapping[str, Any]) -> bool:
    """Score of each agent moving first, and moving second."""
    players, cells = found["players"], found["cells"]
    axes = figure.add_subplot()
    for offset, label in ((-0.2, "moving first"), (0.2, "moving second")):
        first = label == "moving first"
        for i in range(len(players)):
            others = [j for j in range(len(players)) if j != i]
            sums = [cells[i][j] if first else cells[j][i][::-1] for j in others]
            share = _share([sum(column) for column in zip(*sums, strict=True)])
            axes.barh(
                i + offset, share or 0.0, 0.38,
                color="tab:red" if first else "gold", label=None if i else label,
            )  # fmt: skip
    axes.set_yticks(range(len(players)), players)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.legend(fontsize=8)
    axes.set(xlabel="share of the points", title=f"First move: {found['first_move'][0]:+.0f} Elo")
    return True


FIGURES: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], bool]]] = {
    "win-table": win_table,
    "elo": elo,
    "strength-and-cost": cost,
    "blunders": blunders,
    "first-move": first_move,
}
"""What is drawn, by file name; each tells whether there was anything to draw."""


def _share(cell: Any) -> float | None:
    wins, draws, losses = cell
    games = wins + draws + losses
    return (wins + draws / 2) / games if games else None
