"""Calibrate or check ``graded``: python -m tests.makers graded fit, graded verify.

`fit` measures the Elo of some skills by games and writes agents/graded_elo.py. `verify` plays
ten stated Elo with other seeds and prints their measured Elo.

An agent meets members of the shipped leaderboard from its openings with both colours. The measured
Elo is the one at which the agent would expect the points that it got, by the members' stored Elo.
These stay fixed; the mean of the published systems is the anchor, not the mean of the field, so
that a member may come or go. Members with a clock and `puct` do not play, since their games would
take hours.
"""

import argparse
import functools
import itertools
import textwrap
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from c4env import agents
from c4env.agents.base import Agent
from c4env.agents.graded import Graded
from c4env.agents.graded_elo import ANCHOR, ANCHOR_ELO, ELO_LEVELS
from c4env.evaluation.cli.declare import at_least
from c4env.evaluation.cli.output import say
from c4env.evaluation.results.leaderboard import Leaderboard, stored_board
from c4env.evaluation.seeds import seeds
from c4env.evaluation.tables import Table, signed
from c4env.position import Position
from tests.helpers.paths import ROOT

FILE: Final = ROOT / "agents" / "levels.py"
SKILLS: Final = (
    *(0.05, 0.1, 0.15, 0.2, 0.26, 0.295, 0.33, 0.375, 0.42, 0.5),
    *(0.6, 0.67, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8),
)
STEPS: Final = tuple(range(-1000, 400, 150))
QUICK: Final = (
    *("random", "greedy", "rust-port", "alphabeta-chain", "alphabeta-window"),
    *("alphabeta-window:depth=7", "alphabeta-window-b", "alphabeta:depth=9", "mcts"),
)
STRONG: Final = ("deepening", "learned", "perfect")
STRONG_FROM: Final = 0.5  # skill from which the strong members play
PRECISE: Final = 12.0  # standard error of an Elo
UNIT: Final = 400 / np.log(10)  # Elo of odds of e to 1

TEMPLATE: Final = '''"""The Elo of each skill of ``graded``.

``python -m tests.makers graded fit --seed {seed}`` measured them on {date}. Every skill played
the agents of the shipped leaderboard until the standard error of its Elo was below {precise:g}. The
first and the last Elo are the Elo of ``random`` and ``perfect`` in the leaderboard of that day;
they lie within the intervals of a later leaderboard.

Elo 0 means the same as in the shipped leaderboard. ANCHOR ties the two scales: the mean Elo of
these agents is ANCHOR_ELO in both. The zero of a leaderboard is the mean of its field, so if its
field changes, every Elo here moves by the difference; a test compares them.
"""

from typing import Final

ANCHOR: Final = (
    *("alphabeta-chain", "alphabeta-window", "alphabeta-window:depth=7", "alphabeta-window-b"),
    "rust-port",
)
ANCHOR_ELO: Final = -157.23

# fmt: off
ELO_LEVELS: Final = (
{elo}
)
SKILL_LEVELS: Final = (
{skill}
)
# fmt: on
'''


class AtSkill(Graded):
    """``graded`` at a skill, which needs no table."""

    def __init__(self, skill: float) -> None:
        super().__init__()
        self.skill = skill


class Remembered(Agent):
    """A deterministic agent that thinks once about each position, and keeps its tables."""

    def __init__(self, agent: Agent) -> None:
        self.choose = functools.cache(agent.choose)  # type: ignore[method-assign]

    def choose(self, position: Position) -> int:
        """The agent's column."""
        raise NotImplementedError


@functools.cache
def scale() -> tuple[Leaderboard, dict[str, float]]:
    """The shipped leaderboard and its Elo, moved so that the mean of the anchor is stated."""
    board = stored_board()
    elo = {rating.player: rating.elo for rating in board.rate()}
    shift = ANCHOR_ELO - np.mean([elo[spec] for spec in ANCHOR])
    return board, {spec: own + shift for spec, own in elo.items()}


@functools.cache
def member(spec: str) -> Agent:
    """A member of the leaderboard."""
    agent = agents.make(spec)
    return Remembered(agent) if agent.deterministic else agent


def play(pair: tuple[Agent, Agent], opening: str, seed: np.random.SeedSequence) -> Position:
    """The end of a game."""
    for agent, own in zip(pair, seed.spawn(2), strict=True):
        agent.reset(own)
    position = Position.parse(opening)
    while position.outcome is None:
        position = position.play(pair[position.to_move].choose(position))
    return position


class Measured(NamedTuple):
    """An Elo measured by games."""

    elo: float
    error: float  # standard error
    games: int
    score: dict[str, float]


def measure(skill: float, seed: int, precise: float = PRECISE) -> Measured:
    """Play rounds of all openings until the standard error is small enough."""
    board, rated = scale()
    members = QUICK + (STRONG if skill >= STRONG_FROM else ())
    elos = np.array([rated[spec] for spec in members])
    points = dict.fromkeys(members, 0.0)
    agent, error, games, count = AtSkill(skill), np.inf, 0, 0
    while error > precise:
        for spec, opening, seat in itertools.product(members, board.openings, (0, 1)):
            own = seeds((spec, opening), seed, games, seat)
            end = play((agent, member(spec))[:: 1 - 2 * seat], opening, own)
            assert end.outcome is not None
            points[spec] += {None: 0.5, seat: 1.0}.get(end.outcome.winner, 0.0)
            count += 1
        games += 2 * len(board.openings)  # against each member
        elo, error = rate_alone(elos, games, sum(points.values()))
    score = {spec: p / games for spec, p in points.items()}
    return Measured(elo, error, count, score)


def rate_alone(elos: np.ndarray, games: float, points: float) -> tuple[float, float]:
    """An agent's Elo and its standard error, by all its points in so many games against each."""
    low, high = -4000.0, 4000.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        expected = 1 / (1 + np.exp((elos - middle) / UNIT))
        low, high = (middle, high) if games * expected.sum() < points else (low, middle)
    return middle, float(UNIT / np.sqrt(games * (expected * (1 - expected)).sum()))


def fit(out: Path, seed: int, precise: float) -> None:
    """Measure the skills and write the table."""
    found = {}
    for skill in SKILLS:
        found[skill] = measure(skill, seed, precise)
        say(f"{skill:g}: {found[skill]}")
    write(out, {skill: m.elo for skill, m in found.items()}, seed, precise)


def write(out: Path, found: dict[float, float], seed: int, precise: float) -> None:
    """Write the table of Elo by skill; where chance turned the order, without the lower Elo."""
    kept = {ELO_LEVELS[0]: 0.0}
    for skill, elo in found.items():
        if max(kept) < round(elo) < ELO_LEVELS[-1]:
            kept[round(elo)] = skill
    kept[ELO_LEVELS[-1]] = 2.0
    rows = (", ".join(f"{x:g}" for x in row) + "," for row in (kept, kept.values()))
    elo, skill = (textwrap.indent(textwrap.fill(row, 90), "    ") for row in rows)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    text = TEMPLATE.format(seed=seed, date=date, precise=precise, elo=elo, skill=skill)
    out.write_text(text, encoding="utf-8")


def verify(seed: int, precise: float) -> dict[int, Measured]:
    """Play the ten steps with other seeds than the fit."""
    return {elo: measure(Graded(elo).skill, seed, precise) for elo in STEPS}


def table(found: dict[int, Measured]) -> Table:
    """Stated and measured Elo, with intervals."""
    rows = []
    for elo, m in found.items():
        low, high = (m.elo + sign * 1.96 * m.error for sign in (-1, 1))
        interval = f"{signed(low)} .. {signed(high)}"
        rows.append([signed(elo), signed(m.elo), interval, f"{m.games:,}"])
    return Table.of(dict.fromkeys(("stated", "measured", "95 %", "games"), ""), rows)


# -- the command ------------------------------------------------------------------


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("fit", "verify"), metavar="ACTION", help="fit or verify")
    parser.add_argument("--seed", type=at_least(0), help="of the games (default: fit 1, verify 2)")
    parser.add_argument(
        "--error", type=at_least(1), default=PRECISE, help="standard error of an Elo"
    )
    parser.add_argument("--out", type=Path, default=FILE, help="fit: what to write")


def execute(arguments: argparse.Namespace) -> None:
    if arguments.action == "fit":
        fit(arguments.out, 1 if arguments.seed is None else arguments.seed, arguments.error)
        return
    found = verify(2 if arguments.seed is None else arguments.seed, arguments.error)
    say(table(found).markdown())
