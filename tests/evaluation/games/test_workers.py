from __future__ import annotations

import os
import threading
from collections import Counter

import pytest

from c4env import evaluation
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.apart import is_foreign
from c4env.evaluation.games.workers import (
    MOST_GAMES,
    RunSpec,
    _Batches,
    play_all,
    play_batch,
    version_here,
)
from tests.helpers.policies import first_legal

FIELD = {"random": "random", "greedy": "greedy"}
FIXTURES = [(pair, o) for o in "1234567" for pair in (("random", "greedy"), ("greedy", "random"))]


class DiesOnce:
    """Takes its process with it, unless the file is there; it leaves the file."""

    def __init__(self, file):
        self.file = file

    def __call__(self, observation):
        if not self.file.exists():
            self.file.touch()
            os._exit(4)
        return first_legal(observation)


class DiesOnArrival:
    """Takes every process with it that it is sent to."""

    __name__ = "arrival"

    def __call__(self, observation):
        return 0

    def __reduce__(self):
        return (os._exit, (5,))


def played(jobs=2, backend=None, field=FIELD, fixtures=FIXTURES):
    return Counter(
        (game.fixture, game.moves)
        for game in play_all(RunSpec(field, 1, version=version_here()), fixtures, jobs, backend)
    )


@pytest.mark.parametrize("workers", [1, 2, 16])
def test_batches_hand_out_every_game_once_in_order(workers):
    """Asked directly: in a run the sizes of batches show in nothing but its time."""
    batches = _Batches(FIXTURES * 300, workers)
    handed, sizes = [], []
    for batch in batches:
        handed += batch
        sizes.append(len(batch))
        assert list(batches.given) == handed
        batches.learn(len(batch), 1e-4 * len(batch))
    assert handed == FIXTURES * 300
    assert sizes[0] == sizes[-1] == 1
    assert max(sizes) > 20
    assert max(sizes) <= MOST_GAMES


def test_batches_are_told_how_many_games_took_how_long(monkeypatch):
    told = []
    monkeypatch.setattr(_Batches, "learn", lambda self, *done: told.append(done))
    played(backend="threading")
    games, seconds = zip(*told, strict=True)
    assert sum(games) == len(FIXTURES)
    assert all(isinstance(time, float) for time in seconds)


def test_slow_games_go_out_one_by_one():
    batches = _Batches(FIXTURES, 1)
    for batch in batches:
        assert len(batch) == 1
        batches.learn(1, 5.0)


@pytest.mark.parametrize(
    ("player", "foreign"),
    [
        ("greedy", False),
        ("alphabeta:heuristic=lines", False),
        ("alphabeta:heuristic=mine.py:value", True),
        ("puct:learned", False),
        ("puct:selfplay:folder", False),
        ("puct:mine:function,simulations=5", True),
        ("mine.py:agent", True),
        ("package.module:Agent:depth=3", True),
        ("exec:./engine --level 3", False),
        ("torch:FILE.py:NAME", True),
        (first_legal, True),
    ],
)
def test_code_of_others_is_known_by_its_spec(player, foreign):
    assert is_foreign(player) == foreign


def test_threads_play_the_same_games():
    assert played(backend="threading") == played(backend="serial")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_dask_plays_the_same_games():
    pytest.importorskip("distributed")
    assert played(backend="dask") == played(backend="serial")


def test_threads_do_not_share_an_agent_that_is_an_object():
    class Remembers:
        def __init__(self):
            self.busy = threading.Lock()
            self.thread = None

        def __deepcopy__(self, memo):
            return Remembers()

        def __call__(self, observation):
            assert self.thread in (None, threading.get_ident())
            self.thread = threading.get_ident()
            return first_legal(observation)

    field = {"random": Remembers(), "greedy": "greedy"}
    games = list(play_all(RunSpec(field, 1, version=version_here()), FIXTURES, 2, "threading"))
    assert {game.ending for game in games} <= {"four", "full board"}


@pytest.mark.slow
@pytest.mark.compiled
def test_the_games_of_a_worker_that_dies_are_played_again(tmp_path):
    field = {"random": "random", "greedy": DiesOnce(tmp_path / "died")}
    found = played(field=field)
    assert (tmp_path / "died").exists()
    assert found == played(jobs=1, field=field)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_game_that_ends_its_process_is_tried_again_before_it_is_forfeited(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import os, pathlib\n"
        "DEATHS = pathlib.Path(__file__).with_name('deaths')\n"
        "def agent(observation):\n"
        "    times = int(DEATHS.read_text())\n"
        "    if times:\n"
        "        DEATHS.write_text(str(times - 1))\n"
        "        os._exit(4)\n"
        "    return int(observation['action_mask'].argmax())\n"
    )
    field = {"random": "random", "greedy": f"{tmp_path / 'mine.py'}:agent"}
    for times, endings in ((2, ["four"]), (3, ["crash"])):
        (tmp_path / "deaths").write_text(str(times))
        run = RunSpec(field, 1, version=version_here())
        games = list(play_all(run, FIXTURES[:1]))
        assert [game.ending for game in games] == endings
        assert (tmp_path / "deaths").read_text() == "0"
    assert games[0].reason == "its process ended (exit code 4)"


@pytest.mark.slow
@pytest.mark.compiled
def test_an_agent_that_ends_every_process_it_reaches_forfeits():
    run = RunSpec({"random": "random", "greedy": DiesOnArrival()}, 1, version=version_here())
    games = list(play_all(run, FIXTURES[:2], 2))
    assert {game.ending for game in games} == {"crash"}
    assert {game.players[game.forfeited_by] for game in games} == {"greedy"}


@pytest.mark.compiled
# joblib's own thread may lose a race when tasks come while its processes are ended.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_agent_that_cannot_be_sent_is_refused():
    lock = threading.Lock()

    def locked(observation):
        with lock:
            return 0

    with pytest.raises(InvalidRun, match="cannot be sent to a worker"):
        played(field={"random": "random", "greedy": locked})


def test_a_worker_of_another_version_is_refused():
    with pytest.raises(InvalidRun, match=r"has c4env .*: expected the same as the run, 0\.0\.0"):
        play_batch(RunSpec(FIELD, 1, version="0.0.0"), FIXTURES)


@pytest.mark.compiled
@pytest.mark.slow
def test_code_that_was_edited_between_two_runs_plays_as_it_is_now(tmp_path, monkeypatch):
    """In one session of Python, whose workers have imported the file as it was."""
    monkeypatch.chdir(tmp_path)
    players = ["edited.py:agent", "random"]
    for end in ("min", "max"):
        (tmp_path / "edited.py").write_text(
            f"def agent(observation):\n    mask = observation['action_mask']\n"
            f"    return {end}(column for column in range(7) if mask[column])\n"
        )
        found = evaluation.round_robin(players, openings=0, jobs=2)
        first = next(game for game in found.games if game.players[0] == "edited.py:agent")
        assert first.moves[0] == {"min": "1", "max": "7"}[end]
