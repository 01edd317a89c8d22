"""How benchmarks measure and print; how fast is theirs to say, not a test's."""

from __future__ import annotations

import argparse
import json
import sys

import pytest

from tests.benchmarks import harness
from tests.benchmarks.__main__ import main
from tests.helpers.commands import refusal


def test_the_fastest_call_counts():
    clock = iter([0.0, 3.0, 10.0, 12.0, 20.0, 25.0])
    assert harness.timed(lambda: "found", 3, lambda: next(clock)) == (2.0, "found")


def test_they_take_turns_and_the_first_rounds_are_not_measured():
    calls = []

    def work(name):
        return lambda repetition: calls.append((name, repetition)) or float(repetition)

    found = harness.in_turns({"a": work("a"), "b": work("b")}, repeat=2, unmeasured=1)
    assert found == {"a": [1.0, 2.0], "b": [1.0, 2.0]}
    assert calls == [(name, i) for i in range(3) for name in "ab"]


def test_what_is_not_installed():
    assert harness.peer("no_such_module_1") is None


def test_rows_are_printed_as_they_are_measured(capsys):
    seen = []

    def rows():
        yield "one", 1
        seen.append(capsys.readouterr().out)
        yield "two", 2

    harness.show_as_measured({"set": "", "n": ""}, rows(), argparse.Namespace(format="text"))
    assert seen[0].splitlines()[-1].split() == ["one", "1"]
    harness.show_as_measured({"set": "", "n": ""}, [("one", 1)], argparse.Namespace(format="csv"))
    assert capsys.readouterr().out.splitlines()[-2:] == ["set,n", "one,1"]


def test_figures_are_numbers_for_programs(tmp_path, capsys):
    path = tmp_path / "won.txt"
    path.write_text("1212121 -18\n")
    assert main(["solver", str(path), "--alone", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["set"], row["positions"], row["mtdf ms"], row["wrong"]) == ("won", 1, None, 0)


@pytest.mark.parametrize(
    ("benchmark", "module", "extra"),
    [
        ("solver", "bitbully.bitbully_core", "c4env[peers]"),
        ("columns", "bitbully.bitbully_core", "c4env[peers]"),
        ("web", "httpx", "c4env[web]"),
    ],
)
def test_a_benchmark_names_the_package_it_needs(benchmark, module, extra, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    assert extra in refusal([benchmark], capsys, main)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "argument NAME: invalid choice: 'nothing'"),
        (["env", "--foo"], "python -m tests.benchmarks env: unrecognized arguments: --foo"),
    ],
)
def test_what_no_benchmark_takes_is_refused(arguments, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert words in capsys.readouterr().err
