"""The rules and the numbers of the pages, run by node without a browser, against Python's."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from c4env import Position
from c4env.agents.solver import Solver
from c4env.evaluation.exact.mistakes import Mistake
from c4env.evaluation.records.run_folder import read_folder
from c4env.evaluation.report.page import STATIC
from c4env.evaluation.tables import rounded, signed
from tests.browser.chromium import as_discs
from tests.helpers.runs import record_run

NODE = shutil.which("node")
WRONG = [
    ("8", "move 1, '8', is not a column (1 to 7)"),
    ("4x", "move 2, 'x', is not a column (1 to 7)"),
    ("4444444", "move 7: column 4 is full"),
    ("12121211", "move 8: the game is over"),
]
DRAWN = "547125662261271266215743771576315353334444"


def game(moves):
    outcome = Position.parse(moves).outcome
    assert outcome is not None
    return {
        "moves": moves,
        "discs": [as_discs(Position.parse(moves[:ply])) for ply in range(len(moves) + 1)],
        "winner": outcome.winner,
        "cells": sorted(f"{column},{5 - row}" for row, column in outcome.cells),
    }


def judged(moves, solver):
    """What exact play says of a game: values for the first player, verdicts, how best play ends."""
    items = {"moves": moves, "values": [], "verdicts": [], "ends": [], "told": []}
    for ply in range(len(moves)):
        position = Position.parse(moves[:ply])
        scores = solver.scores(position)
        best = max(score for score in scores if score is not None)
        own = scores[int(moves[ply]) - 1]
        assert own is not None
        signs = [(score > 0) - (score < 0) for score in (own, best)]
        kind = "blunder" if signs[0] != signs[1] else "slip" if own < best else ""
        if kind == "blunder":
            kept = tuple(column for column in range(7) if scores[column] == best)
            mistake = Mistake(moves[:ply], int(moves[ply]) - 1, kept, best, own, (0,))
            items["told"].append([ply, scores, mistake.describe().partition(": ")[2]])
        winner = ply % 2 if best > 0 else 1 - ply % 2
        end = {"winner": winner, "discs": solver.plies_to_end(position)} if best else None
        items["values"].append(-best if ply % 2 else best)
        items["verdicts"].append(kind)
        items["ends"].append([best, end])
    items["values"].append(solver.score(Position.parse(moves)) * (-1 if len(moves) % 2 else 1))
    return items


def numbers():
    """Shares of few games, where halves are common, and other numbers."""
    shares = {points / (2 * games) for games in range(1, 101) for points in range(2 * games + 1)}
    values = [(100 * share, digits) for share in sorted(shares) for digits in (0, 1)]
    values += [
        (s * x, digits) for x in (0.005, 0.4, 2.5, 1234.5) for s in (1, -1) for digits in (0, 2)
    ]
    return [[x, digits, rounded(x, f".{digits}f"), signed(x)] for x, digits in values]


@pytest.mark.compiled  # it asks the solver
@pytest.mark.skipif(NODE is None, reason="the pages' rules are tested where node is")
def test_the_pages_rules_and_numbers_are_pythons(tmp_path):
    _, games = read_folder(record_run(tmp_path / "run", "random", "greedy", "alphabeta:depth=2"))
    moves = [each.moves for each in games]
    solver = Solver()
    expected = {
        "games": [game(each) for each in [*moves, DRAWN]],
        "wrong": WRONG,
        "judged": [judged(each, solver) for each in moves[:8]],
        "numbers": numbers(),
    }
    path = tmp_path / "expected.json"
    path.write_text(json.dumps(expected))
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--test", str(Path(__file__).with_name("rules.test.js"))],
        env={**os.environ, "STATIC": str(STATIC), "EXPECTED": str(path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 4" in done.stdout
