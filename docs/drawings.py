"""The drawings of the pages: python -m docs.drawings .github/pictures.

Boards with exact scores, the forms of one position, a diagram of the processes, and
what the leaderboard and the rule of power say. Numbers come from the solver and the page of
results. Lines and words are grey on no background, to be read on a light page and on a dark one.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import NormalDist
from typing import Final

from c4env import Position, observe
from c4env.agents import Solver
from c4env.evaluation.ratings.power import CHANCE, shown_difference
from c4env.evaluation.ratings.sprt import expected_score
from c4env.files import write_whole
from c4env.observation import LAYOUTS
from c4env.render import svg

ROOT: Final = Path(__file__).resolve().parents[1]
# Text has a contrast of at least 4.5 on white, and of 3.7 on the site's dark pages.
GREY, FAINT, BLUE = "#68717d", "#9aa4b0", "#3474c6"
WIN, LOSS, RED, YELLOW = "#208049", "#c8463a", "#c8463a", "#d9a514"
ON: Final = {RED: "#ffffff", YELLOW: "#1c1f24"}  # text on a disc
MISTAKE: Final = "1664444"  # docs/guides/which-is-better.md
ODD: Final = "7777677555635353353311212111"  # red to move; its only threat is in column 4, row 3
FORMS: Final = "4453"


def main(folder: Path) -> None:
    """Write the drawings into a folder."""
    drawings = {
        "mistake": mistake(),
        "odd_threat": odd_threat(),
        "layouts": layouts(),
        "width": width(),
        "strength": strength(),
        "speed": speed(),
        "selfplay": selfplay(),
        "ppo": ppo(),
        "processes": processes(),
    }
    for name, text in drawings.items():
        write_whole(folder / f"{name}.svg", text)


# -- parts --------------------------------------------------------------------------


def words(x: float, y: float, text: str, *, size: float = 13, fill: str = GREY, **more: str) -> str:
    """A text; the anchor is its start unless `anchor` says otherwise."""
    style = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{style}>{escaped}</text>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = FAINT, wide: float = 1) -> str:
    """A straight line."""
    place = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {place} stroke="{stroke}" stroke-width="{wide:g}"/>'


def dot(x: float, y: float, fill: str, radius: float = 4) -> str:
    """A disc."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>'


def sheet(wide: float, high: float, title: str, parts: Iterable[str]) -> str:
    """A whole drawing."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide:g}" height="{high:g}"'
    box = f'viewBox="0 0 {wide:g} {high:g}" font-family="sans-serif"'
    return f"{head} {box}><title>{title}</title>{''.join(parts)}</svg>\n"


def board(position: Position, last: int | None, ring: tuple[int, int] | None = None) -> str:
    """A board of 99 by 103 units with the exact score of each column; a ring marks a cell."""
    drawn = svg(position, last)
    inside = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.rindex("</svg>")]
    for column, score in enumerate(Solver().scores(position)):
        if score is not None:
            fill = WIN if score > 0 else LOSS if score < 0 else GREY
            more = {"text_anchor": "middle", "font_weight": "bold"}
            shown = f"{score:+d}" if score else "0"
            inside += words(10.5 + 13 * column, 99, shown, size=6, fill=fill, **more)
    if ring is not None:
        x, y = 10.5 + 13 * ring[0], 10.5 + 13 * (6 - ring[1])
        inside += f'<circle cx="{x:g}" cy="{y:g}" r="4.2" fill="none" stroke="{RED}"'
        inside += ' stroke-width="1.2" stroke-dasharray="2 1.2"/>'
    return inside


def scored(position: Position, ring: tuple[int, int] | None = None) -> str:
    """A board as a drawing of its own."""
    last = int(position.moves()[-1]) - 1
    side = ("red", "yellow")[position.to_move]
    head = '<svg xmlns="http://www.w3.org/2000/svg" role="img" width="396" height="412"'
    title = f"<title>{side} to move, with the exact score of each column</title>"
    box = 'viewBox="0 0 99 103" font-family="sans-serif"'
    return f"{head} {box}>{title}{board(position, last, ring)}</svg>\n"


# -- drawings -----------------------------------------------------------------------


def mistake() -> str:
    """The first mistake that the guide shows."""
    return scored(Position.parse(MISTAKE))


def odd_threat() -> str:
    """A position that the first player wins by a threat in an odd row."""
    position = Position.parse(ODD)
    assert position.to_move == 0
    assert (Solver().score(position) or 0) > 0
    return scored(position, (3, 3))


def layouts() -> str:
    """The forms of one position, and the bits of a bitboard."""
    position = Position.parse(FORMS)
    drawn = svg(position)
    inside = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.rindex("</svg>")]
    parts = [f'<g transform="translate(10 26) scale(2)">{inside}</g>', words(10, 18, "the board")]
    planes = observe(position)["observation"]
    for number, (side, fill) in enumerate((("the observer's discs", RED), ("the other's", YELLOW))):
        left = 240 + 190 * number
        parts.append(words(left, 18, f"plane {number}: {side}"))
        parts += grid(left, planes[:, :, number].astype(str).tolist(), {"1": fill})
    signed = (planes[:, :, 0] - planes[:, :, 1]).astype(str).tolist()
    parts.append(words(10, 240, 'layout="signed"'))
    parts += grid(10, signed, {"1": RED, "-1": YELLOW}, 250)
    tokens = (planes[:, :, 0] + 2 * planes[:, :, 1]).astype(str).tolist()
    parts.append(words(200, 240, 'layout="tokens", row by row'))
    parts += grid(200, tokens, {"1": RED, "2": YELLOW}, 250)
    bits = [[str(7 * column + row) for column in range(7)] for row in reversed(range(6))]
    parts.append(words(430, 240, "numbers of the bits"))
    parts += grid(430, bits, {}, 250)
    assert {"signed", "tokens", "planes_last"} <= {*LAYOUTS}
    return sheet(620, 410, "One position in all forms", parts)


def grid(left: float, rows: list[list[str]], fills: dict[str, str], top: float = 28) -> list[str]:
    """Cells with a text each."""
    parts = []
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            x, y, fill = left + 24 * column, top + 24 * row, fills.get(text)
            inner = f'fill="{fill or "none"}"'
            parts.append(f'<rect x="{x}" y="{y}" width="24" height="24" stroke="{FAINT}" {inner}/>')
            on = ON.get(fill or "", GREY)
            parts.append(words(x + 12, y + 16, text, size=11, fill=on, text_anchor="middle"))
    return parts


def width() -> str:
    """The difference that a match shows with 80 % chance, and half the interval of equal agents."""
    games = [2 * pairs for pairs in range(12, 569, 4)]
    shown = [(n, found) for n in games if (found := shown_difference(n // 2)) is not None]

    def place(n: float, elo: float) -> str:
        return f"{60 + n / 1136 * 520:.1f},{230 - elo * 0.8:.1f}"

    parts = [line(60, 230, 590, 230), line(60, 20, 60, 230)]
    for elo in (0, 50, 100, 150, 200, 250):
        parts.append(words(52, 234 - elo * 0.8, str(elo), size=12, text_anchor="end"))
    for plies, n in ((2, 50), (3, 242), (4, 1136)):
        x = 60 + n / 1136 * 520
        parts.append(line(x, 230, x, 236))
        parts.append(words(x, 250, f"{n:,}", size=12, text_anchor="middle"))
        parts.append(words(x, 266, f"--openings {plies}", size=11, text_anchor="middle"))
        found = shown_difference(n // 2)
        assert found is not None
        parts.append(dot(x, 230 - found * 0.8, BLUE, 5))
        parts.append(words(x + 8, 222 - found * 0.8, f"{found:.0f} Elo", fill=BLUE))
    share = NormalDist().inv_cdf(0.975) / (
        NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(CHANCE)
    )
    half = [(n, elo_of(share * (expected_score(elo) - 0.5))) for n, elo in shown]
    for curve, colour in ((shown, BLUE), (half, GREY)):
        points = " ".join(place(n, elo) for n, elo in curve)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    parts.append(words(200, 60, "shown four times in five (80 %)", fill=BLUE))
    parts.append(words(200, 80, "half of the 95 % interval of two equal agents that rarely draw"))
    parts.append(words(325, 288, "games", size=12, text_anchor="middle"))
    parts.append(words(66, 30, "Elo", size=12))
    return sheet(680, 296, "Differences that a match shows, by its games", parts)


def elo_of(ahead: float) -> float:
    """The difference of two agents of which one scores 1/2 and so much more."""
    return 400 * math.log10((0.5 + ahead) / (0.5 - ahead))


def strength() -> str:
    """The leaderboard as dots with intervals, beside the accuracy in the exam."""
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    row = r"^\| [\d-]+ \| `([^`]+)` \| [\w ]+ \| ([-+]\d+) \(([-+]\d+) \.\. ([-+]\d+)\)"
    shares = dict(re.findall(r"^\| `([^`]+)` \| ([\d.]+)% \(", text, re.M))
    rows = re.findall(row, text, re.M)
    assert len(rows) == 20
    parts = [words(400, 16, "Elo, 95 %", text_anchor="middle", size=12)]
    parts.append(words(640, 16, "accuracy in the exam", text_anchor="middle", size=12))

    def x_of(elo: float) -> float:
        return 455 + max(elo, -1250) * 0.17

    high = 30 + 20 * len(rows)
    for elo in (-1000, -500, 0, 500):
        parts.append(line(x_of(elo), 24, x_of(elo), high, FAINT, 0.5))
        parts.append(words(x_of(elo), high + 14, str(elo), size=11, text_anchor="middle"))
    for share in (40, 60, 80, 100):
        x = 600 + (share - 40) * 1.5
        parts.append(line(x, 24, x, high, FAINT, 0.5))
        parts.append(words(x, high + 14, f"{share} %", size=11, text_anchor="middle"))
    for place, (name, elo, low, top) in enumerate(rows):
        y = 38 + 20 * place
        parts.append(words(4, y + 4, name, size=11))
        parts.append(line(x_of(int(low)), y, x_of(int(top)), y, BLUE, 2))
        parts.append(dot(x_of(int(elo)), y, BLUE))
        parts.append(dot(600 + (float(shares[name]) - 40) * 1.5, y, WIN))
    return sheet(720, high + 22, "The leaderboard, and the accuracy in the exam", parts)


def speed() -> str:
    """How many times as fast c4env is as what people use, by the tables of the page on speed."""
    text = (ROOT / "docs" / "explanation" / "speed.md").read_text(encoding="utf-8")
    rows = [
        (
            "4,096 boards, self-play",
            "PettingZoo's one board",
            "move",
            r"^\| 4,096 boards, self-play, next.*\| ([\d,.]+) \|$",
        ),
        ("one board, AEC loop", "PettingZoo", "move", r"^\| AEC loop .*\| ([\d,.]+) \|$"),
        ("4,096 boards, JAX on a CPU", "pgx", "move", r"^\| 4,096 boards, JAX .*\| ([\d,.]+) \|$"),
        (
            "solver, 12 discs, many positions",
            "BitBully",
            "position",
            r"^\| 12 discs \|.*\| ([\d,.]+) \| 0 \|$",
        ),
    ]
    parts = []
    for number, (what, peer, unit, pattern) in enumerate(rows):
        found = re.search(pattern, text, re.M)
        assert found is not None, what
        y, times = 14 + 34 * number, float(found[1].replace(",", ""))
        parts.append(words(4, y + 15, what))
        long = 80 * math.log10(times)
        place = f'x="220" y="{y}" width="{long:.0f}" height="20"'
        parts.append(f'<rect {place} rx="3" fill="{BLUE}" fill-opacity="0.75"/>')
        told = f"{found[1]} times as fast as {peer}, per {unit}"
        parts.append(words(228 + long, y + 15, told))
    parts.append(words(220, 162, "bars on a logarithmic scale", size=11))
    return sheet(840, 170, "Speed beside what people use today, on a logarithmic scale", parts)


def selfplay() -> str:
    """Accuracy in the exam by minutes of self-play, from the table of the page."""
    text = (ROOT / "docs" / "explanation" / "self-play.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| [\d,]+ \| ([\d.]+) \| ([\d.]*) ?\|", text, re.M)
    assert len(rows) > 5

    def place(minutes: str, share: str) -> tuple[float, float]:
        return 60 + 190 * math.log10(float(minutes) / 0.1), 230 - 3.0 * (float(share) - 40)

    parts = [line(60, 230, 640, 230), line(60, 20, 60, 230)]
    for minutes in ("0.1", "1", "10", "100"):
        x, _ = place(minutes, "40")
        parts.append(line(x, 230, x, 236))
        parts.append(words(x, 250, minutes, size=12, text_anchor="middle"))
    for share in ("40", "50", "60", "70", "80", "90", "100"):
        parts.append(words(52, place("1", share)[1] + 4, share, size=12, text_anchor="end"))
    for column, colour, name in ((1, BLUE, "the policy"), (2, WIN, "with 200 simulations")):
        points = [place(row[0], row[column]) for row in rows if row[column]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [dot(x, y, colour) for x, y in points]
        x, y = points[-1]
        parts.append(words(x + 10, y + 4, name, fill=colour))
    parts.append(words(66, 30, "accuracy in the exam, %", size=12))
    parts.append(
        words(
            350, 272, "minutes of training, on a logarithmic scale", size=12, text_anchor="middle"
        )
    )
    return sheet(820, 280, "Accuracy in the exam by minutes of self-play", parts)


def ppo() -> str:
    """Elo and accuracy by steps of the training that the page on PPO shows."""
    text = (ROOT / "docs" / "guides" / "ppo.md").read_text(encoding="utf-8")
    row = r"^\| ([\d,]+) \| ([\d.]+)% \| (-?\d+) \((-?\d+) \.\. (-?\d+)\)"
    found = re.findall(row, text, re.M)
    rows = [[float(cell.replace(",", "")) for cell in cells] for cells in found]
    assert len(rows) > 5

    def x_of(step: float) -> float:
        return 60 + step / 500_000 * 250

    def y_of(elo: float) -> float:
        return 30 - elo * 0.14

    def height(share: float) -> float:
        return 226 - 2.8 * share

    parts = [words(60, 16, "Elo, with 95 % intervals", size=12)]
    parts.append(words(430, 16, "accuracy in the exam", size=12))
    for elo in (-1400, -1000, -600, -200):
        parts.append(line(60, y_of(elo), 320, y_of(elo), FAINT, 0.5))
        parts.append(words(52, y_of(elo) + 4, str(elo), size=12, text_anchor="end"))
    for share in (0, 20, 40, 60):
        parts.append(line(430, height(share), 690, height(share), FAINT, 0.5))
        parts.append(words(422, height(share) + 4, f"{share} %", size=12, text_anchor="end"))
    parts.append(line(430, height(41.5), 690, height(41.5), GREY))
    parts.append(words(690, height(41.5) - 6, "random: 41.5 %", size=12, text_anchor="end"))
    for left in (0, 370):
        for step in (0, 250_000, 500_000):
            x = left + x_of(step)
            parts.append(words(x, 244, f"{step:,}", size=12, text_anchor="middle"))
        parts.append(words(left + 185, 262, "steps", size=12, text_anchor="middle"))
    for step, share, elo, low, high in rows:
        parts.append(line(x_of(step), y_of(low), x_of(step), y_of(high), BLUE, 2))
        parts.append(dot(x_of(step), y_of(elo), BLUE))
        parts.append(dot(370 + x_of(step), height(share), WIN))
    return sheet(720, 270, "Elo and accuracy in the exam by steps of PPO", parts)


def processes() -> str:
    """Who plays in which process."""
    parts = box(6, 6, 290, 190, "c4 run, match, refute, check, ...", BLUE)
    inside = [
        "gives games to threads,",
        "and writes all files",
        "plays agents of c4env in the first job,",
        "language models and Python objects",
    ]
    for number, text in enumerate(inside):
        parts.append(words(20, 70 + 24 * number + 20 * (number > 1), text))
    others = [
        ("process", "agents of c4env: one for each further job", "lines of JSON"),
        ("process", "mine.py:agent: one for each spec that names code", "lines of JSON"),
        ("program", "exec:./engine: the program itself", "lines of text"),
    ]
    for number, (kind, what, said) in enumerate(others):
        y = 6 + 66 * number
        parts += box(414, y, 340, 58, kind, GREY)
        parts.append(words(428, y + 44, what))
        parts.append(line(296, y + 29, 414, y + 29, GREY, 1.5))
        parts.append(words(355, y + 23, said, size=11, text_anchor="middle"))
    parts.append(words(414, 218, "c4env kills these if they are late"))
    return sheet(760, 226, "Which agent plays in which process", parts)


def box(x: float, y: float, wide: float, high: float, head: str, stroke: str) -> list[str]:
    """A frame with a heading."""
    place = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="8"'
    frame = f'<rect {place} fill="none" stroke="{stroke}"/>'
    return [frame, words(x + 14, y + 22, head, font_weight="bold")]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
