"""The solver: exact, whatever the options, and at the service of whoever interrupts it."""

from __future__ import annotations

import copy
import pickle
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba import types

from c4env import board
from c4env.agents.search import threads as beside
from c4env.agents.search.lowlevel import pointer
from c4env.agents.solver import NO_SCORE, Solver
from c4env.agents.solver.search.null_window import UNDECIDED, parity_bound
from c4env.agents.solver.search.table import (
    LAST_EPOCH,
    allocate,
    lower_bound,
    mix,
    position_key,
    probe,
    store,
    upper_bound,
)
from c4env.bitboard import CELLS, COLUMNS, playable, winning_cells
from c4env.errors import InvalidOption, InvalidPosition
from c4env.jit import kernel
from c4env.position import Position
from tests.helpers.paths import DATA, SHARED_DATA
from tests.helpers.positions import random_position

LABELLED = DATA / "solved.txt"
SHARED = SHARED_DATA / "solved"


DRAWN = Position.parse("421127327363224366417626743773654415515515")
LATER = Position.parse("4147")  # soon decided, but for its columns


def read(path: Path) -> list[tuple[Position, int]]:
    rows = [line.split() for line in path.read_text().splitlines() if line[:1] != "#"]
    return [(Position.parse(moves), int(score)) for moves, score in rows]


def negamax(position: Position) -> int:
    """The score by the definition, without pruning."""
    if position.outcome is not None:
        return 0 if position.outcome.winner is None else -((CELLS + 2 - position.plies) // 2)
    return max(-negamax(position.play(column)) for column in position.legal_columns())


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(book=None, table_mb=8)


@pytest.mark.compiled
def test_scores_of_labelled_positions(solver: Solver) -> None:
    for position, score in read(LABELLED):
        assert solver.score(position) == score, position
        assert solver.score(position.mirror()) == score, position
        assert solver.sign(position) == (score > 0) - (score < 0), position


@pytest.mark.compiled
@pytest.mark.skipif(not SHARED.exists(), reason="no solved sets beside the checkout")
@pytest.mark.parametrize(
    ("name", "count"), [("L3_R1", 500), ("L2_R1", 500), ("L2_R2", 150), ("L1_R1", 500)]
)
def test_scores_of_the_solved_sets(solver: Solver, name: str, count: int) -> None:
    rows = read(SHARED / f"{name}.txt")[:count]
    scores = solver.scores_many([position for position, _ in rows])
    assert scores.tolist() == [score for _, score in rows]


@pytest.mark.parametrize("plies", [41, 40, 39, 38, 37, 36, 35, 34])
def test_agrees_with_plain_negamax_on_late_positions(solver: Solver, plies: int) -> None:
    rng = random.Random(plies)
    for _ in range(20):
        position = random_position(plies, rng)
        assert solver.score(position) == negamax(position)


@pytest.mark.compiled
@pytest.mark.parametrize("plies", [14, 18, 22, 26, 30, 34, 38])
def test_column_scores_are_those_of_the_positions_they_lead_to(solver: Solver, plies: int) -> None:
    rng = random.Random(plies)
    for _ in range(10):
        position = random_position(plies, rng)
        scores = solver.scores(position)
        for column in range(COLUMNS):
            if column in position.legal_columns():
                assert scores[column] == -solver.score(position.play(column))
            else:
                assert scores[column] is None
        known = [score for score in scores if score is not None]
        assert max(known) == solver.score(position)
        best = solver.best_columns(position)
        assert sorted(best) == [c for c in range(COLUMNS) if scores[c] == max(known)]
        assert [abs(c - 3) for c in best] == sorted(abs(c - 3) for c in best)
        mirrored = solver.scores(position.mirror())
        assert mirrored == scores[::-1]


def test_at_least(solver: Solver) -> None:
    rng = random.Random(12)
    positions = [random_position(rng.randrange(34, 42), rng) for _ in range(20)]
    for position in [*positions, Position.parse("1212121")]:
        score = solver.score(position)
        for asked in (-99, -22, score - 1, score, np.int8(score), score + 1, 22, 99):
            assert solver.at_least(position, asked) == (score >= asked)
    for bad in (1.5, True, None, "1"):
        with pytest.raises(InvalidOption, match="score="):
            solver.at_least(positions[0], bad)  # type: ignore[arg-type]  # on purpose


@pytest.mark.compiled
@pytest.mark.parametrize("effort", [0, 0.5, 3, 100])
def test_bounds_hold_the_scores_and_cost_what_they_may(effort: float) -> None:
    rng = random.Random(4)
    solver = Solver(book=None, table_mb=1)
    together = Solver(book=None, table_mb=1, threads=2)
    open_bounds = 0
    for _ in range(40):
        position = random_position(rng.randrange(12, 36), rng)
        scores = solver.scores(position)
        best = solver.best_columns(position)
        solver.clear()
        solver.score(position)
        nodes = solver.nodes
        solver.clear()
        solver.best_columns(position)
        least = solver.nodes
        solver.clear()
        bounds = solver.bounds(position, effort)
        # The last of the columns' searches ends with the node at which it has to.
        assert solver.nodes <= max(effort * nodes, least, 100) + COLUMNS
        for column, score in enumerate(scores):
            if score is None:
                assert bounds[column] is None
                continue
            lowest, highest = bounds[column] or (99, -99)
            assert lowest <= score <= highest <= max(s for s in scores if s is not None)
            if column in best:
                assert lowest == highest
            open_bounds += lowest < highest
        together.clear()
        assert together.bounds(position, effort) == bounds
    assert open_bounds > 0


@pytest.mark.compiled
def test_bounds_close_with_enough_effort_and_are_mirrored(solver: Solver) -> None:
    rng = random.Random(6)
    for _ in range(10):
        position = random_position(rng.randrange(20, 36), rng)
        exact = [None if s is None else (s, s) for s in solver.scores(position)]
        assert solver.bounds(position, float("inf")) == exact
        assert solver.bounds(position, 1e300) == exact
        assert solver.bounds(position.mirror()) == exact[::-1]  # the table knows all by now
    symmetric = Position.parse("444414742167")
    assert symmetric == symmetric.mirror()
    bounds = solver.bounds(symmetric)
    assert bounds == bounds[::-1]


def test_bounds_of_a_position_that_is_over_and_of_one_in_the_book() -> None:
    solver = Solver()
    assert solver.bounds(Position.parse("1212121")) == [None] * COLUMNS
    scores = [-1, 0, 1, None, 1, 0, -1]
    assert solver.bounds(Position.parse("444444")) == [
        None if score is None else (score, score) for score in scores
    ]


@pytest.mark.parametrize("effort", [-1, float("nan"), "3", None])
def test_an_effort_out_of_range(solver: Solver, effort: object) -> None:
    with pytest.raises(InvalidOption, match="effort="):
        solver.bounds(Position.parse("44"), effort)  # type: ignore[arg-type]  # on purpose


@pytest.mark.compiled
def test_the_principal_variation_ends_when_and_as_the_score_says(solver: Solver) -> None:
    rng = random.Random(5)
    for _ in range(30):
        position = random_position(rng.randrange(16, 36), rng)
        score = solver.score(position)
        line = solver.principal_variation(position)
        assert len(line) == solver.plies_to_end(position)
        for column in line:
            assert position.outcome is None
            position = position.play(column)
        assert position.outcome is not None
        if score == 0:
            assert position.outcome.winner is None
        else:
            winner_to_move = (len(line) % 2 == 1) == (score > 0)
            assert winner_to_move
            assert position.outcome.winner is not None


@pytest.mark.compiled
def test_one_table_and_cleared_tables_and_threads_give_the_same_scores() -> None:
    rows = read(LABELLED)[::10]
    small = Solver(book=None, table_mb=1)
    both = Solver(book=None, table_mb=1, threads=2)
    for position, score in rows:
        assert small.score(position) == score
        small.clear()
        assert both.score(position) == score
        assert both.scores(position) == small.scores(position)
    positions = [position for position, _ in rows]
    expected = [score for _, score in rows]
    for threads in (1, 2, 3):
        assert small.scores_many(positions, threads=threads).tolist() == expected
    assert small.scores_many(positions, fresh=True).tolist() == expected


def test_a_position_that_is_over(solver: Solver) -> None:
    won = Position.parse("1212121")
    assert won.outcome is not None
    assert solver.score(won) == -((CELLS + 2 - 7) // 2) == -18
    assert solver.sign(won) == -1
    assert solver.scores(won) == [None] * COLUMNS
    assert solver.best_columns(won) == solver.principal_variation(won) == ()
    assert solver.plies_to_end(won) == 0
    before = Position.parse("121212")
    assert solver.score(before) == -solver.score(won)
    assert solver.plies_to_end(before) == 1
    assert solver.score(DRAWN) == 0
    assert solver.scores_many([won, DRAWN]).tolist() == [-18, 0]


@pytest.mark.parametrize(("nodes", "aside"), [(10**6, []), (10**6 + 1, [True])])
def test_a_search_that_may_take_long_leaves_ctrl_c_to_this_thread(
    solver: Solver, nodes: int, aside: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    run = beside.run_interruptibly
    told = lambda *given, **named: asked.append(True) or run(*given, **named)  # noqa: E731
    monkeypatch.setattr("c4env.agents.search.threads.run_interruptibly", told)
    solver.signs(random_position(36, random.Random(1)), nodes)
    assert asked == aside


def test_batches_of_bitboards(solver: Solver) -> None:
    rng = random.Random(3)
    positions = [random_position(36, rng) for _ in range(20)]
    mine = np.array([p.mine for p in positions])
    theirs = np.array([p.theirs for p in positions])
    scores = solver.scores_many(mine, theirs)
    assert scores.dtype == np.int8
    assert scores.tolist() == solver.scores_many(positions).tolist()
    assert solver.scores_many([]).shape == (0,)
    with pytest.raises(InvalidPosition, match="position 1"):
        solver.scores_many([0, 3], [0, 1])
    with pytest.raises(InvalidPosition, match="position 0"):
        solver.scores_many([1 << 50], [0])
    with pytest.raises(InvalidOption, match="shape"):
        solver.scores_many([0, 0], [0])
    with pytest.raises(InvalidPosition, match="position 0"):
        solver.scores_many(["44"])
    for wrong in (Position(), None, 4):
        with pytest.raises(InvalidPosition, match=r": expected positions, or two arrays of bit"):
            solver.scores_many(wrong)
    for bad in ([0.5], ["x"], [[0], []], [None]):
        with pytest.raises(InvalidOption, match=r"bitboards .*: expected integers"):
            solver.scores_many([0], bad)
    with pytest.raises(InvalidOption, match="threads=0"):
        solver.scores_many(positions, threads=0)


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("book", [None, "default"])
def test_columns_of_batches(book: str | None, threads: int) -> None:
    rng = random.Random(3)
    solver = Solver(book=book, table_mb=4)
    plies = range(18, 42) if book is None else (*range(9), *range(18, 42))
    positions = [random_position(n, rng) for n in plies]
    positions += [Position.parse("1212121"), DRAWN]
    found = solver.columns_many(positions, threads=threads)
    assert found.shape == (len(positions), COLUMNS)
    assert found.dtype == np.int8
    for position, row in zip(positions, found.tolist(), strict=True):
        expected = solver.scores(position)
        assert row == [NO_SCORE if score is None else score for score in expected], position
    mine = np.array([p.mine for p in positions])
    theirs = np.array([p.theirs for p in positions])
    assert (solver.columns_many(mine, theirs, threads=threads) == found).all()
    assert solver.columns_many([]).shape == (0, COLUMNS)


def test_a_batch_asks_the_book_first() -> None:
    solver = Solver(table_mb=1)
    positions = [Position(), Position.parse("4"), Position.parse("1212121"), Position.parse("44")]
    assert solver.scores_many(positions).tolist() == [1, -1, -18, 1]
    assert solver.nodes == 0
    assert solver.columns_many(positions)[0].tolist() == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.nodes == 0


@pytest.mark.parametrize("options", [{"table_mb": 0}, {"threads": 0}, {"threads": True}])
def test_options_out_of_range(options: dict[str, int]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(options))):
        Solver(book=None, **options)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "ask",
    [
        lambda solver: solver.score(Position()),
        lambda solver: solver.scores(Position()),
        lambda solver: solver.bounds(LATER, 1e9),
        lambda solver: solver.columns_many([LATER, Position()]),
    ],
    ids=["score", "scores", "bounds", "columns_many"],
)
def test_interrupted_at_once_and_usable_after(
    ask: Callable[[Solver], object], threads: int
) -> None:
    import _thread

    solver = Solver(book=None, table_mb=16, threads=threads)
    late = [position for position, _ in read(LABELLED) if position.plies > 24]
    solver.score(Position.parse("44444"))  # compiled, table touched
    solver.columns_many(late[:2])
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ask(solver)
    assert time.perf_counter() - began < 2.0
    for position, score in [known for known in read(LABELLED) if known[0].plies > 24][::5]:
        assert solver.score(position) == score


@pytest.mark.compiled
def test_threads_that_share_a_solver_get_exact_scores() -> None:
    rng = random.Random(3)
    asked = [position for _ in range(60) if not (position := random_position(14, rng)).outcome]
    known = {position: Solver(book=None, table_mb=1).score(position) for position in asked}
    solver = Solver(book=None, table_mb=1)

    def scores(order: list[Position]) -> dict[Position, int]:
        return {position: solver.score(position) for position in order}

    def batch(order: list[Position]) -> dict[Position, int]:
        return dict(zip(order, solver.scores_many(order).tolist(), strict=True))

    with ThreadPoolExecutor(4) as threads:
        ways = [scores, scores, batch, batch]
        for found in threads.map(lambda way, order: way(order), ways, [asked, asked[::-1]] * 2):
            assert found == known


@pytest.mark.compiled
def test_a_copy_begins_without_what_was_found() -> None:
    solver = Solver(book=None, table_mb=1, threads=2)
    position = read(LABELLED)[0][0]
    for twin in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        assert repr(twin) == repr(solver)
        assert twin.score(position) == solver.score(position)


SMALL = board(4, 4, 4).Position.parse("1234")


@pytest.mark.parametrize(
    "ask",
    [
        *("score", "sign", "scores", "bounds", "best_columns", "plies_to_end"),
        *("principal_variation", "signs", "at_least", "scores_many", "columns_many", "book"),
    ],
)
def test_a_position_of_another_board_is_refused(ask: str) -> None:
    """They once ended the interpreter."""
    solver = Solver(table_mb=1)
    assert solver.book is not None
    rest = {"signs": (100,), "at_least": (1,)}.get(ask, ())
    question = solver.book.score if ask == "book" else getattr(solver, ask)
    for wrong in (SMALL, SMALL.parse("1121314"), "4455", None):
        given = [wrong] if ask.endswith("_many") else wrong
        with pytest.raises(InvalidPosition, match=r"expected a c4env\.Position$") as caught:
            question(given, *rest)
        assert repr(wrong) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_mixing_loses_nothing_and_mirrors_share_a_key() -> None:
    rng = random.Random(8)
    keys = {rng.getrandbits(49) for _ in range(2000)}
    assert len({mix(key) for key in keys}) == len(keys)
    for _ in range(50):
        position = random_position(rng.randrange(30), rng)
        mirrored = position.mirror()
        key = position_key(position.mine, position.theirs)
        assert key == position_key(mirrored.mine, mirrored.theirs)


@kernel(types.int64(types.int64[::1], types.int64, types.int64, types.int64))
def stored(words: np.ndarray, mixed: int, lower: int, upper: int) -> int:
    store(pointer(words), len(words) // 2 - 1, 1, mixed, lower, upper, 100)
    return probe(pointer(words), len(words) // 2 - 1, 1, mixed)


@kernel(types.int64(types.int64[::1], types.int64, types.int64))
def looked_up(words: np.ndarray, mixed: int, epoch: int) -> int:
    return probe(pointer(words), len(words) // 2 - 1, epoch, mixed)


def test_the_table_joins_bounds_and_keeps_two_positions_a_bucket() -> None:
    words = np.zeros(2 << 16, np.int64)
    entry = stored(words, 5, -3, 18)
    assert (lower_bound(entry), upper_bound(entry)) == (-3, 18)
    entry = stored(words, 5, -20, 7)
    assert (lower_bound(entry), upper_bound(entry)) == (-3, 7)
    assert looked_up(words, 5, 2) == 0  # another epoch
    others = [5 + (k << 16) for k in (1, 2)]  # the same bucket
    for mixed in others:
        assert lower_bound(stored(words, mixed, 1, 2)) == 1
    kept = [mixed for mixed in (5, *others) if looked_up(words, mixed, 1)]
    assert len(kept) == 2
    assert others[-1] in kept


@pytest.mark.compiled
def test_parity_bounds_are_bounds(solver: Solver) -> None:
    rng = random.Random(11)
    decided = 0
    for _ in range(500):
        position = random_position(rng.randrange(16, 37), rng)
        mine, theirs = position.mine, position.theirs
        mine_wins, their_wins = winning_cells(mine), winning_cells(theirs)
        cells = playable(mine | theirs)
        if (mine_wins | their_wins) & cells:
            continue
        score = solver.score(position)
        for limit in range(-4, 4):
            bound = parity_bound(mine, theirs, mine_wins, their_wins, cells, position.plies, limit)
            if bound != UNDECIDED:
                decided += 1
                assert score <= bound <= limit or score >= bound > limit
    assert decided > 30


def test_the_table_takes_what_was_asked_for() -> None:
    assert 2 << 20 <= allocate(3).nbytes < 3 << 20


def test_a_new_epoch_forgets(solver: Solver) -> None:
    position = random_position(30, random.Random(9))
    solver.clear()
    solver.score(position)
    first = solver.nodes
    solver.score(position)
    assert solver.nodes <= first
    for _ in range(LAST_EPOCH + 2):  # the numbering of epochs goes round
        solver.clear()
    solver.score(position)
    assert solver.nodes == first


@pytest.mark.compiled
def test_signs_hold_what_exact_scores_say_and_tell_more_for_more_nodes() -> None:
    solver, exact = Solver(book=None, table_mb=1), Solver(table_mb=4)
    known = dict.fromkeys((3, 500, 10**6), 0)
    rng = random.Random(11)
    for position in [random_position(plies, rng) for plies in (16, 17, 18, 19, 20, 22)]:
        signs = [None if s is None else int(np.sign(s)) for s in exact.scores(position)]
        for nodes in known:
            found = solver.signs(position, nodes)
            assert found == solver.signs(position, nodes)  # nothing is left of the first time
            assert solver.nodes <= nodes + 10
            for bounds, sign in zip(found, signs, strict=True):
                assert (bounds is None) == (sign is None)
                assert bounds is None or bounds[0] <= (sign or 0) <= bounds[1]
            best = max(sign for sign in signs if sign is not None)
            known[nodes] += any(bounds == (best, best) for bounds in found)
    assert known[3] < known[10**6] == 6
    assert solver.signs(Position.parse("1212121"), 10) == [None] * 7
    for wrong in ({"nodes": 0}, {"nodes": 5, "order": (3, 3)}):
        with pytest.raises(InvalidOption, match=r"nodes=.*expected nodes >= 1"):
            solver.signs(Position(), **wrong)  # type: ignore[arg-type]


@pytest.mark.compiled
def test_signs_and_batches_leave_what_the_solver_knows() -> None:
    solver = Solver(book=None, table_mb=16)
    position, other = Position.parse("44444126"), Position.parse("4455126621")
    first = solver.signs(other, 50_000)
    solver.score(position)
    begun = solver.nodes
    assert solver.signs(other, 50_000) == first
    solver.scores_many([random_position(30, random.Random(9))], threads=1)
    assert solver.signs(other, 50_000) == first
    solver.score(position)
    assert solver.nodes < begun / 10
