import gymnasium
import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, list_openings
from c4env.agents.solver.exam import exam
from c4env.errors import InvalidOption
from c4env.evaluation.games.run import choose_openings
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
    assert first == choose_openings("3", seed=1)
    assert sorted(first) == enumerate_openings(3)
    assert first != sorted(first)
    assert first != choose_openings(3, seed=2)
    assert choose_openings(3, seed=1, limit=10) == first[:10]
    assert choose_openings(np.int64(1)) == choose_openings(1)


def test_a_file_of_openings(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# mine\n44\n\n  1234 # a staircase\r\n7\n")
    assert read_openings(path) == ["44", "1234", "7"]
    assert sorted(choose_openings(str(path))) == ["1234", "44", "7"]


def test_bad_openings_are_refused(tmp_path):
    path = tmp_path / "openings.txt"
    for openings, words in (
        (b"44\n# x\n48\n", "line 3: '48': '8' at 2"),
        (b"11111111\n", "line 1: .* full"),
        (b"1212121\n", "line 1: the game is over"),
        (b"44\n1\n44\n", "line 3: 44 is also in line 1"),
        (b"# nothing\n", "expected at least one opening"),
        (b"\xff\xfe\n", "not a text file"),
        ("no-such-file", "No such file"),
        ("", "expected a number of plies"),
        ("44", "a number of plies 0..8"),
        ("balanced", "such as balanced:4,2"),
        ("balanced:4,-1", "such as balanced:4,2"),
        ("balanced:9,1", "a number of plies 0..8"),
        ("balanced:0,0", "at least one"),
        ([], "at least one"),
        ([3], "not a move string"),
        (["1", "1"], "given twice"),
        (2.5, "a number of plies"),
    ):
        if isinstance(openings, bytes):  # those of a file
            path.write_bytes(openings)
        with pytest.raises(InvalidOption, match=words):
            choose_openings(str(path) if isinstance(openings, bytes) else openings)


def test_the_exam_is_a_list_of_openings(tmp_path, monkeypatch):
    assert list_openings("exam") == [question.moves for question in exam()]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exam").write_text("44\n")
    assert list_openings("exam") == ["44"]  # a file comes first


ENVIRONMENTS = {
    "ConnectFourEnv": lambda **options: ConnectFourEnv("greedy", **options),
    "ConnectFourVectorEnv": lambda **options: ConnectFourVectorEnv(9, opponent="greedy", **options),
    "self-play": lambda seat, **options: ConnectFourVectorEnv(9, **options),
    "make_vec": lambda **options: gymnasium.make_vec("c4env/ConnectFour-v0", 9, **options),
}


def starts_of(environment):
    """The positions from which some games begin."""
    drawn = set()
    for seed in range(40):
        environment.reset(seed=seed)
        many = isinstance(environment, ConnectFourVectorEnv)
        drawn |= set(environment.positions() if many else [environment.position])
    return drawn


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_takes_what_a_run_takes(name, tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("44\n1212\n")
    for openings in (2, "2", np.int64(2), "balanced:2,1", str(path), ["44", "1212"]):
        begins = {Position.parse(moves) for moves in list_openings(openings)}
        drawn = starts_of(ENVIRONMENTS[name](openings=openings, seat=0))
        assert drawn <= begins
        assert len(drawn) > len(begins) // 2
    only = Position.parse("445")
    for openings in (only, "445"):
        assert starts_of(ENVIRONMENTS[name](openings=openings, seat=1)) == {only}
    for openings, words in (
        ("9", "a list of moves"),
        ("no-file", "No such file"),
        (2.5, "2.5: expected"),
        ([], "no posi"),
    ):
        with pytest.raises(InvalidOption, match=words):
            ENVIRONMENTS[name](openings=openings, seat=0)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_openings_that_the_opponent_could_end_are_left_out(name):
    openings = ["44", Position.parse("112233"), "1212127"]  # 3 in a row; 3 in a column
    make = ENVIRONMENTS[name]
    if name == "self-play":
        assert len(starts_of(make(openings=openings, seat=0))) == 3
        return
    assert Position.parse("112233") in starts_of(make(openings=openings[:2], seat=0))
    for seat, count in ((1, 1), ("random", 2)):
        with pytest.warns(UserWarning, match=f"in {count} of 3 the opponent's first move"):
            environment = make(openings=openings, seat=seat)
        assert Position.parse("112233") not in starts_of(environment)
    with pytest.raises(InvalidOption, match="in 1 of 1 the opponent's first move could end"):
        make(openings=["112233"], seat=1)
