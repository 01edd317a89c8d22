from __future__ import annotations

import pytest

from c4env import evaluation
from c4env.errors import InvalidOption
from c4env.evaluation.games.settings import Settings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"opening": 1}, "round_robin.. has no setting 'opening'; did you mean 'openings'"),
        ({"job": 1}, "did you mean 'jobs'"),
        ({"foo": 1}, "expected players, openings, seed, jobs, out"),
    ],
)
def test_a_setting_there_is_not_is_refused_with_the_nearest(given, words):
    with pytest.raises(InvalidOption, match=words):
        evaluation.round_robin(["random", "greedy"], **given)


@pytest.mark.parametrize("value", [1e12, float("inf"), float("nan"), 86400.5, -1, "1", True])
@pytest.mark.parametrize("name", ["movetime", "margin"])
def test_times_are_seconds_up_to_a_day(name, value):
    with pytest.raises(InvalidOption, match=f"{name}=.*: expected a number of seconds"):
        Settings(**{name: value})
    assert getattr(Settings(**{name: 86400}), name) == 86400
