"""The solver, its books and perfect play: exact, whatever the options, and interruptible."""

import functools
import pickle
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from c4env import agents
from c4env.agents.solver import NO_SCORE, Book, Solver, enumeration, twelve
from c4env.agents.solver.book import default_book, shipped_book
from c4env.bitboard import CELLS, COLUMNS, mirror_all
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, InvalidPosition
from c4env.position import Position
from tests.helpers.paths import DATA, published
from tests.helpers.processes import FORKS, in_a_fork
from tests.rules import reference
from tests.rules.positions import random_position, random_positions

SETS = "L3_R1", "L2_R1", "L2_R2", "L1_R1"  # published with their scores
DRAWN = Position.parse("421127327363224366417626743773654415515515")
LATER = Position.parse("4147")  # soon decided, but for its columns


def solved(name):
    """A published set, whose extract of 25 comes first."""
    rows = map(str.split, published(f"solved/{name}.txt"))
    return [(Position.parse(moves), int(score)) for moves, score in rows]


SOLVED = [row for name in SETS for row in solved(name)[:25]]


@pytest.fixture(scope="module")
def solver():
    return Solver(book=None, table_mb=8)


@pytest.mark.compiled
@pytest.mark.parametrize("name", SETS)
def test_scores_of_the_solved_sets(solver, name):
    rows = solved(name)[: 150 if name == "L2_R2" else 500]
    scores = solver.scores_many([position for position, _ in rows])
    assert scores.tolist() == [score for _, score in rows]
    for position, score in rows[:25]:
        assert solver.score(position) == score, position
        assert solver.score(position.mirror()) == score, position
        assert solver.sign(position) == (score > 0) - (score < 0), position


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "nodes"), [("L3_R1", 226), ("L2_R1", 1_613), ("L2_R2", 144_856), ("L1_R1", 44_617)]
)
def test_it_searches_as_many_nodes(name, nodes):
    """A worse order of moves changes no score: only the nodes of 25 positions show it."""
    solver, result = Solver(book=None, table_mb=8), 0
    for position, _ in solved(name)[:25]:
        solver.clear()
        solver.score(position)
        result += solver.nodes
    assert result == nodes


@pytest.mark.parametrize("plies", range(41, 33, -1))
def test_agrees_with_plain_negamax_on_late_positions(solver, plies):
    for position in random_positions(20, plies, plies, plies):
        board = reference.board_after(position.moves())
        assert solver.score(position) == reference.negamax(board, position.to_move)[0]


@pytest.mark.compiled
@pytest.mark.parametrize("plies", [14, 18, 22, 26, 30, 34, 38])
def test_column_scores_are_those_of_the_positions_they_lead_to(solver, plies):
    for position in random_positions(10, plies, plies, plies):
        scores = solver.scores(position)
        assert scores == [
            -solver.score(position.play(column)) if position.is_legal(column) else None
            for column in range(COLUMNS)
        ]
        known = [score for score in scores if score is not None]
        assert max(known) == solver.score(position)
        best = solver.best_columns(position)
        assert sorted(best) == [c for c in range(COLUMNS) if scores[c] == max(known)]
        assert [abs(c - 3) for c in best] == sorted(abs(c - 3) for c in best)
        assert solver.scores(position.mirror()) == scores[::-1]


def test_a_search_finds_an_early_win_that_the_book_knows_and_its_table_keeps_it():
    position = Position.parse("5752414")
    solver = Solver(book=None, table_mb=8)
    items = [solver.score(position) for _ in range(2)]
    assert items == [Solver().score(position)] * 2


@pytest.mark.compiled
def test_the_principal_variation_ends_when_and_as_the_score_says(solver):
    for position in random_positions(30, seed=5, fewest=16, most=35):
        score = solver.score(position)
        line = solver.principal_variation(position)
        assert len(line) == solver.plies_to_end(position)
        for column in line:
            assert position.outcome is None
            position = position.play(column)
        assert position.outcome is not None
        assert (position.outcome.winner is None) == (score == 0)
        assert score == 0 or (len(line) % 2 == 1) == (score > 0)


def test_a_position_that_is_over(solver):
    won = Position.parse("1212121")
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


def test_batches_of_bitboards(solver):
    positions = random_positions(20, 3, 36, 36)
    mine, theirs = bitboards(positions).T
    scores = solver.scores_many(mine, theirs)
    assert scores.dtype == np.int8
    assert scores.tolist() == solver.scores_many(positions).tolist()
    assert solver.scores_many([]).shape == (0,)
    with pytest.raises(InvalidPosition, match=r"as Position.parse\('44'\) makes"):
        solver.scores("44")
    with pytest.raises(InvalidPosition, match="position 1"):
        solver.scores_many([0, 3], [0, 1])
    with pytest.raises(InvalidOption, match="shape"):
        solver.scores_many([0, 0], [0])
    with pytest.raises(InvalidPosition, match=r": expected positions, or two arrays of bit"):
        solver.scores_many(Position())
    with pytest.raises(InvalidOption, match=r"bitboards .*: expected integers"):
        solver.scores_many([0], [0.5])
    for low in (-100, np.int32(-(2**31)), -(2**63)):
        with pytest.raises(InvalidOption, match=r"low=.*: expected integers in -22\.\.22"):
            solver.scores_many(positions, low=low)
    for threads in (0, "2", True):
        with pytest.raises(InvalidOption, match=f"threads={threads!r}: expected a positive"):
            solver.scores_many(positions, threads=threads)


@pytest.mark.compiled
@pytest.mark.parametrize(("book", "threads"), [(None, 1), ("default", 2)])
def test_columns_of_batches(book, threads):
    rng = random.Random(3)
    solver = Solver(book=book, table_mb=4)
    plies = range(18, 42) if book is None else (*range(9), *range(18, 42))
    positions = [random_position(n, rng) for n in plies]
    positions += [Position.parse("1212121"), DRAWN]
    columns = solver.columns_many(positions, threads=threads)
    assert columns.shape == (len(positions), COLUMNS)
    assert columns.dtype == np.int8
    for position, row in zip(positions, columns.tolist(), strict=True):
        expected = solver.scores(position)
        assert row == [NO_SCORE if score is None else score for score in expected], position
    mine, theirs = np.array([(p.mine, p.theirs) for p in positions]).T
    assert (solver.columns_many(mine, theirs, threads=threads) == columns).all()
    assert solver.columns_many([]).shape == (0, COLUMNS)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    "ask",
    [
        lambda solver: solver.score(Position()),
        lambda solver: solver.scores(Position()),
        lambda solver: solver.scores(LATER),
        lambda solver: solver.columns_many([LATER, Position()]),
    ],
)
def test_interrupted_at_once_and_usable_after(ask):
    import _thread

    solver = Solver(book=None, table_mb=16)
    late = [known for known in SOLVED if known[0].plies > 24][::5]
    solver.columns_many([position for position, _ in late[:2]])  # compiled
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ask(solver)
    assert solver.nodes < 1_000_000  # none of these is solved with so few
    for position, score in late:
        assert solver.score(position) == score


@pytest.mark.compiled
def test_threads_that_share_a_solver_get_exact_scores():
    asked = random_positions(60, 3, 14, 14)
    known = {position: Solver(book=None, table_mb=1).score(position) for position in asked}
    solver = Solver(book=None, table_mb=1)

    def scores(order):
        return {position: solver.score(position) for position in order}

    def batch(order):
        return dict(zip(order, solver.scores_many(order).tolist(), strict=True))

    with ThreadPoolExecutor(4) as threads:
        ways = [scores, scores, batch, batch]
        for result in threads.map(lambda way, order: way(order), ways, [asked, asked[::-1]] * 2):
            assert result == known


@FORKS
@pytest.mark.compiled
def test_a_fork_writes_into_no_table_but_its_own():
    asked = random_positions(20, 3, 18, 18)
    solver = Solver(book=None, table_mb=1)
    signs = [solver.signs(position, 2_000) for position in asked]
    scores = [solver.score(position) for position in asked]
    table = solver._table.copy()  # what a fork writes changes few answers
    with solver._lock:  # as a search in another thread does, which the fork does not have
        forked = in_a_fork(
            lambda: ([solver.signs(p, 2_000) for p in asked], [solver.score(p) for p in asked])
        )
    assert forked == (signs, scores)
    assert (solver._table == table).all()
    assert [solver.signs(position, 2_000) for position in asked] == signs


@pytest.mark.skipif(sys.platform != "linux", reason="the file of mappings is that of Linux")
def test_a_table_is_private_memory_because_only_that_gets_huge_pages():
    solver = Solver(book=None, table_mb=4)
    address = solver._table.ctypes.data
    rights = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(number, 16) for number in line.split()[0].split("-"))
        rights[begin <= address < end] = line.split()[1]
    assert rights[True] == "rw-p"


@pytest.mark.compiled
def test_signs_hold_what_exact_scores_say_and_tell_more_for_more_nodes():
    solver, exact = Solver(book=None, table_mb=1), Solver(table_mb=4)
    known = dict.fromkeys((3, 500, 10**6), 0)
    rng = random.Random(11)
    for position in [random_position(plies, rng) for plies in (16, 17, 18, 19, 20, 22)]:
        signs = [None if s is None else int(np.sign(s)) for s in exact.scores(position)]
        few = solver.signs(position, 500)
        for nodes in known:
            result = solver.signs(position, nodes)
            assert solver.nodes <= nodes + 10
            for bounds, sign in zip(result, signs, strict=True):
                assert (bounds is None) == (sign is None)
                assert bounds is None or bounds[0] <= (sign or 0) <= bounds[1]
            best = max(sign for sign in signs if sign is not None)
            known[nodes] += any(bounds == (best, best) for bounds in result)
        assert solver.signs(position, 500) == few  # nothing is left of longer searches
    assert known[3] < known[10**6] == 6
    assert solver.signs(Position.parse("1212121"), 10) == [None] * 7
    for wrong in ({"nodes": 0}, {"nodes": 5, "order": (3, 3)}):
        with pytest.raises(InvalidOption, match=r"nodes=.*expected nodes >= 1"):
            solver.signs(Position(), **wrong)


LATE = random_positions(60, seed=1, fewest=24)


@pytest.mark.parametrize("ties", ["center", "random"])
def test_it_plays_a_best_column_and_reports_its_score_and_a_line_to_the_end(ties):
    agent = agents.make("perfect", ties=ties, table_mb=4)
    agent.reset(seed=3)
    solver = Solver(book=None, table_mb=4)
    for position in LATE[:30]:
        scores = solver.scores(position)
        result = agent.search(position)
        assert scores[agent.choose(position)] == max(s for s in scores if s is not None)
        assert result.value == scores[result.column] == solver.score(position)
        assert result.principal_variation[0] == result.column
        after = functools.reduce(Position.play, result.principal_variation, position)
        assert after.outcome is not None
    tied = Position.parse("444444")
    assert {agent.choose(tied) for _ in range(20)} == ({2} if ties == "center" else {2, 4})


def test_blunders_come_at_the_stated_rate_and_only_where_they_can():
    solver = Solver(book=None, table_mb=4)
    agent = agents.make("perfect:blunder=0.3", table_mb=4)
    agent.reset(seed=11)
    erred = could = 0
    for position in LATE:
        scores = [s for s in solver.scores(position) if s is not None]
        if len(set(scores)) == 1:
            continue
        for _ in range(10):
            could += 1
            erred += solver.scores(position)[agent.choose(position)] != max(scores)
    assert could > 300
    assert 0.22 < erred / could < 0.38


def test_positions_searched_do_not_depend_on_earlier_games():
    position = Position.parse("555565544723131")  # beyond the book
    agent = agents.make("perfect")
    agent.reset(seed=1)
    agent.choose(position)
    fresh = agent.nodes
    agent.choose(position)
    assert agent.nodes < fresh  # within a game the table helps
    agent.reset(seed=1)
    agent.choose(position)
    assert agent.nodes == fresh > 0


def shallow(plies):
    """The scores of all positions of so many discs, in the order of keys."""
    return Solver().scores_many(*enumeration.bitboards(enumeration.layers(plies)[plies]))


@pytest.mark.compiled
def test_the_default_book_knows_the_facts():
    assert shipped_book().plies == 8
    solver = Solver()
    assert solver.scores(Position()) == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.plies_to_end(Position()) == 41
    assert solver.nodes == 0


@pytest.mark.compiled  # counts half a million positions
def test_the_book_has_the_counts_of_the_strong_solution():
    """By ply: positions won, drawn and lost for the first player, all, and those that are over."""
    lines = (DATA / "strong_solution.tsv").read_text().splitlines()
    published = [[int(cell) for cell in line.split()] for line in lines[3:]]
    keys = enumeration.layers(8)
    scores = enumeration.backed_up(keys, shipped_book().scores)

    def count(keys):
        """Of positions that the keys, one of each mirror pair, stand for."""
        return int(np.where(mirror_all(keys) == keys, 1, 2).sum())

    for ply, *results, total, over in published[:9]:
        signs = np.sign(scores[ply]) * (1 if ply % 2 == 0 else -1)
        items = [count(keys[ply][signs == sign]) for sign in (1, 0, -1)]
        ended = count(enumeration.one_disc_on(keys[ply - 1], True)) if ply else 0
        items[0 if ply % 2 else 2] += ended  # who moved last has won
        assert [*items, sum(items), ended] == [*results, total, over]


@pytest.mark.compiled
def test_a_book_written_is_the_book_read(tmp_path):
    scores = shallow(5)
    Book(scores, 5).write(tmp_path / "five.npz")
    book = Book.read(tmp_path / "five.npz")
    assert book.plies == 5
    assert book.scores.tolist() == scores.tolist()
    for position in random_positions(50, seed=4, most=5):
        assert book.score(position) == default_book().score(position)
    assert book.score(Position.parse("444444")) is None
    assert Solver(book=tmp_path / "five.npz").scores(Position()) == [-2, -1, 0, 1, 0, -1, -2]


@pytest.mark.compiled
def test_a_file_that_is_not_a_book_is_refused(tmp_path):
    path = tmp_path / "book.npz"
    with pytest.raises(InvalidOption, match=r"book\.npz"):
        Book.read(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InvalidOption, match="not a book"):
        Book.read(path)
    Book(shallow(3), 3).write(path)
    data = path.read_bytes()
    at = len(data) // 2
    path.write_bytes(data[:at] + bytes(8) + data[at + 8 :])
    with pytest.raises(InvalidOption, match="damaged"):
        Book.read(path)
    with pytest.raises(InvalidOption, match="121 scores, but 568"):
        Book(shallow(3), 4)
    with pytest.raises(InvalidOption, match="book=7"):
        Solver(book=7)


@pytest.mark.compiled
def test_the_default_book_knows_positions_of_twelve_discs():
    book = default_book()
    assert book.plies == 12
    search, solver = Solver(book=None), Solver()
    rng = random.Random(6)
    for plies in (0, 5, 8, 9, 10, 11, 11, 12, 12, 12):
        position = random_position(plies, rng)
        if plies >= 11:
            assert book.score(position) == search.score(position)
        assert book.score(position) == book.score(position.mirror())
        scores = solver.scores(position)
        assert max(s for s in scores if s is not None) == book.score(position)
        assert solver.nodes == 0 or plies == 12
    # What 12 discs say of 8 is what this package's own file says.
    shipped = shipped_book()
    mine, theirs = enumeration.bitboards(shipped.keys[::1000].copy())
    found = twelve.resolve_all(book._records, mine, theirs, 8)
    assert found.tolist() == shipped.scores[::1000].tolist()
    assert pickle.loads(pickle.dumps(book)) is book


def test_without_its_file_the_book_of_eight_discs_serves(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.warns(RuntimeWarning, match="bitbully-databases is not complete"):
        assert default_book.__wrapped__() is shipped_book()
