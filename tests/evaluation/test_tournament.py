import functools
import inspect
import itertools
import os
import signal
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from c4env import agents, evaluation
from c4env.errors import InvalidOption
from c4env.evaluation.records.game import digest
from c4env.evaluation.records.header import gauntlet_order, opening_major
from c4env.evaluation.records.run_folder import GAMES_FILE, RUN_FILE, read_folder
from c4env.evaluation.runs.players import name_players
from c4env.evaluation.runs.run import Settings, make_plan, play_plan
from tests.helpers.processes import lines_of, start_python, wait_for_lines

FIELD = ["random", "greedy", "alphabeta:depth=3"]


def centre_first(observation):
    legal = np.flatnonzero(observation["action_mask"])
    return int(min(legal, key=lambda column: abs(column - 3)))


def test_a_schedule_is_every_pairing_with_both_colours():
    games = opening_major(["a", "b", "c"], ["1", "2"])
    assert len(games) == len(set(games)) == 12
    assert [opening for _, opening in games] == ["1"] * 6 + ["2"] * 6
    assert {pair for pair, _ in games[:6]} == {pair for pair, _ in games}
    games = gauntlet_order(["x", "y"], ["a", "b"], ["1", "2"])
    assert len(games) == len(set(games)) == 16
    assert {frozenset(pair) for pair, _ in games} == {*map(frozenset, ("xa", "xb", "ya", "yb"))}
    assert games[0][0] == games[1][0][::-1]


def test_gauntlet_plays_what_the_round_robin_plays_of_it():
    whole = evaluation.round_robin(FIELD, openings=1, seed=2)
    result = evaluation.gauntlet("greedy", ["random", "alphabeta:depth=3"], openings=1, seed=2)
    assert result.players == ("greedy", "random", "alphabeta:depth=3")
    assert {g.fixture: g.moves for g in result.games} == {
        g.fixture: g.moves for g in whole.games if "greedy" in g.players
    }
    assert result.table.cell("random", "alphabeta:depth=3").games == 0
    two = evaluation.gauntlet({"me": "greedy", "you": "greedy"}, ["random"], openings=0)
    assert two.table.games == 4


def test_payoffs_are_the_points_of_each_pair_by_name(tmp_path):
    played = evaluation.round_robin(FIELD, openings=1, seed=2, out=tmp_path)
    read = evaluation.read_run(tmp_path)
    names, scores = read.payoffs()
    assert list(names) == FIELD
    for one, other in itertools.permutations(FIELD, 2):
        games = [game for game in played.games if {*game.players} == {one, other}]
        points = [game.points[game.players.index(one)] for game in games]
        assert scores[names.index(one), names.index(other)] == np.mean(points)
    assert (scores + scores.T == 1).all()
    assert len(set(scores.ravel())) > 3
    totals = (scores.sum(axis=1) - 0.5) / (len(names) - 1)  # each pair met equally often
    assert totals == pytest.approx([played.table.total(name).score for name in names])
    assert played.payoffs()[1].tolist() == scores.tolist()


def test_whoever_takes_games_in_order_may_stop_and_go_on(tmp_path):
    def run(folder, count, jobs):
        settings = Settings(seed=3, jobs=jobs, out=folder)
        with closing(
            play_plan(make_plan(name_players(FIELD), ["1", "2"], settings), True)
        ) as games:
            return list(itertools.islice(games, count))

    whole = run(None, 12, 1)
    assert [game.fixture for game in whole] == opening_major(FIELD, ["1", "2"])
    for count, jobs, kept in ((4, 2, 4), (2, 1, 4), (10, 2, 10)):
        assert digest(run(tmp_path, count, jobs)) == digest(whole[:count])
        assert digest(read_folder(tmp_path)[1]) == digest(whole[:kept])


def test_a_name_that_has_not_played_may_become_another_agent(tmp_path):
    """What is kept of the first plan does not tell of the second."""
    game = {"a": "greedy", "b": "minimax:depth=1", "c": "minimax:depth=2"}
    settings = Settings(out=tmp_path)
    with closing(play_plan(make_plan(name_players(game), [""], settings), True)) as games:
        next(games)
    evaluation.round_robin(game | {"c": "random"}, openings=0, out=tmp_path)
    assert evaluation.read_run(tmp_path).deterministic == ("a", "b")


def test_an_agent_that_cannot_close_loses_no_run():
    class Stuck(agents.Agent):
        name = "stuck"

        def choose(self, position):
            return position.legal_columns()[0]

        def close(self):
            raise ValueError("cannot close")

    assert len(evaluation.round_robin([Stuck(), "greedy"], openings=0).games) == 2


@pytest.mark.compiled  # workers start in seconds only when nothing runs uncompiled
def test_same_digest_for_one_job_and_two():
    """What is registered plays in this process, also if it cannot be copied."""
    lock = threading.Lock()
    agents.register("tournament-centre", centre_first)
    agents.register("dom", lambda observation: lock.locked() + 3)
    field = [*FIELD, "tournament-centre", "dom"]  # a name that is a part of another
    one = evaluation.round_robin(field, openings=1, seed=5, jobs=1)
    two = evaluation.round_robin(field, openings=1, seed=5, jobs=2)
    assert one.digest == two.digest != evaluation.round_robin(field, openings=1, seed=6).digest
    assert [game.fixture for game in one.games] == [game.fixture for game in two.games]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.isolated),
        pytest.param(signal.SIGHUP, marks=pytest.mark.isolated),
    ],
)
def test_a_command_that_is_ended_says_what_is_kept_and_leaves_no_process(tmp_path, number):
    command = ["-m", "c4env.evaluation", "run", "random", "alphabeta:depth=9", "--quiet"]
    before = signal.signal(number, signal.SIG_DFL)  # under nohup a child would ignore SIGHUP
    try:
        process = start_python(*command, "--out", tmp_path, "--jobs", 2, start_new_session=True)
    finally:
        signal.signal(number, before)
    path = tmp_path / GAMES_FILE
    if number == signal.SIGINT:
        while process.poll() is None and not (tmp_path / RUN_FILE).exists():
            time.sleep(0.01)
        for _ in range(3):  # to all processes, as the terminal does; the workers are starting
            time.sleep(0.1)
            os.killpg(process.pid, number)
    else:
        wait_for_lines(process, path, 1)
        process.send_signal(number)
    out, err = process.communicate(timeout=60)  # until nobody holds the pipes any more
    count = lines_of(path)
    by = "" if number == signal.SIGINT else f" by {number.name}"
    kept = f"; {count} games are kept in {path}; the same command resumes from there"
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"c4 run: interrupted{by}{kept if count else ''}\n"
    assert number == signal.SIGINT or len(read_folder(tmp_path)[1]) == count > 0


def test_bad_input_is_refused_before_the_first_game(tmp_path):
    run = functools.partial(evaluation.round_robin, out=tmp_path / "run")
    against = functools.partial(evaluation.gauntlet, out=tmp_path / "run")
    for call, words in (
        (lambda: run([]), "at least two"),
        (lambda: run(["random", 3]), "3: expected an agent, its spec"),
        (lambda: run(["random", agents.base.Agent]), "is a class"),
        (lambda: run(FIELD, seed=-1), "seed=-1"),
        (lambda: run(FIELD, jobs=0), "jobs=0"),
        (lambda: run(FIELD, limit=0), "limit=0"),
        (lambda: against("random", []), "at least one agent in the field"),
        (lambda: against([], ["random"]), "a challenger"),
        (lambda: against("random", ["greedy", "random"]), "both a challenger and in the field"),
        (lambda: against("random", "greedy"), "a list"),
    ):
        with pytest.raises(InvalidOption, match=words):
            call()
        assert not (tmp_path / "run").exists()


def test_every_kind_of_run_takes_the_settings_by_name():
    """So type checkers and editors know them, and the command line declares them once."""
    settings = inspect.signature(Settings).parameters
    for play_it in (evaluation.round_robin, evaluation.gauntlet, evaluation.play_match):
        keywords = inspect.signature(play_it).parameters
        assert {name: keywords[name].default for name in settings} == {
            name: setting.default for name, setting in settings.items()
        }


@pytest.mark.parametrize("name", ["movetime", "margin"])
def test_times_are_seconds_up_to_a_day(name):
    for value in (float("inf"), float("nan"), 86400.5, -1, "1", True):
        with pytest.raises(InvalidOption, match=f"{name}=.*: expected a number of seconds"):
            Settings(**{name: value})
    for given in (86400, np.int64(86400), np.float32(86400)):
        assert repr(getattr(Settings(**{name: given}), name)) == "86400.0"
