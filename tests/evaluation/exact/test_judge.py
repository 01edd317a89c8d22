from __future__ import annotations

import json

import pytest

from c4env.agents.solver import Solver
from c4env.errors import UnreadableRun
from c4env.evaluation.exact.scores import SCORES_FILE, Judge, positions_backwards, positions_of
from c4env.evaluation.store.record import GameRecord
from c4env.position import Position
from tests.helpers.positions import random_positions


def late_positions(count):
    return random_positions(count, seed=0, fewest=32, most=35)


def a_judge(folder=None):
    return Judge(folder, book=None, table_mb=1)


def test_scores_are_the_solvers_and_mirror_images_share_them():
    solver = Solver(book=None, table_mb=1)
    positions = late_positions(40)
    judge = a_judge()
    judge.judge([*positions, *(p.mirror() for p in positions)], jobs=2)
    assert len(judge) <= len(positions)
    for position in positions:
        assert list(judge.scores(position)) == solver.scores(position)
        assert judge.scores(position.mirror()) == judge.scores(position)[::-1]


def test_scores_are_kept_and_read(tmp_path):
    positions = late_positions(10)
    with a_judge(tmp_path) as judge:
        judge.judge(positions, jobs=1)
        found = [judge.scores(p) for p in positions]
    before = (tmp_path / SCORES_FILE).read_bytes()
    counts = []
    with a_judge(tmp_path) as judge:
        judge.judge(positions, watch=lambda done, total: counts.append((done, total)))
        assert [judge.scores(p) for p in positions] == found
    assert counts == [(len(judge), len(judge))]
    assert (tmp_path / SCORES_FILE).read_bytes() == before


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_interrupted_judgement_loses_nothing_and_goes_on(tmp_path, jobs):
    positions = late_positions(100)

    def stop(done, total):
        if done >= 40:
            raise KeyboardInterrupt

    with a_judge(tmp_path) as judge, pytest.raises(KeyboardInterrupt):
        judge.judge(positions, jobs=jobs, watch=stop)
    found = len(judge)
    assert found >= 40
    with a_judge(tmp_path) as judge:
        assert len(judge) == found
        counts = []
        judge.judge(positions, jobs=jobs, watch=lambda done, total: counts.append(done))
        assert counts[0] == found
        whole = [judge.scores(p) for p in positions]
    alone = a_judge()
    assert whole == [alone.scores(p) for p in positions]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: [entry[0], entry[1] | entry[0], entry[2]],
        lambda entry: [*entry[:2], [s if s is None else 99 for s in entry[2]]],
        lambda entry: ["x", *entry[1:]],
    ],
)
def test_a_damaged_entry_is_named(tmp_path, spoil):
    with a_judge(tmp_path) as judge:
        judge.judge(late_positions(3))
    path = tmp_path / SCORES_FILE
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(spoil(json.loads(lines[2])))
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UnreadableRun, match="line 3"):
        a_judge(tmp_path)


def test_positions_of_a_game_are_those_its_players_chose_in():
    game = GameRecord(("a", "b"), "12", "1212121", 0, "four")
    assert positions_of(game) == [
        Position.parse(m) for m in ("12", "121", "1212", "12121", "121212")
    ]
    assert list(positions_backwards([game])) == positions_of(game)[::-1]
