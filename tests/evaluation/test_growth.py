import json
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c4env import evaluation
from c4env.errors import UnreadableRun
from c4env.evaluation.__main__ import main
from c4env.evaluation.ratings.sprt import Sprt
from c4env.evaluation.records.game import digest
from c4env.evaluation.records.header import RunHeader, extend_header
from c4env.evaluation.records.run_folder import GAMES_FILE, RUN_FILE, read_folder
from c4env.evaluation.report.page import contents
from c4env.evaluation.results.match import play_match
from tests.helpers.policies import first_legal

TWO = ["random", "greedy"]
THREE = [*TWO, "minimax:depth=1"]


def counted(*arguments, play=evaluation.round_robin, **settings):
    counts = []
    result = play(*arguments, watch=lambda done, total: counts.append(done), **settings)
    return result, counts[0]


def test_the_report_covers_all_that_is_there(tmp_path, c4):
    run = ["run", "--openings", "1", "--quiet", "--jobs", "1", "--out", tmp_path]
    c4(*run, *TWO, "--limit", "1")
    assert "2 of the games were stored already" in c4(*run, *THREE, "--limit", "1")
    assert evaluation.round_robin(TWO, 1).digest in c4(*run, *TWO)
    shown = c4("report", tmp_path)
    assert digest_of(tmp_path) in shown
    assert "unfinished: 12 of 24 games; a command with all its agents and openings" in shown
    c4(*run, *THREE)
    assert "unfinished" not in c4("report", tmp_path)


def test_more_agents_and_openings_play_what_is_missing(tmp_path):
    settings = {"seed": 6, "out": tmp_path}
    for players, limit, before in ((TWO, 4, 0), (THREE, 4, 8), (THREE[::-1], 9, 24)):
        result, there = counted(players, 2, limit=limit, **settings)
        at_once = evaluation.round_robin(players, 2, limit=limit, seed=6)
        assert there == before
        assert result.digest == at_once.digest
        assert result.players == at_once.players
        assert result.table.text() == at_once.table.text()
        assert [r.elo for r in result.ratings] == [r.elo for r in at_once.ratings]
    header, games = read_folder(tmp_path)
    assert list(header.players) == THREE
    assert (len(header.openings), len(games)) == (9, 6 * 9)


def test_the_first_command_is_kept_and_decides_nothing(tmp_path, c4):
    command = ["run", *TWO, "--openings", "1", "--quiet", "--out", str(tmp_path)]
    first = [*command, "--limit", "2", "--jobs", "1"]
    c4(*first)
    c4(*command, "--jobs", "2")
    result, before = counted(TWO, 1, out=tmp_path)
    assert (before, len(result.games)) == (8, 8)
    assert read_folder(tmp_path)[0].command == ("c4", *first)
    assert contents(evaluation.read_run(tmp_path))["command"] == shlex.join(["c4", *first])
    file = tmp_path / RUN_FILE
    values = json.loads(file.read_text())
    del values["command"]
    file.write_text(json.dumps(values))  # as an older version wrote it
    assert read_folder(tmp_path)[0].command is None


def test_a_command_with_a_key_is_refused_and_a_run_from_python_has_none(tmp_path):
    spec = "chat:model=m,base_url=https://localhost/v1?key=SECRET"
    out = tmp_path / "run"
    assert main(["run", "greedy", spec, "--openings", "0", "--quiet", "--out", str(out)]) == 2
    assert not out.exists()
    run = evaluation.round_robin(TWO, 0, out=out)
    assert read_folder(out)[0] == run.header
    assert run.header.command is contents(run)["command"] is None


def test_growing_goes_on_after_an_interruption(tmp_path):
    evaluation.round_robin(TWO, 1, out=tmp_path)

    def stop(done, total):
        assert total == 24
        if done == 13:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="13 games are kept"):
        evaluation.round_robin(THREE, 1, out=tmp_path, watch=stop)
    with (tmp_path / GAMES_FILE).open("a") as file:
        file.write('{"first":"random","sec')  # a game torn off
    shorter = evaluation.round_robin(TWO, 1, out=tmp_path)
    assert shorter.digest == evaluation.round_robin(TWO, 1).digest
    result, there = counted(THREE, 1, out=tmp_path)
    assert there == 13
    assert result.digest == evaluation.round_robin(THREE, 1).digest == digest_of(tmp_path)
    again, there = counted(THREE, 1, out=tmp_path)
    assert (again.games, there) == (result.games, 24)  # to the second: read, not played


def digest_of(folder):
    return digest(read_folder(folder)[1])


CLOSE = Sprt(0, 100)


def test_a_match_with_a_test_goes_on_with_more_openings(tmp_path):
    pair = PAIR
    first = play_match(*pair, ["1", "2"], CLOSE, out=tmp_path)
    assert first.decision is None
    more = ["12", "3", "1", "4", "44", "13", "41"]
    result, there = counted(
        pair, more, sprt=CLOSE, play=lambda p, *a, **k: play_match(*p, *a, **k), out=tmp_path
    )
    order = ["1", "2", "12", "3", "4", "44", "13", "41"]
    at_once = play_match(*pair, order, CLOSE)
    assert there == 4
    assert at_once.games != first.games
    assert (result.digest, result.lines.csv()) == (at_once.digest, at_once.lines.csv())
    assert read_folder(tmp_path)[0].openings == tuple(order)
    assert evaluation.read_run(tmp_path).lines.csv() == at_once.lines.csv()
    assert play_match(*pair, ["1", "2"], CLOSE, out=tmp_path).lines.csv() == first.lines.csv()


PAIR = ["minimax:depth=1", "random"]


def match(openings, sprt=CLOSE, pair=PAIR):
    return lambda out: play_match(*pair, openings, sprt, out=out)


def robin(players=TWO, openings=0, **settings):
    return lambda out: evaluation.round_robin(players, openings, out=out, **settings)


OTHERS = {
    "seed": (robin(), robin(seed=1), "seed 0, not 1"),
    "movetime": (
        robin({"a": first_legal, "b": first_legal}, movetime=5),
        robin({"a": first_legal, "b": first_legal}, movetime=4),
        "movetime 5.0, not 4.0",
    ),
    "agent": (
        robin(["mine=greedy", "random"]),
        robin(["mine=minimax:depth=1", "random"]),
        "player mine greedy, not minimax:depth=1",
    ),
    "openings": (
        robin(openings=["", "2", "1"]),
        robin(openings=["2", "3", "11"]),
        "openings, 2 of whose 3 this run lacks",
    ),
    "order of moves": (
        robin(openings=["1", "4455"]),
        robin(openings=["5544", "1", "4433"]),
        "opening 4455, not 5544, which reaches the same position",
    ),
    "test": (match(0), match(0, Sprt(0, 50)), "sprt 0,100,0.05,0.05, not 0,50,0.05,0.05"),
    "match of others": (
        match(0),
        match(0, pair=TWO[::-1]),
        "players minimax:depth=1 and random, not greedy and random",
    ),
}


@pytest.mark.parametrize(("first", "second", "words"), OTHERS.values(), ids=OTHERS)
def test_another_run_is_refused_and_changes_nothing(tmp_path, first, second, words):
    first(tmp_path)
    before = (tmp_path / GAMES_FILE).read_bytes()
    with pytest.raises(UnreadableRun, match=f"these fields differ: .*{re.escape(words)}"):
        second(tmp_path)
    assert (tmp_path / GAMES_FILE).read_bytes() == before


def test_a_run_of_another_version_is_refused(tmp_path, monkeypatch):
    robin()(tmp_path)
    monkeypatch.setattr("c4env.evaluation.runs.run.versions", lambda: "0.0.0")
    with pytest.raises(UnreadableRun, match=r"these fields differ: c4env .*, not 0.0.0;"):
        robin()(tmp_path)


def test_a_name_stands_for_one_agent_only_in_games_with_it(tmp_path):
    robin(["mine=greedy", "random"], 1)(tmp_path)
    result, there = counted(["mine=greedy", "new=minimax:depth=1"], 1, out=tmp_path)
    assert (there, result.table.games) == (0, 8)


@st.composite
def headers(draw):
    players = draw(st.lists(st.sampled_from("abcde"), min_size=2, unique=True))
    count = draw(st.integers(0, len(players) - 1))
    both = len(players) == 2 and draw(st.booleans())
    return RunHeader(
        kind="gauntlet" if count else "match" if both else "round robin",
        players={name: name for name in players},
        challengers=tuple(players[:count]),
        openings=tuple("1234"[: draw(st.integers(1, 4))]),
        deterministic=tuple(name for name in players if name in "ab"),
        timed=tuple(name for name in players if name == "c"),
        code={name: {f"{name}.py": "1"} for name in players},
        seed=1,
    )


@given(st.lists(headers(), min_size=1, max_size=5))
def test_the_header_of_a_grown_run_plans_all_that_was_asked_for(asked):
    header = asked[0]
    for run in asked[1:]:
        header = extend_header("run", header, run, [("a", "b")])
    games = set(header.schedule())
    assert len(games) == len(header.schedule())
    assert (header.kind == "gauntlet") == bool(header.challengers)
    assert header.kind != "match" or len(header.players) == 2
    for run in asked:
        assert games >= set(run.schedule())
        assert set(run.deterministic) <= set(header.deterministic) <= {"a", "b"}
        assert set(run.timed) <= set(header.timed) <= {"c"}
        assert extend_header("run", header, run, [("a", "b")]) == header  # nothing is taken away
