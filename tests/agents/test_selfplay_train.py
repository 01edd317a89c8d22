"""Self-play from zero: what is learned from, that it is learned, and that a kill loses little."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from c4env import Position, agents
from c4env.agents.selfplay.gumbel import PolicyOutput
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption
from tests.agents.test_selfplay_replay import samples_of
from tests.helpers.processes import start_python

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

from c4env.agents.selfplay import plays, replay, train  # noqa: E402  # they need torch

SMALL = {"boards": 16, "channels": 4, "units": 8, "batch": 32, "uses": 4, "stages": "0:2:0"}
STAGE = train.Stage(2, 0)
GROWN = train.Stage(3, 2)
DISORDERED = "0:1:1,9:1:1,8:1:1"  # stages
QUICK = {"FEWEST": 2, "BEHIND": 4, "SAVE_EVERY": 0.0, "REPORTS": 1}
GROUPS = pytest.mark.parametrize("groups", [1, 2])


@pytest.fixture
def quick(monkeypatch):
    for name, value in QUICK.items():
        monkeypatch.setattr(train, name, value)
    # Of the processor, so that as much is done on a busy machine.
    monkeypatch.setattr(train, "time", SimpleNamespace(monotonic=time.process_time))


def trainer_of(out, seed=1, groups=1):
    return train.Trainer(out, seed, train.sizes_of({**SMALL, "groups": groups}))


def play(trainer, stage):
    for group in trainer.playing(stage):
        trainer.replay.add(group())


def scripted(columns, values, proven):
    """A search that plays given columns on one board, and says so of each."""
    message = iter(zip(columns, values, proven, strict=True))

    def search(boards, noise):
        column, value, sure = next(message)
        policies = np.eye(7)[[column]]
        return PolicyOutput(np.array([column]), policies, np.array([value]), np.array([sure]))

    return search


def test_targets_are_results_and_values_halves_each(monkeypatch):
    monkeypatch.setattr(plays, "FROM_EMPTY", 1.0)
    monkeypatch.setattr(plays, "KNOWN_SHARE", 1.0)
    running = plays.SelfPlayGames(1, np.random.default_rng(0))
    values = [0.5, np.nan, 0.0, -1.0, 0.2, 0.2, 1.0]
    proven = [False, False, False, True, False, False, True]
    search = scripted([3, 0, 3, 0, 3, 0, 3], values, proven)
    for _ in range(6):
        assert len(running.play(search)) == 0
    moves = running.play(search)
    assert moves["value"].tolist() == pytest.approx([0.75, -1, 0.5, -1, 0.6, -0.4, 1])
    assert moves["policy"].argmax(axis=1).tolist() == [3, 0, 3, 0, 3, 0, 3]
    assert moves["board"][0].tolist() == [0, 0]
    assert moves["board"][[-1]].tolist() == bitboards("414141").tolist()
    assert running.boards.tolist() == [[0, 0]]  # a new game


@pytest.mark.compiled
def test_positions_of_the_exam_are_not_learned_from(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(plays, "FROM_EMPTY", 1.0)
    for asked, kept in ((0, False), (7, True)):
        monkeypatch.setattr(
            replay, "in_exam", lambda *sides, n=asked: np.bitwise_count(sum(sides)) == n
        )
        trainer = trainer_of(tmp_path)
        while trainer.positions < 60:
            play(trainer, STAGE)
        boards = trainer.replay.samples["board"][: trainer.positions]
        assert (boards.sum(axis=1) == 0).any() == kept


@pytest.mark.compiled
@GROUPS
def test_a_network_learns_what_it_is_shown(tmp_path, quick, groups):
    trainer = trainer_of(tmp_path, groups=groups)
    shown = [("414141", 3, 1.0), ("51515", 4, -1.0), ("717171", 0, 0.5)]
    samples = samples_of(*shown)
    trainer.replay.restore(samples, len(samples))
    first = sum(trainer.learn(1.0))
    for _ in range(300):
        last = sum(trainer.learn(1.0))
    assert last < first / 2
    logits, values = train.Evaluator(trainer.network).evaluate(samples["board"])
    assert logits.argmax(axis=1).tolist() == [column for _, column, _ in shown]
    assert values[1] < values[2] < values[0]
    assert train.Evaluator(trainer.network).evaluate(bitboards("474747"))[0].argmax() == 3


def test_networks_of_the_same_minute_are_two_files(tmp_path, monkeypatch):
    trainer = trainer_of(tmp_path)
    for positions in (1, 2):
        monkeypatch.setattr(train.Trainer, "positions", positions)
        trainer.report([(0.0, 0.0)], 1.0)
    assert len(list(tmp_path.glob("model-*.pt"))) == 2


@pytest.mark.compiled
@GROUPS
def test_it_trains_reports_and_plays(tmp_path, quick, capsys, groups):
    sizes = {**SMALL, "groups": groups}
    reports = []
    trainer = train.train(
        tmp_path, 0.015, 1, **sizes, on_report=lambda agent, step: reports.append((agent, step))
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(reports) == 1
    assert f"{trainer.positions:,} positions" in lines[0]
    assert reports[0][1] == trainer.positions
    assert reports[0][0].choose(Position.parse("44")) in range(7)
    assert len(list(tmp_path.glob("model-*.pt"))) == 1
    assert trainer.positions > 100
    most = 4 * (trainer.positions - 64)
    assert 0 < trainer.learned < most + 32
    assert trainer.learned > most - 4 * groups * (64 + 16 * 42)  # behind, and ended by a ply
    heading, row = (tmp_path / "progress.tsv").read_text().splitlines()
    assert dict(zip(heading.split("\t"), row.split("\t"), strict=True))["positions"]
    for spec in (f"selfplay:{tmp_path}", f"selfplay:{tmp_path},simulations=9"):
        assert agents.make(spec).choose(Position.parse("44")) in range(7)
    again = train.train(tmp_path, 0.015, 1, **sizes)  # nothing is left to do
    assert (again.positions, again.history) == (trainer.positions, list(trainer.history))
    assert "its 0.015 minutes are spent" in capsys.readouterr().out
    more = train.train(tmp_path, 0.03, 1, **sizes)
    assert more.positions > trainer.positions
    assert len(more.history) == 2
    with pytest.raises(InvalidOption, match="groups 3, boards 16"):
        train.train(tmp_path, 0.03, 1, **SMALL | {"groups": 3})


@pytest.mark.compiled
def test_a_series_of_checkpoints_is_spaced_by_the_logarithm_of_the_time(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(train, "FEWEST", 2)
    monkeypatch.setattr(train, "SPAN", 10)  # so that no two fall into one ply
    clock = iter(range(10**6))  # a second passes whenever somebody looks
    monkeypatch.setattr(train, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    sizes = SMALL | {"boards": 64, "uses": 1}  # new positions with each ply, and quickly
    trainer = train.train(tmp_path, 5, 1, checkpoints=10, **sizes)
    kept = sorted(tmp_path.glob("checkpoint-*.pt"))
    counts = [int(path.stem.partition("-")[2]) for path in kept]
    assert len(kept) == 10
    assert counts[-1] == trainer.positions
    assert np.median(counts) < 0.4 * trainer.positions
    for path in kept[:1] + kept[-1:]:
        assert agents.make(f"selfplay:{path}").choose(Position()) in range(7)
    moments = train.moments_of(20, 3000.0)
    assert np.ptp(np.diff(np.log(moments))) < 1e-9
    assert (len(moments), moments[-1]) == (20, 3000.0)
    assert 3000 / 10 < moments[0] < 3000 / 8
    train.train(tmp_path, 6, 1, checkpoints=10, **sizes)  # a longer series adds to it
    assert {*kept} < {*tmp_path.glob("checkpoint-*.pt")}


@pytest.mark.compiled
def test_a_group_plays_the_same_games_beside_another(tmp_path, quick):
    one = trainer_of(tmp_path)
    two = trainer_of(tmp_path, groups=2)
    for trainer in (one, two):
        for _ in range(30):
            moves = [group() for group in trainer.playing(STAGE)]
            trainer.replay.add(moves[0])
        trainer.learn(1.0)
    assert one.positions == two.positions > 64
    assert (one.groups[0].boards == two.groups[0].boards).all()
    assert (two.groups[0].boards != two.groups[1].boards).any()
    for ours, theirs in zip(one.network.parameters(), two.network.parameters(), strict=True):
        assert ours.equal(theirs)


def test_options_of_the_command_are_checked(tmp_path, capsys):
    wrong_stages = "", "16", "5:16:4", "0:16:4,0", "0:16:4,9:0:4", "0:16:4,9:16:3", DISORDERED
    for wrong, words in (
        (["--groups", "33"], "groups=33: expected an integer between 1 and 32"),
        (["--batch", "0"], "batch=0"),
        *((["--stages", text], f"stages={text!r}") for text in wrong_stages),
    ):
        assert train.main("--out", str(tmp_path / "none"), *wrong) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line
    assert not (tmp_path / "none").exists()
    with pytest.raises(InvalidOption, match="shape: expected one of groups, boards"):
        train.train(tmp_path / "none", shape=(4, 8))
    assert train.stages_of("0:2:0,10:3:2") == {0: STAGE, 10: GROWN}


def test_the_learning_rate_falls_to_the_last_with_time_and_with_positions():
    for positions in (0, 10**6):
        rates = [train.rate_at(share / 20, positions, 150_000) for share in range(21)]
        assert rates == sorted(rates, reverse=True)
        assert rates[-1] == pytest.approx(train.LAST_FACTOR * rates[0])
    assert rates[0] < train.rate_at(0, 0, 150_000) == 1


@pytest.mark.compiled
@GROUPS
def test_a_checkpoint_is_all_of_a_training(tmp_path, quick, groups):
    stage = GROWN if groups > 1 else STAGE
    one = trainer_of(tmp_path, groups=groups)
    while one.positions < 200:
        play(one, stage)
    one.learn(1.0)
    # A folder of an older version may have other figures too, not in every line.
    one.seconds, one.history = 5.0, [{"minutes": 1.0, "blunders": 0.5}, {"minutes": 2.0}]
    one.save()
    assert (tmp_path / "progress.tsv").read_text() == "minutes\tblunders\n1\t0.5\n2\tnan\n"
    two = trainer_of(tmp_path, seed=2, groups=groups)
    assert (two.positions, two.learned, two.seconds) == (one.positions, one.learned, 5.0)
    assert two.history == one.history
    for _ in range(5):  # and both go on with the same games
        for trainer in (one, two):
            play(trainer, stage)
            trainer.learn(1.0)
    assert one.positions == two.positions
    assert (one.replay.samples[: one.positions] == two.replay.samples[: one.positions]).all()
    for ours, theirs in zip(one.network.parameters(), two.network.parameters(), strict=True):
        assert ours.equal(theirs)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_training_killed_goes_on_where_it_was(tmp_path, quick):
    script = f"""
from pathlib import Path
from c4env.agents.selfplay import train
for name, value in {QUICK!r}.items():
    setattr(train, name, value)
train.train(Path({str(tmp_path)!r}), 5, 1, **{SMALL!r})
"""
    process = start_python("-c", script, stdout=None, stderr=None)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if (tmp_path / "state.pt").exists() and trainer_of(tmp_path).positions > 300:
                break
            time.sleep(0.05)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    kept = trainer_of(tmp_path)
    assert kept.positions > 300
    after = train.train(tmp_path, kept.seconds / 60 + 0.01, 1, **SMALL)
    assert after.positions >= kept.positions
    assert after.seconds > kept.seconds
    assert agents.make(f"selfplay:{tmp_path}").choose(Position()) in range(7)
