"""The short AlphaZero: its search, that it learns, and that a kill changes nothing."""

import os

import numpy as np
import pytest

from c4env import Position
from tests.helpers.examples import EXAMPLES, example, require_whole_games, share_against_random
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python, start_python

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

alphazero = example("alphazero")


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(alphazero, "SIMULATIONS", 8)


def weights(out):
    return torch.load(out / alphazero.CHECKPOINT, weights_only=True)["network"]


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("moves", "best"), [("112233", 3), ("112131", None), ("1122337", 3)])
def test_the_search_finds_a_win_and_a_block_whatever_the_network(moves, best):
    torch.manual_seed(1)
    root = alphazero.Node(Position.parse(moves))
    alphazero.search(alphazero.ConvNet(), [root], 300)
    assert root.visits.sum() == 300
    if best is not None:
        assert root.visits.argmax() == best
    assert (np.abs(root.total) <= root.visits).all()


def test_the_winner_of_a_game_has_won_all_its_positions(quick):
    torch.manual_seed(1)
    planes, shares, results = alphazero.play(alphazero.ConvNet(), 6, np.random.default_rng(1))
    plies = planes.sum((1, 2, 3)).numpy()
    assert (plies == 0).sum() == 6
    ends = np.flatnonzero(np.append(plies[1:], 0) == 0)
    for begin, end in zip(np.flatnonzero(plies == 0), ends, strict=True):
        assert results[end] in (0, 1)  # who moved last has won, or it is drawn
        turns = (-1.0) ** (end - np.arange(begin, end + 1))
        assert (results[begin : end + 1].numpy() == results[end].item() * turns).all()
    assert torch.allclose(shares.sum(1), torch.ones(len(shares)))


def test_the_same_seed_trains_the_same_network_and_a_kill_changes_nothing(tmp_path, quick):
    alphazero.train(tmp_path / "whole", 500, 1, boards=8)
    alphazero.train(tmp_path / "other", 500, 2, boards=8)
    script = (
        "import os, pathlib, sys\n"
        "import alphazero\n"
        "alphazero.SIMULATIONS, play, turns = 8, alphazero.play, []\n"
        "def killed(*arguments):\n"
        "    turns.append(1)\n"
        "    return os.kill(os.getpid(), 9) if len(turns) > 2 else play(*arguments)\n"
        "alphazero.play = killed\n"
        "alphazero.train(pathlib.Path(sys.argv[1]), 500, 1, boards=8)\n"
    )
    here = environment(PYTHONPATH=f"{ROOT}{os.pathsep}{EXAMPLES}")
    with start_python("-c", script, tmp_path / "killed", env=here) as process:
        process.communicate(timeout=200)
    assert process.returncode == -9
    with pytest.raises(SystemExit, match=r"holds a training with \{'seed': 1, 'boards': 8\}"):
        alphazero.train(tmp_path / "killed", 500, 3, boards=8)
    alphazero.train(tmp_path / "killed", 500, 1, boards=8)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "killed"))
    assert not same(weights(tmp_path / "whole"), weights(tmp_path / "other"))
    before = weights(tmp_path / "whole")
    alphazero.train(tmp_path / "whole", 500, 1, boards=8)  # it is done
    assert same(weights(tmp_path / "whole"), before)


def test_the_script_trains_and_a_spec_names_its_agent(tmp_path):
    script = EXAMPLES / "alphazero.py"
    run_python(script, "--out", tmp_path, "--positions", 0, check=True)  # makes the folder
    alphazero.train(tmp_path, 1, boards=1)
    spec = f"{script}:AlphaZero:path={tmp_path},simulations=2"
    require_whole_games(spec)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_short_training_beats_random(tmp_path):
    alphazero.train(tmp_path, 4_000, 1)
    assert share_against_random(alphazero.AlphaZero(tmp_path, simulations=0)) > 0.7
