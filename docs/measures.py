"""The figures of the page on what you can measure: python -m docs.measures .github/pictures.

Answers of built-in agents to the exam, the page's table of exact rewards, and probes of networks
that this script trains. They take little more than a minute of processor time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env import evaluation
from c4env.evaluation.exact.data import Data
from c4env.evaluation.exact.moves import JudgedMove, Quality
from c4env.files import write_whole
from c4env.rules import sign
from docs.drawings import BLUE, FAINT, GREY, LOSS, ROOT, WIN, dot, line, sheet, words

AMBER: Final = "#9a6a00"
AGENTS: Final = ("random", "greedy", "alphabeta-window", "mcts", "learned")
COLOURS: Final = (GREY, LOSS, AMBER, BLUE, WIN)
BINS: Final = (*((ply, ply + 3) for ply in range(4, 32, 4)), (32, 36))  # plies of a point
CONCEPTS: Final = {
    "mine_odd": "own threat in an odd row",
    "mine_even": "own threat in an even row",
    "theirs_odd": "the other's threat in an odd row",
    "theirs_even": "the other's threat in an even row",
    "theirs_now": "the other wins with the next disc",
}
POSITIONS, PLIES = 24_000, range(20, 33)  # of the probes
SEEDS, UNITS, EPOCHS, BATCH, RATE = 5, 256, 8, 128, 1e-3

Floats = NDArray[np.float32]


def main(folder: Path) -> None:
    """Write the figures into a folder."""
    judged = evaluation.quality(AGENTS)
    figures = {
        "blunders": blunders(judged),
        "rewards": rewards(),
        "regret": regret(judged),
        "probe": probe(),
    }
    for name, text in figures.items():
        write_whole(folder / f"{name}.svg", text)


def blunders(judged: Quality) -> str:
    """The share of the exam's positions in which agents blunder, by ply."""

    def place(bin_: int, share: float) -> tuple[float, float]:
        return 78 + 56 * bin_, 236 - 290 * share

    parts = [line(50, 236, 476, 236), line(50, 24, 50, 236)]
    for share in (0, 0.2, 0.4, 0.6):
        y = place(0, share)[1]
        parts.append(words(44, y + 4, percent(share), size=12, text_anchor="end"))
        parts.append(line(50, y, 476, y, FAINT, 0.4))
    for number, (first, last) in enumerate(BINS):
        x, shown = place(number, 0)[0], f"{first}-{last}"
        parts.append(words(x, 254, shown, size=12, text_anchor="middle"))
    for agent, colour in zip(AGENTS, COLOURS, strict=True):
        slices = [judged.slice(agent, plies=plies) for plies in BINS]
        shares = [part.blunders / part.critical for part in slices]
        points = [place(number, share) for number, share in enumerate(shares)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [dot(x, y, colour, 3) for x, y in points]
        x, y = points[4] if agent == "mcts" else points[-1]  # the last points of two agents are one
        parts.append(words(x + 10, y + (4 if agent != "mcts" else -4), agent, fill=colour))
    parts.append(words(50, 14, "blunders in the exam's positions", size=12))
    parts.append(words(274, 274, "discs on the board", size=12, text_anchor="middle"))
    return sheet(590, 282, "Blunder rate in the exam by the number of discs", parts)


def rewards() -> str:
    """The accuracy after training with either reward, from the table of the page."""
    text = (ROOT / "docs" / "guides" / "language-models.md").read_text(encoding="utf-8")
    row = r"^\| {} \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|"
    untrained = re.search(r"^\| none, untrained \| ([\d.]+) % \|", text, re.M)
    assert untrained is not None

    def x_of(share: str) -> float:
        return 190 + 21 * (float(share) - 36)

    parts = []
    for share in ("36", "40", "44", "48", "52"):
        parts.append(line(x_of(share), 14, x_of(share), 112, FAINT, 0.5))
        shown = f"{share} %"
        parts.append(words(x_of(share), 128, shown, size=12, text_anchor="middle"))
    parts += [words(4, 34, "untrained"), dot(x_of(untrained[1]), 30, GREY, 5)]
    for number, (name, colour) in enumerate(
        (("result of the game", BLUE), ("exact, for each move", WIN))
    ):
        found, y = re.search(row.format(name), text, re.M), 62 + 32 * number
        assert found is not None, name
        *seeds, mean = found.groups()
        parts.append(words(4, y + 4, name, fill=colour))
        parts += [dot(x_of(share), y, colour, 5) for share in seeds]
        parts.append(line(x_of(mean), y - 11, x_of(mean), y + 11, colour, 2))
    shown = "accuracy in the exam: a dot per seed, a bar at the mean"
    parts.append(words(358, 148, shown, size=12, text_anchor="middle"))
    return sheet(560, 156, "Accuracy in the exam after training with either reward", parts)


def regret(judged: Quality) -> str:
    """The points that agents give away per position of the exam, by the kind of the change."""
    kinds = {(1, -1): ("win to loss", LOSS), (1, 0): ("win to draw", AMBER)}
    kinds |= {(0, -1): ("draw to loss", BLUE)}
    parts, left = [], 150.0
    for name, colour in kinds.values():
        parts.append(f'<rect x="{left:g}" y="4" width="12" height="12" fill="{colour}"/>')
        parts.append(words(left + 18, 15, name, fill=colour))
        left += 130
    for number, agent in enumerate(AGENTS):
        moves = [move for move in judged.moves if move.player == agent]
        x, y, total = 150.0, 30 + 28 * number, 0.0
        for (before, after), (_, colour) in kinds.items():
            count = sum(results(move) == (before, after) for move in moves)
            points = count * (before - after) / 2 / len(moves)
            place = f'x="{x:.1f}" y="{y}" width="{700 * points:.1f}" height="18"'
            parts.append(f'<rect {place} fill="{colour}"/>')
            x, total = x + 700 * points, total + points
        parts.append(words(4, y + 14, agent))
        parts.append(words(x + 6, y + 14, f"{total:.3f}"))
    shown = "points given away per position of the exam; a game has one point"
    parts.append(words(150, 186, shown, size=12))
    return sheet(530, 194, "Points given away per position of the exam", parts)


def results(move: JudgedMove) -> tuple[int, int]:
    """The results, 1, 0 or -1, of the best column and of the played column."""
    return sign(move.best), sign(move.best - move.loss)


def percent(share: float) -> str:
    """A share as the pages write it."""
    return f"{100 * share:.0f} %"


# -- probes -------------------------------------------------------------------------


class Net(NamedTuple):
    """A network with one hidden layer, which predicts the result from the discs."""

    into: Floats  # [84, UNITS]
    bias: Floats  # [UNITS]
    out: Floats  # [UNITS, 3]

    def hidden(self, seen: Floats) -> Floats:
        """Return the activations ``[N, UNITS]`` of observations ``[N, 84]``."""
        hidden: Floats = np.maximum(seen @ self.into + self.bias, 0)
        return hidden


def probe() -> str:
    """How well a linear probe reads threats, from the discs and from hidden layers: means."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "probe.npz")
        data = evaluation.data(file, POSITIONS, PLIES, seed=1, sets=["zoo"])
    seen, train = data.observations("flat", "float32"), data.split == "train"
    concepts = data.concepts()
    labels = [getattr(concepts, name) != 0 for name in CONCEPTS]
    found = []  # per seed, concept and input
    for seed in range(SEEDS):
        chance = np.random.default_rng(seed)
        scales = ((84, UNITS), (2 / 84) ** 0.5), ((UNITS, 3), (1 / UNITS) ** 0.5)
        into, out = (chance.normal(0, s, shape).astype(np.float32) for shape, s in scales)
        fresh = Net(into, np.zeros(UNITS, np.float32), out)
        taught = taught_results(fresh, seen[train], data[train], chance)
        inputs = seen, fresh.hidden(seen), taught.hidden(seen)
        found.append(
            [[balanced_accuracy(units, label, train) for units in inputs] for label in labels]
        )
        print(np.round(found[-1], 3).tolist())
    names = "the discs", "the hidden layer, untrained", "the hidden layer, trained on results"
    colours = GREY, BLUE, WIN

    def x_of(share: float) -> float:
        return 240 + 1200 * (share - 0.6)

    parts = []
    for share in (0.6, 0.65, 0.7, 0.75, 0.8):
        parts.append(line(x_of(share), 24, x_of(share), 174, FAINT, 0.5))
        shown = percent(share)
        parts.append(words(x_of(share), 190, shown, size=12, text_anchor="middle"))
    for left, name, colour in zip((4, 110, 330), names, colours, strict=True):
        parts += [dot(left + 6, 11, colour, 5), words(left + 16, 15, name, fill=colour)]
    means = np.mean(found, axis=0)
    for number, told in enumerate(CONCEPTS.values()):
        y = 42 + 28 * number
        parts.append(words(4, y + 4, told))
        parts += [
            dot(x_of(share), y, colour, 5)
            for share, colour in zip(means[number], colours, strict=True)
        ]
    shown = f"balanced accuracy in new positions, mean of {SEEDS} networks; guessing gives 50 %"
    parts.append(words(4, 210, shown, size=12))
    return sheet(560, 218, "What a linear probe reads from a network", parts)


def taught_results(net: Net, seen: Floats, data: Data, chance: np.random.Generator) -> Net:
    """Return the network after ``EPOCHS`` of Adam on win, draw and loss."""
    weights = [array.copy() for array in net]
    results = np.sign(data.score).astype(int) + 1
    means, squares = ([np.zeros_like(array) for array in weights] for _ in range(2))
    step = 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(seen))
        for start in range(0, len(seen) - BATCH + 1, BATCH):
            rows, step = order[start : start + BATCH], step + 1
            hidden = Net(*weights).hidden(seen[rows])
            wrong = softmax(hidden @ weights[2])
            wrong[np.arange(BATCH), results[rows]] -= 1
            back = (wrong @ weights[2].T) * (hidden > 0)
            gradients = seen[rows].T @ back, back.sum(axis=0), hidden.T @ wrong
            for array, slope, mean, square in zip(weights, gradients, means, squares, strict=True):
                mean += 0.1 * (slope / BATCH - mean)
                square += 0.001 * ((slope / BATCH) ** 2 - square)
                size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
                array -= RATE * mean / (1 - 0.9**step) / size
    return Net(*weights)


def softmax(logits: Floats) -> Floats:
    """Return probabilities ``[N, 3]``."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def balanced_accuracy(units: Floats, label: Any, train: Any) -> float:
    """Fit a linear probe to the training rows; return its mean accuracy over both labels elsewhere.

    The fit is a ridge regression in which both labels have the same weight.
    """
    inputs = np.column_stack([units, np.ones(len(units))]).astype(np.float64)
    share = label[train].mean()
    weight = np.where(label[train], 0.5 / share, 0.5 / (1 - share))[:, None] * inputs[train]
    ridge = inputs[train].T @ weight + 10 * np.eye(inputs.shape[1])
    fitted = np.linalg.solve(ridge, weight.T @ np.where(label[train], 1.0, -1.0))
    says, true = inputs[~train] @ fitted > 0, label[~train]
    return float((says[true].mean() + (~says[~true]).mean()) / 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
