from __future__ import annotations

import dataclasses
import typing

import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.settings import Settings, SettingsByName, options

NAMES = [setting.name for setting in dataclasses.fields(Settings)]


def test_the_settings_by_name_are_the_settings():
    assert typing.get_type_hints(SettingsByName) == typing.get_type_hints(Settings)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"opening": 1}, "round_robin.. has no setting 'opening'; did you mean 'openings'"),
        ({"job": 1}, "did you mean 'jobs'"),
        ({"foo": 1}, "expected players, openings, seed, jobs, out"),
    ],
)
def test_a_setting_there_is_not_is_refused_with_the_nearest(given, words):
    with pytest.raises(InvalidRun, match=words):
        evaluation.round_robin(["random", "greedy"], **given)


def test_every_option_of_a_run_is_a_setting(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    shown = capsys.readouterr().out
    assert all(
        f"--{name.replace('_', '-')} {field.metadata['metavar']}" in shown
        for name, field in options().items()
    )
    assert set(NAMES) - set(options()) == {"watch", "on_game"}


@pytest.mark.parametrize("value", [1e12, float("inf"), float("nan"), 86400.5, -1, "1", True])
@pytest.mark.parametrize("name", ["movetime", "margin"])
def test_times_are_seconds_up_to_a_day(name, value):
    with pytest.raises(InvalidRun, match=f"{name}=.*: expected a number of seconds"):
        Settings(**{name: value})
    assert getattr(Settings(**{name: 86400}), name) == 86400
