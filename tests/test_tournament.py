from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import agents
import evaluation
from agents.errors import UnknownAgent
from c4env.errors import IllegalMove
from evaluation.errors import InvalidRun, UnreadableRun, WorkerDied
from evaluation.record import GAMES_FILE, read_games
from evaluation.schedule import opening_major

FIELD = ["random", "greedy", "alphabeta:depth=3"]


def centre_first(observation):
    """The legal column nearest the centre."""
    legal = np.flatnonzero(observation["action_mask"])
    return int(min(legal, key=lambda column: abs(column - 3)))


def fails(observation):
    """Breaks down at its second move."""
    if observation["observation"].sum() > 3:
        raise RuntimeError("tired")
    return centre_first(observation)


def test_schedule_is_every_pairing_both_colours_opening_by_opening():
    games = opening_major(["a", "b", "c"], ["1", "2"])
    assert len(games) == len(set(games)) == 12
    assert [opening for _, opening in games] == ["1"] * 6 + ["2"] * 6
    assert {pair for pair, _ in games[:6]} == {pair for pair, _ in games}


def test_contract():
    result = evaluation.round_robin(["random", "greedy"], openings=2, seed=1)
    assert len(result.games) == 50
    assert result.table.games == 50
    assert {r.player for r in result.ratings} == {"random", "greedy"}
    assert result.ratings[0].player == "greedy"


def test_greedy_beats_random_and_search_beats_greedy():
    field = ["random", "greedy", "alphabeta:depth=5"]
    table = evaluation.round_robin(field, openings=1, seed=3).table
    assert table.players == ("alphabeta:depth=5", "greedy", "random")


def test_same_seed_same_games_other_seed_others():
    def run(seed):
        return evaluation.round_robin(FIELD, openings=1, seed=seed).digest

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.compiled  # workers start in seconds only when nothing runs uncompiled
def test_same_digest_for_one_job_and_two():
    one = evaluation.round_robin(FIELD, openings=1, seed=5, jobs=1)
    two = evaluation.round_robin(FIELD, openings=1, seed=5, jobs=2)
    assert one.digest == two.digest
    assert [game.key for game in one.games] == [game.key for game in two.games]


def test_callables_and_mappings_play():
    result = evaluation.round_robin([centre_first, agents.make("random")], openings=["", "44"])
    assert result.players == ("centre_first", "random")
    result = evaluation.round_robin({"x": "random", "y": "random"}, openings=0)
    assert result.players == ("x", "y")


@pytest.mark.compiled
def test_registered_functions_reach_the_workers():
    agents.register("tournament-centre", centre_first, replace=True)
    one = evaluation.round_robin(["tournament-centre", "random"], openings=1)
    two = evaluation.round_robin(["tournament-centre", "random"], openings=1, jobs=2)
    assert one.digest == two.digest


def dies(observation):
    """Takes its process with it."""
    os._exit(3)


@pytest.mark.compiled
def test_a_worker_that_dies_is_an_error_and_loses_no_game(tmp_path):
    field = [centre_first, "random", dies]
    with pytest.raises(WorkerDied, match="died after"):
        evaluation.round_robin(field, openings=0, jobs=2, out=tmp_path)
    read_games(tmp_path)


def test_a_failing_agent_forfeits_and_the_run_goes_on():
    result = evaluation.round_robin([fails, "random", "greedy"], openings=0, seed=1)
    assert len(result.games) == 6
    assert result.table.forfeits == {"fails": {"exception": 4}}
    assert "fails forfeited, for example: exception: RuntimeError: tired" in result.table.text()
    assert all("tired" in g.reason for g in result.games if "fails" in g.players)


def test_an_interrupted_run_ends_with_the_same_games(tmp_path):
    whole = evaluation.round_robin(FIELD, openings=1, seed=9)

    def stop(done, total):
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation.round_robin(FIELD, openings=1, seed=9, out=tmp_path, watch=stop)
    assert len(read_games(tmp_path)[1]) == 10
    counts = []
    resumed = evaluation.round_robin(
        FIELD, openings=1, seed=9, out=tmp_path, watch=lambda done, total: counts.append(done)
    )
    assert counts[0] == 10
    assert resumed.digest == whole.digest
    again = evaluation.round_robin(FIELD, openings=1, seed=9, out=tmp_path)
    assert again.games == resumed.games  # to the second: read, not played


@pytest.mark.compiled
def test_a_killed_run_ends_with_the_same_games(tmp_path):
    field = ["random", "alphabeta:depth=6", "alphabeta:depth=5"]
    command = [sys.executable, "-m", "evaluation", "run", *field, "--openings", "2", "--quiet"]
    command += ["--seed", "4", "--out", str(tmp_path), "--jobs", "2"]
    path = tmp_path / GAMES_FILE
    for wanted in (3, 20):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        while process.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") > wanted:
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.005)
        process.wait()
    assert 20 < path.read_bytes().count(b"\n") < 151
    with path.open("a") as file:
        file.write('{"players":["random","alph')  # as a kill in the middle of a write leaves it
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    digest = evaluation.round_robin(field, openings=2, seed=4).digest
    assert f"digest {digest}" in done.stdout


def test_a_directory_of_another_run_is_refused(tmp_path):
    evaluation.round_robin(["random", "greedy"], openings=0, out=tmp_path)
    for change in ({"seed": 1}, {"openings": 1}):
        with pytest.raises(UnreadableRun, match="another run"):
            evaluation.round_robin(
                ["random", "greedy"], **{"openings": 0, "out": tmp_path, **change}
            )
    with pytest.raises(UnreadableRun, match="another run"):
        evaluation.round_robin(["random", "minimax:depth=1"], openings=0, out=tmp_path)


@pytest.mark.parametrize(
    ("players", "options", "error", "words"),
    [
        (["random"], {}, InvalidRun, "at least two"),
        ([], {}, InvalidRun, "at least two"),
        ("random", {}, InvalidRun, "a list"),
        (["random", "random"], {}, InvalidRun, "given twice"),
        (["random", 3], {}, InvalidRun, "neither a spec nor callable"),
        (["random", agents.base.Agent], {}, InvalidRun, "is a class"),
        (["random", "rndom"], {}, UnknownAgent, "did you mean 'random'"),
        (["random", "greedy"], {"seed": -1}, InvalidRun, "seed=-1"),
        (["random", "greedy"], {"seed": True}, InvalidRun, "seed=True"),
        (["random", "greedy"], {"jobs": 0}, InvalidRun, "jobs=0"),
        (["random", "greedy"], {"openings": 9}, InvalidRun, "openings=9"),
        (["random", "greedy"], {"openings": []}, InvalidRun, "at least one"),
        (["random", "greedy"], {"openings": ["1", "1"]}, InvalidRun, "given twice"),
        (["random", "greedy"], {"openings": ["1212121"]}, InvalidRun, "over after it"),
        (["random", "greedy"], {"openings": ["11111111"]}, IllegalMove, "full"),
    ],
)
def test_bad_input_is_refused_before_the_first_game(players, options, error, words, tmp_path):
    with pytest.raises(error, match=words):
        evaluation.round_robin(players, out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()
