"""The loop repeats, its mixtures lose less and less, and exact play says how much."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

import c4env
from c4env import agents, evaluation
from c4env.agents.solver.exam import exam
from c4env.evaluation.studies import psro

BOARD = psro.BOARD
OPENINGS = ["11212212", "24224244", "21233233", "11113244"]
pytestmark = pytest.mark.compiled


def policies(count: int, seed: int = 1) -> list[Any]:
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((count, 32))
    made = [psro.c4env.batched(psro.partial(psro.columns, each)) for each in weights]
    return [BOARD.agents.make(each) for each in made]


def slow_columns(weights: Any, position: Any) -> int:
    """The column of highest value, cell by cell and line by line."""
    cells = position.discs(position.to_move), position.discs(1 - position.to_move)
    planes = BOARD.observe(position)["observation"]
    assert sum(cells).bit_count() == planes.sum()

    def lines_of(cell: int, table: Any) -> float:
        total = 0.0
        for line in psro.LINES:
            if f"{cell:x}" in line:
                discs = [planes[int(at, 16) // 4, int(at, 16) % 4] for at in line]
                mine, theirs = (int(sum(disc[side] for disc in discs)) for side in (0, 1))
                total += table[7 if mine and theirs else mine if not theirs else 3 + theirs]
        return total

    values = {}
    for column in position.legal_columns():
        row = max(row for row in range(4) if not planes[row, column].any())
        cell = 4 * row + column
        values[column] = weights[cell] + lines_of(cell, weights[16:24])
        if row:
            values[column] += lines_of(cell - 4, weights[24:])
    return max(values, key=values.__getitem__)


def test_the_columns_are_those_of_a_slow_evaluation() -> None:
    rng = np.random.default_rng(2)
    positions = []
    for opening in OPENINGS:
        position = BOARD.Position.parse(opening)
        while position.outcome is None:
            positions.append(position)
            position = position.play(int(rng.choice(position.legal_columns())))
    for weights in rng.standard_normal((20, 32)):
        (agent,) = [BOARD.agents.make(psro.c4env.batched(psro.partial(psro.columns, weights)))]
        for position in positions:
            assert agent.choose(position) == slow_columns(weights, position)


def test_exact_play_cannot_be_exploited_and_other_play_can() -> None:
    solver = BOARD.agents.Solver()
    drawn = [m for m in OPENINGS if solver.score(BOARD.Position.parse(m)) == 0]
    assert len(drawn) > 1
    perfect = BOARD.agents.make("perfect")
    assert psro.exploitability([perfect], np.ones(1), drawn) == 0
    assert psro.exploitability(policies(2), np.array([0.0, 1.0]), drawn) > 0


def test_of_one_policy_it_is_what_a_refutation_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 6x7, from late openings, where a refutation tries every line."""
    monkeypatch.setattr(psro, "BOARD", c4env)
    openings = [question.moves for question in exam() if len(question.moves) >= 29][:4]
    for spec in ("greedy", "alphabeta:depth=2", "rust-port:depth=2"):
        found = evaluation.refute(spec, openings, 10_000)
        assert all(case.proven for case in found.openings)
        worst = [case.outcome for case in found.openings]
        agent = agents.make(spec)
        assert psro.exploitability([agent], np.ones(1), openings) == -np.mean(worst)
        assert len(set(worst)) > 1


def test_of_a_mixture_it_is_that_of_every_plan_tried_in_turn() -> None:
    """Late in a game a responder has few plans: what to play after each run of moves."""

    def results(position: Any, seat: int, field: list[Any]) -> set[tuple[int, ...]]:
        """What each plan of a responder gets against each agent, agents told apart by moves."""
        if position.outcome is not None:
            sign = {None: 0, seat: 1}.get(position.outcome.winner, -1)
            return {(sign,) * len(field)}
        if position.to_move == seat:
            columns = position.legal_columns()
            return set().union(*(results(position.play(c), seat, field) for c in columns))
        answers = [agent.choose(position) for agent in field]
        parts = {c: [a for a, b in zip(field, answers, strict=True) if b == c] for c in answers}
        plans = [
            [(c, r) for r in results(position.play(c), seat, some)] for c, some in parts.items()
        ]
        found = set()
        for plan in itertools.product(*plans):
            left = {column: iter(result) for column, result in plan}
            found.add(tuple(next(left[column]) for column in answers))
        return found

    mixture = np.array([0.5, 0.2, 0.3])
    for seed in range(4):
        field = policies(3, seed)
        openings = ["2123323311", "1112234434"]
        best = [
            max(np.dot(plan, mixture) for plan in results(BOARD.Position.parse(m), seat, field))
            for m in openings
            for seat in (0, 1)
        ]
        assert psro.exploitability(field, mixture, openings) == pytest.approx(np.mean(best))


@pytest.mark.slow
def test_the_loop_repeats_and_its_mixtures_become_harder_to_exploit(capsys: Any) -> None:
    found = psro.psro(seed=1, iterations=8)
    printed = capsys.readouterr().out
    assert printed.count("exploitability") == len(found) == 8
    assert min(found[4:]) < 0.8 * found[0]
    assert psro.psro(seed=1, iterations=2) == found[:2]
    assert capsys.readouterr().out == "".join(printed.splitlines(keepends=True)[:2])


def test_a_bad_seed_is_one_line(capsys: Any) -> None:
    assert psro.run(psro.psro, psro.__doc__, argv=["--seed", "-1"]) == 2
    assert "--seed=-1: expected an integer" in capsys.readouterr().err
