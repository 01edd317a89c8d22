"""Opening books: the one shipped, the format, building one, and the 12-ply book."""

import random

import numpy as np
import pytest

from c4env.agents.solver import Book, Solver, enumeration, twelve
from c4env.agents.solver.book import default_book, twelve_ply_book
from c4env.agents.solver.table import position_key
from c4env.bitboard import COLUMNS, mirror_all
from c4env.errors import InvalidOption, MissingExtra
from c4env.position import Position
from tests.helpers.paths import DATA
from tests.rules.positions import random_position, random_positions


def shallow(plies):
    """The scores of all positions of so many discs, in the order of keys."""
    return Solver().scores_many(*enumeration.bitboards(enumeration.layers(plies)[plies]))


def test_layers_are_all_positions_one_of_each_mirror_pair():
    layers = enumeration.layers(5)
    assert [len(layer) for layer in layers] == [1, 4, 25, 121, 568, 2144]
    reached = {Position()}
    for plies in range(4):
        keys = {position_key(p.mine, p.theirs) for p in reached}
        assert keys == set(layers[plies].tolist())
        reached = {p.play(column) for p in reached for column in p.legal_columns()}


@pytest.mark.compiled
def test_the_default_book_knows_the_facts():
    book = default_book()
    assert book.plies == 8
    mine, theirs = enumeration.bitboards(book.keys)
    quiet = book.scores[enumeration.without_immediate_win(mine, theirs)]
    assert len(quiet) == 67557
    assert [(quiet > 0).sum(), (quiet == 0).sum(), (quiet < 0).sum()] == [44473, 6449, 16635]
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
    scores = enumeration.backed_up(keys, default_book().scores)

    def count(keys):
        """Of positions that the keys, one of each mirror pair, stand for."""
        return int(np.where(mirror_all(keys) == keys, 1, 2).sum())

    for ply, *results, total, over in published[:9]:
        signs = np.sign(scores[ply]) * (1 if ply % 2 == 0 else -1)
        found = [count(keys[ply][signs == sign]) for sign in (1, 0, -1)]
        ended = count(enumeration.one_disc_on(keys[ply - 1], True)) if ply else 0
        found[0 if ply % 2 else 2] += ended  # who moved last has won
        assert [*found, sum(found), ended] == [*results, total, over]


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
def test_what_is_no_book(tmp_path):
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
def test_the_twelve_ply_book():
    pytest.importorskip("bitbully_databases")
    book = twelve_ply_book()
    assert book.plies == 12
    solver = Solver(book=None)
    with_book = Solver(book="12ply")
    rng = random.Random(6)
    for plies in (0, 5, 8, 9, 10, 11, 12, 12, 12, 12):
        position = random_position(plies, rng)
        if plies <= 8:
            assert with_book.score(position) == default_book().score(position)
        elif plies >= 11:
            assert with_book.score(position) == solver.score(position)
        assert with_book.score(position) == with_book.score(position.mirror())
        scores = with_book.scores(position)
        assert max(s for s in scores if s is not None) == with_book.score(position)
    mine, theirs = enumeration.bitboards(default_book().keys[::1000].copy())
    assert with_book.scores_many(mine, theirs).tolist() == default_book().scores[::1000].tolist()


def test_the_twelve_ply_book_is_an_extra(monkeypatch):
    twelve_ply_book.cache_clear()
    monkeypatch.setattr(twelve.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"c4env\[book\]"):
        Solver(book="12ply")


def test_codes_of_the_twelve_ply_book():
    # Column by column from the bottom, 10 and 11, 0 at each end, and one 0 more.
    position = Position.parse("1")
    assert twelve.code(position.mine, position.theirs) == 0b11 << 8
    assert twelve.code(0, 0) == 0
    assert twelve.code(1 << (7 * (COLUMNS - 1)), 0) == 0b10 << 2
