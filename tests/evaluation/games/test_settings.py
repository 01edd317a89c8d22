from __future__ import annotations

import dataclasses
import inspect

import pytest

from c4env import evaluation
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.settings import Settings
from c4env.evaluation.studies.leaderboard import place, play_leaderboard

NAMES = [setting.name for setting in dataclasses.fields(Settings)]


@pytest.mark.parametrize(
    "function",
    [evaluation.round_robin, evaluation.gauntlet, evaluation.play_match, place],
)
def test_functions_show_the_settings_they_take(function):
    parameters = inspect.signature(function).parameters
    assert set(NAMES) <= set(parameters)
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    own = inspect.signature(play_leaderboard).parameters
    assert own["margin"].default == Settings().margin


@pytest.mark.parametrize("value", [1e12, float("inf"), float("nan"), 86400.5, -1, "1", True])
@pytest.mark.parametrize("name", ["movetime", "margin"])
def test_times_are_seconds_up_to_a_day(name, value):
    with pytest.raises(InvalidRun, match=f"{name}=.*: expected a number of seconds"):
        Settings(**{name: value})
    assert getattr(Settings(**{name: 86400}), name) == 86400
