import functools
import itertools
import json

import numpy as np
import pytest

from c4env import agents, evaluation
from c4env.agents.solver import Solver
from c4env.evaluation.exact import refute
from c4env.evaluation.exact.quality import question
from c4env.observation import observe
from c4env.position import Position
from tests.helpers.paths import ROOT
from tests.helpers.policies import first_legal
from tests.rules import reference
from tests.rules.positions import quiet

LATE = []  # openings in which neither side wins with the next disc
for discs in (30, 31, 32):
    games = reference.random_games(1, 300, least=discs, most=discs)
    LATE += itertools.islice((m for m in games if quiet(Position.parse(m))), 3)


@pytest.fixture(autouse=True)
def small_solver(request, monkeypatch):
    """Without a book, which takes long to read where nothing is compiled."""
    if "compiled" not in request.keywords:
        solver = Solver(book=None, table_mb=1)
        monkeypatch.setattr(refute, "solver", lambda: solver)


made = functools.cache(agents.make)


def answer(player, position):
    """What the agent plays, asked as the search asks it."""
    if callable(player):
        return player(observe(position))
    return question(made(player), player, position, 0).column


def worst(player, position, seat):
    """The least any opponent can hold the agent to, by trying every line."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return 0 if winner is None else 1 if winner == seat else -1
    if position.to_move == seat:
        return worst(player, position.play(answer(player, position)), seat)
    return min(worst(player, position.play(c), seat) for c in position.legal_columns())


def exact(position, seat):
    """What exact play gives the agent, by plain negamax."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return 0 if winner is None else 1 if winner == seat else -1
    value = made("negamax").search(position).value
    value = (value > 0) - (value < 0)
    return value if position.to_move == seat else -value


@pytest.mark.parametrize("player", ["greedy", "random", first_legal])
def test_values_and_lines_are_as_brute_force_says_and_first_errors_are_errors(player):
    refutation = evaluation.refute(player, LATE, 10_000)
    assert [(c.opening, c.seat) for c in refutation.openings] == [
        (o, s) for o in LATE for s in (0, 1)
    ]
    for case in refutation.openings:
        position, errors = Position.parse(case.opening), []
        assert case.proven
        assert case.value == exact(position, case.seat)
        assert case.outcome == worst(player, position, case.seat)
        assert case.line.startswith(case.opening)
        for digit in case.line[len(case.opening) :]:
            following = position.play(int(digit) - 1)
            if position.to_move == case.seat:
                assert int(digit) - 1 == answer(player, position)
                if exact(following, case.seat) < exact(position, case.seat):
                    errors.append(position.plies)
            position = following
        assert position.outcome is not None
        assert case.outcome == exact(position, case.seat)
        assert case.first_error == (errors[0] if errors else None)
        assert (case.first_error is not None) >= (case.outcome < case.value)
    assert any(case.outcome < case.value for case in refutation.openings)
    held = [case for case in refutation.tenable if case.outcome == case.value]
    assert held or player != "greedy"


@pytest.mark.compiled
def test_a_published_agent_is_refuted_from_the_first_moves():
    refutation = evaluation.refute("alphabeta-window", limit=2)
    solver = Solver()
    assert refutation.held == 0
    for case in refutation.tenable:
        before = Position.parse(case.line[: case.first_error])
        after = before.play(int(case.line[case.first_error]) - 1)
        assert solver.sign(before) > -solver.sign(after)


REFUTED = (ROOT / "tests/data/refutations.tsv").read_text().splitlines()


@pytest.mark.compiled
@pytest.mark.parametrize("row", REFUTED, ids=lambda row: row.split("\t")[0])
def test_refutations_found_before_replay(row):
    """Agents, their seats and lines that `c4 refute` once found."""
    spec, place, line = row.split("\t")
    seat = ["first", "second"].index(place)
    position = Position.parse(line[:2])
    for digit in line[2:]:
        if position.to_move == seat:
            assert answer(spec, position) == int(digit) - 1
        position = position.play(int(digit) - 1)
    assert position.outcome.winner == 1 - seat


@pytest.mark.parametrize("budget", [1, 5, 40])
def test_a_budget_ends_the_search_and_what_it_found_is_true(budget):
    whole = evaluation.refute("negamax", LATE).openings
    for case, full in zip(evaluation.refute("negamax", LATE, budget).openings, whole, strict=True):
        assert case.positions <= max(budget, 42 - len(case.opening))
        assert case.proven or full.positions > case.positions
        assert case.proven == (case.searched == 42 - len(case.opening))
        assert case.proven or (len(case.opening) + case.searched) % 2 == 1 - case.seat
        assert case.outcome >= full.outcome
        assert case.outcome == -1 or case.proven == (case.positions == full.positions)


def test_more_positions_go_on_from_those_before(tmp_path, monkeypatch):
    asked = []

    def counting(*arguments, **settings):
        asked.append(arguments)
        return question(*arguments, **settings)

    monkeypatch.setattr(refute, "question", counting)
    few = evaluation.refute("greedy", LATE[:3], 6, out=tmp_path)
    assert few.positions == len(asked)
    assert evaluation.refute("greedy", LATE[:3], 6, out=tmp_path) == few
    assert few.positions == len(asked)
    more = evaluation.refute("greedy", LATE[:3], out=tmp_path)
    assert few.positions < more.positions == len(asked)
    assert more.openings == evaluation.refute("greedy", LATE[:3]).openings
    for seed in (0, 1):  # several agents and seeds share the file
        answered = len(asked)
        refutation = evaluation.refute("random", LATE[:3], 10, seed=seed, out=tmp_path)
        assert len(asked) - answered == refutation.positions
    assert [path.name for path in tmp_path.iterdir()] == [refute.REFUTATIONS_FILE]
    assert evaluation.refute("greedy", LATE[:3], out=tmp_path) == more
    assert len(asked) - answered == refutation.positions


@pytest.mark.compiled
def test_any_number_of_jobs_finds_the_same():
    found = evaluation.refute("random", LATE)
    assert evaluation.refute("random", LATE, jobs=2) == found
    assert evaluation.refute({"named": "random"}, LATE).openings == found.openings


def test_an_agent_that_breaks_down_is_refuted_there():
    def breaks_down(observation):
        if observation["observation"].sum() > 32:
            raise RuntimeError("tired")
        return first_legal(observation)

    refutation = evaluation.refute(breaks_down, LATE)
    broken = [case for case in refutation.openings if case.fault]
    assert broken
    for case in broken:
        assert case.outcome == -1
        position = Position.parse(case.line)
        assert position.outcome is None
        assert position.plies > 32
        assert case.first_error is None or case.first_error <= position.plies
    assert (
        f"Lines that ended without an answer: {len(broken)}, for example " in refutation.summary()
    )
    assert "exception: RuntimeError: tired" in refutation.summary()


def test_the_command_says_what_python_finds(c4, tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("\n".join(LATE))
    refutation = evaluation.refute("greedy", str(path))
    command = ["refute", "greedy", "--openings", path, "--jobs", "1", "--format"]
    shown = c4(*command, "text")
    assert f"{refutation.held:.1%}" in shown
    assert f"Shortest refutation found: {refutation.shortest.line}" in shown
    known = json.loads(c4(*command, "json"))
    could = [case for case in known["openings"] if case["value"] >= 0]
    assert known["held"] == np.mean([case["outcome"] == case["value"] for case in could])
    assert known["positions"] == sum(case["positions"] for case in known["openings"])
    names = ["opening", "seat", "value", "outcome", "line", "first_error", "proven", "positions"]
    cases = [{name: getattr(case, name) for name in names} for case in refutation.openings]
    assert known["openings"] == cases
