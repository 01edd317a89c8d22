"""Run directories of before there was ``run.json``: read, reported, and continued as new ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import UnreadableRun
from c4env.evaluation.play import keep
from c4env.evaluation.rating.sprt import Sprt
from c4env.evaluation.store import record
from c4env.evaluation.store.record import GAMES_FILE, RUN_FILE, read_games
from tests.helpers.paths import ROOT

OLD = ROOT / "tests" / "data" / "old_runs"
GROWN = "9df39e68069271c1"  # the digest when they were played


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies that this version of c4env, Python and NumPy may continue."""
    there, _ = read_games(OLD / "grown")
    monkeypatch.setattr("c4env.evaluation.games.tournament.version_here", lambda: there.c4env)
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def is_new(folder: Path) -> bool:
    rows = [json.loads(line) for line in (folder / GAMES_FILE).read_text().splitlines()]
    return (folder / RUN_FILE).exists() and all("first" in row for row in rows)


@pytest.mark.parametrize(
    ("name", "kind", "games"),
    [
        ("grown", "round robin", 12),
        ("gauntlet", "gauntlet", 4),
        ("match", "match", 8),
        ("people", "people", 2),
    ],
)
def test_they_are_read_and_reported_as_they_are(
    name: str, kind: str, games: int, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = evaluation.read_run(old / name)
    assert (run.header.kind, len(run.games)) == (kind, games)
    assert main(["report", str(old / name)]) == 0
    assert f"digest {run.digest}" in capsys.readouterr().out
    assert [path.name for path in (old / name).iterdir()] == [GAMES_FILE]


def test_they_go_on_as_new_ones(old: Path) -> None:
    players = ["random", "greedy", "alphabeta:depth=2"]
    before = evaluation.read_run(old / "grown")
    again = evaluation.round_robin(players, 1, limit=2, seed=1, out=old / "grown")
    assert again.digest == before.digest == GROWN
    assert {game.seconds for game in again.games} == {game.seconds for game in before.games}
    assert is_new(old / "grown")
    assert evaluation.read_run(old / "grown").header == before.header
    more = evaluation.round_robin(players, 1, limit=3, seed=1, out=old / "grown")
    assert more.digest == evaluation.round_robin(players, 1, limit=3, seed=1).digest
    field = ["random", "minimax:depth=1"]
    evaluation.gauntlet("greedy", field, 0, seed=1, movetime=5, out=old / "gauntlet")
    assert evaluation.read_run(old / "gauntlet").header.challengers == ("greedy",)
    match = evaluation.play_match(
        ["greedy", "random"], 1, Sprt(0, 200), seed=1, limit=4, out=old / "match"
    )
    assert evaluation.read_run(old / "match").games == match.games
    keep(old / "people", evaluation.read_run(old / "people").games[0])
    assert len(read_games(old / "people")[1]) == 3
    assert all(is_new(folder) for folder in old.iterdir())


def test_one_without_checksums_goes_on(old: Path) -> None:
    path = old / "people" / GAMES_FILE
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["check"]
    lines[0]["format"] = "c4env games 1"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    keep(old / "people", evaluation.read_run(OLD / "people").games[0])
    assert is_new(old / "people")
    assert len(read_games(old / "people")[1]) == 3


def test_one_that_is_refused_stays_old(old: Path) -> None:
    before = (old / "grown" / GAMES_FILE).read_bytes()
    with pytest.raises(UnreadableRun, match="with seed 1, not 2"):
        evaluation.round_robin(["random", "greedy"], 1, limit=2, seed=2, out=old / "grown")
    (old / "grown" / GAMES_FILE).write_bytes(before.replace(b'"14643424"', b'"14643425"'))
    with pytest.raises(UnreadableRun, match=r"line 2: .* damaged"):
        evaluation.round_robin(["random", "greedy"], 1, limit=2, seed=1, out=old / "grown")
    assert [path.name for path in (old / "grown").iterdir()] == [GAMES_FILE]


def test_a_kill_while_it_is_made_new_leaves_it_old_or_new(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(record, "write_whole", killed)  # of the games
        with pytest.raises(KeyboardInterrupt):
            keep(old / "people", evaluation.read_run(old / "people").games[0])
    assert len(evaluation.read_run(old / "people").games) == 2
    keep(old / "people", evaluation.read_run(old / "people").games[0])
    assert is_new(old / "people")
    assert len(evaluation.read_run(old / "people").games) == 3
