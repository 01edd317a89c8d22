from pathlib import Path

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, list_openings
from c4env.agents.solver.exam import exam
from c4env.errors import InvalidOption
from c4env.evaluation.runs.run import choose_openings
from c4env.openings import balanced_openings, canonical, enumerate_openings, read_openings
from c4env.position import Position


def test_number_of_mirror_reduced_openings():
    for plies, count in enumerate((1, 4, 25, 121, 568, 2144)):
        openings = enumerate_openings(plies)
        assert len(openings) == count
        assert {len(moves) for moves in openings} == {plies}
        assert len({canonical(Position.parse(moves)) for moves in openings}) == count


def test_balanced_openings_are_those_of_a_small_exact_score():
    """The columns of the empty board score -2 -1 0 1 0 -1 -2; 498 was counted elsewhere."""
    assert balanced_openings(1, 0) == ["3"]
    assert balanced_openings(1, 1) == ["2", "3", "4"]
    assert len(balanced_openings(4, 4)) == 498
    assert balanced_openings(0, 0) == []


def test_the_order_is_the_seeds():
    first = choose_openings(3, seed=1)
    assert first == choose_openings(np.int8(3), seed=1)
    assert sorted(first) == enumerate_openings(3)
    assert first != sorted(first)
    assert first != choose_openings(3, seed=2)
    assert choose_openings(3, seed=1, limit=10) == first[:10]
    assert choose_openings(np.int64(1)) == choose_openings(1)


def test_a_number_is_plies_and_digits_are_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("4", "44"):
        Path(name).write_text("1\n")  # a text of digits is not the file of this name
    for plies in (4, np.int64(4), np.uint8(4)):
        assert list_openings(plies) == enumerate_openings(4)
    assert len(list_openings(4)) == 568
    for moves in ("", "1", "4", "44", "12345671234567"):
        assert list_openings(moves) == choose_openings(moves) == [moves]
    assert list_openings("./44") == list_openings(Path("44")) == ["1"]
    for openings, words in (
        ("8", "moves: '8': move 1, '8', is not a column"),
        ("0", "moves: '0': move 1, '0'"),
        ("1212121", "moves: the game is over"),
        (44, "openings=44: expected a number of plies 0..8"),
        (True, "openings=True: expected a number of plies"),
        ("-3", "openings='-3': No such file"),
        (" 4", "openings=' 4': No such file"),
        ("4a", "openings='4a': No such file"),
    ):
        with pytest.raises(InvalidOption, match=words):
            list_openings(openings)


def test_positions_are_openings():
    position = Position.parse("4453")
    assert list_openings(position) == [position.moves()]
    assert list_openings([position, "12"]) == [position.moves(), "12"]


def test_a_file_of_openings(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# mine\n44\n\n  1234 # a staircase\r\n7\n")
    assert read_openings(path) == ["44", "1234", "7"]
    assert sorted(choose_openings(str(path))) == ["1234", "44", "7"]


@pytest.mark.parametrize(
    ("openings", "words"),
    [
        (["4455", "5544"], "opening 2: '5544' reaches the same position as opening 1, '4455'"),
        (("", "123", "1", "321"), "opening 4: '321' reaches the same position as opening 2, '123'"),
        ([Position(), Position.parse("1"), Position()], "opening 3: Position.parse('') reaches"),
        ("44\n\n44\n", "line 3: '44' reaches the same position as line 1, '44'"),  # of a file
    ],
)
def test_two_openings_are_two_positions(openings, words, tmp_path):
    if isinstance(openings, str):
        (tmp_path / "file").write_text(openings)
        openings, words = tmp_path / "file", f"{tmp_path / 'file'}, {words}"
    with pytest.raises(InvalidOption) as refused:
        list_openings(openings)
    assert words in str(refused.value)


def test_mirror_images_are_two_positions(tmp_path):
    both = ["12", "76", "4455", "4433"]
    assert list_openings(both) == both
    path = tmp_path / "openings.txt"
    path.write_text("\n".join(both))
    assert list_openings(str(path)) == both


def test_bad_openings_are_refused(tmp_path):
    path = tmp_path / "openings.txt"
    for openings, words in (
        (b"44\n# x\n48\n", "line 3: '48': move 2, '8'"),
        (b"11111111\n", "line 1: .* full"),
        (b"1212121\n", "line 1: the game is over"),
        (b"# nothing\n", "expected at least one opening"),
        (b"\xff\xfe\n", "not a text file"),
        ("no-such-file", "No such file"),
        ("balanced", "such as balanced:4,2"),
        ("balanced:4,-1", "such as balanced:4,2"),
        ("balanced:9,1", "a number of plies 0..8"),
        ("balanced:0,0", "at least one"),
        ([], "at least one"),
        ([3], "not a move string"),
        (2.5, "a number of plies"),
    ):
        if isinstance(openings, bytes):  # the content of a file
            path.write_bytes(openings)
        with pytest.raises(InvalidOption, match=words):
            choose_openings(str(path) if isinstance(openings, bytes) else openings)


def test_the_exam_is_a_list_of_openings(tmp_path, monkeypatch):
    assert list_openings("exam") == [question.moves for question in exam()]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exam").write_text("44\n")
    assert list_openings("exam") == ["44"]  # a file comes first


def single(**options):
    return ConnectFourEnv("greedy", **options)


def starts_of(environment):
    drawn = set()
    for seed in range(40):
        environment.reset(seed=seed)
        drawn.add(environment.position)
    return drawn


def test_an_environment_takes_what_a_run_takes(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("44\n1212\n")
    for openings in (2, np.int64(2), "balanced:2,1", str(path), path, ["44", "1212"]):
        begins = {Position.parse(moves) for moves in list_openings(openings)}
        drawn = starts_of(single(openings=openings, seat=0))
        assert drawn <= begins
        assert len(drawn) > len(begins) // 2
    for moves in ("", "4", "44", "445"):  # one text of digits, whatever its length
        only = Position.parse(moves)
        for openings in (moves, only):
            assert starts_of(single(openings=openings, seat=len(moves) % 2)) == {only}
    for openings in ("no-file", 2.5, [], ["4455", "12", "5544"]):
        with pytest.raises(InvalidOption):
            single(openings=openings, seat=0)


def test_openings_that_the_opponent_could_end_are_left_out():
    openings = ["44", Position.parse("112233"), "1212127"]  # 3 in a row; 3 in a column
    envs = ConnectFourVectorEnv(90, openings=openings)
    envs.reset(seed=1)
    assert len({*envs.positions()}) == 3
    assert Position.parse("112233") in starts_of(single(openings=openings[:2], seat=0))
    for seat, count in ((1, 1), ("random", 2)):
        with pytest.warns(UserWarning, match=f"in {count} of 3 the opponent's first move"):
            environment = single(openings=openings, seat=seat)
        assert Position.parse("112233") not in starts_of(environment)
    with pytest.raises(InvalidOption, match="in 1 of 1 the opponent's first move could end"):
        single(openings=["112233"], seat=1)
