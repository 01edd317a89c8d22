"""Exact data: labels as the slow reference finds them, splits, files, and a kill."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from c4env import Position, evaluation
from c4env.agents.solver import NO_SCORE
from c4env.agents.solver.book import default_book
from c4env.agents.solver.exam import exam_positions
from c4env.bitboard import mirror
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation import Data
from c4env.evaluation.exact import data as module
from c4env.evaluation.exact import sample_positions as draws
from c4env.evaluation.exact.data import SPLITS
from c4env.evaluation.records.jsonl import Memo
from c4env.observation import observe
from tests.helpers.processes import start_python
from tests.rules import reference

LATE = {"positions": 200, "plies": range(26, 40), "seed": 3, "sets": ["random"]}


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """Positions that are soon solved: the file, and what is in it."""
    path = tmp_path_factory.mktemp("data") / "late.npz"
    return path, evaluation.data(path, jobs=1, **LATE)


def positions(found):
    pairs = zip(found.mine.tolist(), found.theirs.tolist(), strict=True)
    return [Position.from_bitboards(*pair) for pair in pairs]


def test_every_label_is_what_the_slow_reference_finds(late):
    some = late[1][late[1].ply >= 33]
    assert len(some.mine) > 20
    for position, columns in zip(positions(some), some.columns.tolist(), strict=True):
        board = reference.board_after(position.moves())
        scores = reference.column_scores(board, position.to_move)
        expected = [NO_SCORE if score is None else score for score in scores]
        assert columns == expected


def test_the_fields_go_together(late):
    result = late[1]
    assert len(result.mine) == 200
    assert (result.score == result.columns.max(axis=1)).all()
    assert ((result.columns == result.score[:, None]) == result.best).all()
    assert (result.ply == [p.plies for p in positions(result)]).all()
    assert {p.outcome for p in positions(result)} == {None}
    assert {*result.ply.tolist()} == {*LATE["plies"]}


def test_it_is_a_table_of_positions(late):
    result = late[1]
    assert len(result) == 200
    assert repr(result).startswith("<Data: 200 positions of 26 to 39 plies; ")
    assert len(repr(result)) < 120
    assert [row.position for row in result] == positions(result)
    assert result[-1].columns.tolist() == result.columns[-1].tolist()
    assert result[np.int64(3)].score == result[3].score == result.score[3]
    assert [len(result[rows]) for rows in (slice(5, 15), [1, 2], result.score > 0)] == [
        10, 2, (result.score > 0).sum(),
    ]  # fmt: skip
    assert result[[7, 2]].mine.tolist() == [result.mine[7], result.mine[2]]
    with pytest.raises(IndexError):
        result[200]
    frame = result.frame()
    assert list(frame) == list(module.NAMES)
    assert frame.score.tolist() == result.score.tolist()
    assert repr(result[:0]) == "<Data: 0 positions>"


def test_concepts_are_what_a_slow_reader_of_the_board_finds(tmp_path):
    path = tmp_path / "a.npz"
    found = evaluation.data(path, 300, range(10, 40), sets=["random"], concepts=True)
    concepts = found.concepts()
    with np.load(path) as content:
        for name, cells in concepts._asdict().items():
            assert content[name].dtype == np.int64
            assert (content[name] == cells).all()
    assert (Data.read(path).columns == found.columns).all()
    seen = Counter()
    for i, position in enumerate(positions(found)):
        board = reference.board_after(position.moves())
        best = max(found.columns[i].tolist())
        expected = {name: set() for name in concepts._fields}
        for column in reference.open_columns(board):
            cell = (next(r for r in range(6) if board[r][column] == reference.EMPTY), column)
            expected["playable"].add(cell)
            score = int(found.columns[i][column])
            if (score > 0, score < 0) == (best > 0, best < 0):
                expected["keeping"].add(cell)
        for side, player in (("mine", position.to_move), ("theirs", 1 - position.to_move)):
            for row, column in reference.cells_completing_four(board, player):
                if board[row][column] == reference.EMPTY:
                    expected[f"{side}_{'odd' if row in (0, 2, 4) else 'even'}"].add((row, column))
                    if (row, column) in expected["playable"]:
                        expected[f"{side}_now"].add((row, column))
        for name, cells in expected.items():
            assert getattr(concepts, name)[i] == sum(1 << (7 * c + r) for r, c in cells), name
            seen[name] += len(cells)
    assert min(seen.values()) > 20


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_what_is_written_is_read(late, tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"file{ending}"
    labels = evaluation.data(path, **LATE)
    for name in module.NAMES:
        kept, given, same = (getattr(each, name) for each in (Data.read(path), labels, late[1]))
        assert kept.dtype.kind == given.dtype.kind
        assert (kept == given).all()
        assert (given == same).all()
    assert [path] == list(tmp_path.iterdir())
    if ending == ".parquet":
        frame = pytest.importorskip("pandas").read_parquet(path)
        assert (np.stack(frame["columns"]) == labels.columns).all()


def test_the_file_is_the_same_for_any_number_of_jobs(late, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PORTION", 33)
    for jobs in (1, 2):
        evaluation.data(tmp_path / f"{jobs}.npz", jobs=jobs, **LATE)
        assert (tmp_path / f"{jobs}.npz").read_bytes() == late[0].read_bytes()
    other = evaluation.data(tmp_path / "other.npz", **{**LATE, "seed": 4})
    assert not np.isin(other.mine, late[1].mine).all()


def test_no_position_comes_twice_and_a_mirror_image_is_in_the_same_split(late, tmp_path):
    labels = evaluation.data(tmp_path / "a.npz", 2000, range(30, 36), sets=["random"])
    images = {(mirror(p.mine), mirror(p.theirs)) for p in positions(labels)}
    own = {(p.mine, p.theirs) for p in positions(labels)}
    assert len(own) == len(images) == 2000
    assert all(p.mirror() == p for p in positions(labels) if (p.mine, p.theirs) in images)
    mirrored = [
        np.array([mirror(b) for b in side.tolist()]) for side in (labels.mine, labels.theirs)
    ]
    turned = module.scored(*mirrored, labels.columns[:, ::-1])
    assert (turned.split == labels.split).all()
    shares = Counter(labels.split.tolist())
    assert 60 < shares["validation"] < 140
    assert 60 < shares["test"] < 140
    assert sum(shares.values()) == sum(len(labels.of(split).mine) for split in SPLITS)


def test_integers_of_numpy_and_files_of_others(tmp_path):
    path = tmp_path / "a.npz"
    evaluation.data(path, np.int64(5), range(36, 38), np.int64(1), sets=["random"])
    assert len(Data.read(path)) == 5
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"\x93NUMPY" + whole):
        path.write_bytes(content)
        with pytest.raises(UnreadableRun, match="expected a file written by c4 data"):
            Data.read(path)
    np.save(tmp_path / "b.npy", np.zeros(3))
    (tmp_path / "b.npy").rename(path)
    with pytest.raises(UnreadableRun, match="expected a file written by c4 data"):
        Data.read(path)


def test_the_sets_have_equal_shares(monkeypatch):
    """Also where games of one have far fewer positions."""
    monkeypatch.setitem(draws.SETS, "zoo", {"greedy": 1})
    draw, plies = partial(draws.Draw.checked, 1), range(32, 34)
    mixed, random, zoo = (
        {*map(tuple, draw(sets, plies, count).boards().T.tolist())}
        for sets, count in ((["random", "zoo"], 200), (["random"], 300), (["zoo"], 300))
    )
    assert len(mixed & random) > 90
    assert len(mixed & zoo) > 90


def test_positions_of_the_exam_are_left_out(tmp_path):
    """Of four plies there are 568, and some of them are asked."""
    labels = evaluation.data(tmp_path / "a.npz", plies=range(0, 5), sets=["all"])
    asked = {p for p in exam_positions() if p.plies <= 4}
    assert asked
    there = set(positions(labels))
    assert not there & asked
    everything = there | {p.mirror() for p in there} | asked
    assert len(everything) == 1 + 7 + 49 + 238 + 1120
    # Games pass them all in the end, and give no others.
    games = evaluation.data(tmp_path / "b.npz", len(there), range(0, 5), sets=["random"])
    assert set(positions(games)) == there


@pytest.mark.compiled
def test_the_uci_set_has_its_counts():
    """By the book; a search of all its columns takes a minute."""
    boards = draws._listed(draws.UCI, range(8, 9))
    result = module.scored(*boards, np.zeros((boards.shape[1], 7), np.int8))
    signs = Counter(np.sign([default_book().score(p) for p in positions(result)]).tolist())
    assert signs == {1: 44473, 0: 6449, -1: 16635}
    asked = exam_positions()
    assert [p in asked for p in positions(result)] == (result.split == "exam").tolist()


def test_the_uci_set_is_fixed(tmp_path):
    for options in ({"positions": 5}, {"plies": range(8, 9)}):
        with pytest.raises(InvalidOption, match="neither positions nor plies"):
            evaluation.data(tmp_path / "a.npz", sets=[draws.UCI], **options)


@pytest.mark.compiled
def test_each_player_of_the_games_moves_when_it_is_its_turn(monkeypatch):
    seats = []

    class Watched(draws.Pool):
        def games(self, boards):
            games, parities = super().games(boards), set()
            choose = games.choose

            def watched(boards, discs, seeds):
                parities.update((np.bitwise_count(discs[:, 0] | discs[:, 1]) % 2).tolist())
                return choose(boards, discs, seeds)

            games.choose = watched
            seats.append(parities)
            return games

    monkeypatch.setattr(draws, "Pool", Watched)
    next(draws._games({"greedy": 1}, 1))
    assert seats == [{0}, {1}]


KILLED = """
import os, sys
from c4env.evaluation.exact import data as module
module.PORTION = 20
def watch(done, total):
    if done == 100:
        os.kill(os.getpid(), 9)
module.data(sys.argv[1], 200, range(26, 40), 3, sets=["random"], jobs=1, watch=watch)
"""


@pytest.mark.compiled
def test_after_a_kill_it_goes_on_to_the_same_file(late, tmp_path, monkeypatch):
    path = tmp_path / "late.npz"
    with start_python("-c", KILLED, path) as process:
        process.communicate(timeout=200)
    assert process.returncode == -9
    part = tmp_path / "late.npz.part"
    assert [part] == list(tmp_path.iterdir())
    with part.open("ab") as file:
        file.write(b'["scores",[20')  # torn off
    with pytest.raises(UnreadableRun, match="belongs to another call"):
        evaluation.data(path, **{**LATE, "seed": 4})
    with monkeypatch.context() as edited:
        edited.setattr(draws, "versions", lambda *more: "after an edit")
        with pytest.raises(UnreadableRun, match=r"belongs to another call: .*'c4env': .*sources"):
            evaluation.data(path, **LATE)
    monkeypatch.setattr(module, "PORTION", 20)
    seen = []
    evaluation.data(path, watch=lambda *done: seen.append(done), **LATE)
    assert seen[0] == (100, 200)
    assert seen[-1] == (200, 200)
    assert path.read_bytes() == late[0].read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_call_that_comes_as_another_ends_leaves_its_file_alone(tmp_path, late, monkeypatch):
    path = tmp_path / "two.npz"

    def opened(part):
        """The other call ends between the first look at the file and the lock."""
        path.write_bytes(late[0].read_bytes())
        return Memo(part)

    monkeypatch.setattr(module, "Memo", opened)
    with pytest.raises(InvalidOption, match=r"two\.npz: expected a new file"):
        evaluation.data(path, **LATE)
    assert [path] == list(tmp_path.iterdir())
    assert path.read_bytes() == late[0].read_bytes()


def test_the_tensors_are_those_of_the_observation(late):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader

    result = late[1]
    (planes, masks, policy, value) = next(iter(DataLoader(result.torch(), batch_size=200)))
    assert {t.dtype for t in (planes, masks, policy, value)} == {torch.float32}
    for tensor, array in zip((planes, masks, policy, value), result.numpy(), strict=True):
        assert (tensor.numpy() == array).all()
    for i, position in enumerate(positions(result)):
        seen = observe(position)
        assert (planes[i].numpy() == np.moveaxis(seen["observation"], -1, 0)).all()
        assert (masks[i].numpy() == seen["action_mask"]).all()
    assert torch.allclose(policy.sum(1), torch.ones(200))
    assert ((policy > 0).numpy() == result.best).all()
    assert (value.numpy() == np.sign(result.score)).all()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_cluster_writes_the_same_bytes(tmp_path):
    pytest.importorskip("distributed")
    for name, where in (("here", {}), ("there", {"backend": "dask", "jobs": 2})):
        evaluation.data(tmp_path / f"{name}.npz", 3000, plies=range(28, 36), **where)
    here, there = ((tmp_path / f"{name}.npz").read_bytes() for name in ("here", "there"))
    assert here == there
