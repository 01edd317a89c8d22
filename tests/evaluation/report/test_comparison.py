from __future__ import annotations

import json
from dataclasses import replace

import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.plan.header import RunHeader
from c4env.evaluation.plan.openings import enumerate_openings
from c4env.evaluation.report.comparison import changed_games, compare
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.studies.match import Match
from tests.helpers.runs import run_of


def run(players, openings=1, **settings):
    result = evaluation.round_robin(players, openings=openings, **settings)
    specs = players if isinstance(players, dict) else dict(zip(players, players, strict=True))
    return Tournament(RunHeader(players=specs), result.games)


def found_in(table):
    """Rows by agent, and the notes."""
    found = json.loads(table.json())
    return {row["agent"]: row for row in found["rows"]}, found["notes"]


def test_the_same_run_has_not_changed():
    rows, notes = found_in(compare(*[run(["random", "greedy"])] * 2))
    for row in rows.values():
        assert row["change"] == row["Elo"] == row["better"] == row["worse"] == 0
        assert row["95 %"] == row["Elo 95 %"] == [0, 0]
    assert notes[0] == (
        "8 games in both runs, from 4 openings: 0 with other moves, 0 with another result."
    )
    assert "relative to the mean of all." in notes[1]


def test_an_agent_that_became_stronger():
    before = run({"mine": "random", "greedy": "greedy", "random": "random"}, seed=2)
    after = run({"mine": "minimax:depth=3", "greedy": "greedy", "other": "random"}, 2)
    more = run({"mine": "minimax:depth=3", "greedy": "greedy", "other": "random"}, 1)
    rows, notes = found_in(compare(before, Tournament(after.header, after.games + more.games)))
    assert list(rows) == ["mine", "greedy"]
    mine, greedy = rows["mine"], rows["greedy"]
    assert mine["change"] == mine["after"] - mine["before"] == -greedy["change"] > 0
    assert mine["better"] == greedy["worse"] > 0
    assert mine["Elo 95 %"][0] < mine["Elo"] < mine["Elo 95 %"][1]
    assert greedy["Elo"] == 0  # the same in both: what the others are measured by
    assert notes[1:5] == [
        "Left out: 16 games only in the run before.",
        f"Left out: {len(after.games) + 16} games only in the run after.",
        "Agents: random only before; other only after. NAME=SPEC gives an agent the same name in "
        "both runs.",
        "change: change of the score, in percent. Elo: change relative to the mean of greedy, "
        "the same in both.",
    ]


def won_by(player, opening, players=("a", "b")):
    """A game that ends after seven plies, in some column of its own."""
    first = players[0] == player
    moves = opening + ("1212121" if first else "31212142")
    return GameRecord(players, opening, moves, 0 if first else 1, "four")


def test_openings_are_resampled_together():
    """What an opening does to both runs is no part of the difference, and one game is nothing."""
    openings = [f"{a}{b}{c}{d}" for a in "4567" for b in "4567" for c in "4567" for d in "4567"]
    header = RunHeader(players={"a": "a", "b": "b"})
    winners = ["a" if i % 2 else "b" for i in range(256)]
    before = [won_by(winner, o) for winner, o in zip(winners, openings, strict=True)]
    few = [won_by("a", o) if i in (0, 2) else before[i] for i, o in enumerate(openings)]
    many = [won_by("a", o) if i % 8 == 0 else before[i] for i, o in enumerate(openings)]
    for after, wins in ((few, 2), (many, 32)):
        rows, notes = found_in(compare(Tournament(header, before), Tournament(header, after)))
        low, high = rows["a"]["95 %"]
        assert rows["a"]["change"] == pytest.approx(wins / 256)
        assert (low > 0) == (wins == 32)
        # Two runs of 256 games apart would be uncertain by 2 * 1.4 * 0.5 / 16 either way.
        assert high - low < 0.1 < 4 * 1.4 * 0.5 / 16
        assert f"{wins} with other moves, {wins} with another result" in notes[0]


def test_a_few_games_that_changed_prove_no_change_of_elo():
    """The virtual games of either run are its own: between them they differ as two games do."""
    openings = [f"{a}{b}{c}" for a in "4567" for b in "4567" for c in "4567"]
    header = RunHeader(players={"a": "a", "b": "b"})
    fixtures = [(o, pair) for o in openings for pair in (("a", "b"), ("b", "a"))]
    winners = ["ba"[i // 2 % 2] for i in range(len(fixtures))]
    before = [won_by(w, *f) for w, f in zip(winners, fixtures, strict=True)]
    for changed in (2, 40):
        after = [
            won_by("a" if i < changed else w, *f)
            for i, (w, f) in enumerate(zip(winners, fixtures, strict=True))
        ]
        rows, _ = found_in(compare(Tournament(header, before), Tournament(header, after)))
        assert rows["a"]["Elo"] > 0
        assert (rows["a"]["Elo 95 %"][0] > 0) == (changed == 40)


@pytest.mark.parametrize(
    ("openings", "changed", "said"),
    [
        (1, 1, "resampling the pairs of games of this one opening of both runs together."),
        (1, 1, "1 opening is too few to tell whether that is a change; --openings 2 plays 25."),
        (4, 1, "4 openings are too few to tell whether that is a change; --openings 2 plays 25."),
        (4, 4, "by resampling the openings of both runs together."),
        (4, 0, ""),
        (24, 24, ""),
        (30, 1, ""),
    ],
)
def test_too_few_openings_to_tell_a_change_are_said_to_be(openings, changed, said):
    header = RunHeader(players={"a": "a", "b": "b"})
    starts = [f"{a}{b}" for a in "1234567" for b in "1234567"][:openings]
    before = [won_by("b", o, p) for o in starts for p in (("a", "b"), ("b", "a"))]
    after = [won_by("a", g.opening, g.players) for g in before[: 2 * changed]]
    runs = (before, [*after, *before[2 * changed :]])
    notes = "\n".join(found_in(compare(*(Tournament(header, tuple(r)) for r in runs)))[1])
    assert said in notes
    assert ("too few" in notes) == (changed == 1 and openings < 25)


def test_games_lost_by_forfeit_are_said_to_be():
    header = RunHeader(players={"a": "a", "b": "b"})
    before = won_by("a", "44")
    after = GameRecord(("a", "b"), "44", "44", 1, "exception", "boom")
    notes = found_in(compare(*(Tournament(header, (game,)) for game in (before, after))))[1]
    assert "After a forfeited 1 game (1 exception), for example: exception: boom" in notes
    assert not any(note.startswith("Before a") for note in notes)


@pytest.mark.parametrize(
    ("won", "other", "said"),
    [
        (1, 0, "a        6.3%   6.3%     0.0"),
        (3, 0, "a        6.3%  18.8%   +12.5"),
        (1, 0, "16 openings: 0 with other moves, 0 with another result."),
        (2, 0, "16 openings: 1 with other moves, 1 with another result."),
        (1, 1, "16 openings: 1 with other moves, 0 with another result."),
    ],
)
def test_what_is_said_of_games_is_what_they_are(won, other, said):
    """Of 16 games a wins the first, and afterwards some; some of the first have other moves."""
    starts = [f"{a}{b}" for a in "4567" for b in "4567"]
    before, after = (
        [won_by("a" if i < wins else "b", o) for i, o in enumerate(starts)] for wins in (1, won)
    )
    before[:other] = [replace(game, moves=game.moves[:-1]) for game in before[:other]]
    assert said in compare(run_of(before), run_of(after)).text()


def test_only_code_that_an_agent_is_made_from_makes_it_another():
    games = run(["random", "greedy"]).games
    players = {"random": "./own.py:agent", "greedy": "your_own.py:agent"}
    before, after = (
        RunHeader(players=players, code={"random": {"own.py": n}, "greedy": {"your_own.py": "1"}})
        for n in "12"
    )
    _, notes = found_in(compare(Tournament(before, games), Tournament(after, games)))
    assert "relative to the mean of greedy, the same in both" in notes[1]


def test_the_games_that_ended_otherwise_are_listed():
    before = run(["random", "greedy"])
    games = before.games
    other = (replace(games[0], winner=1 - games[0].winner, ending="time"), *games[1:])
    found = json.loads(changed_games(before, replace(before, games=other)).json())
    (row,) = found["rows"]
    old = ("1-0", "0-1")[games[0].winner]
    assert row["opening"] == games[0].opening
    assert (row["first"], row["second"]) == games[0].players
    assert (row["before"], row["after"]) == (old, f"{old[::-1]} (time)")
    assert "0 with other moves, 1 with another result" in found["notes"][0]


def test_what_was_played_otherwise_is_said():
    one, other = (evaluation.round_robin(["random", "greedy"], 1, seed=seed) for seed in (1, 2))
    assert "Before seed was 1, after 2." in compare(one, other).notes
    timed = replace(one, header=replace(one.header, seed=0, movetime=0.5))
    notes = compare(timed, replace(one, header=replace(one.header, seed=None))).notes
    assert {"Before seed was 0, after not given.", "Before movetime was 0.5, after not given."} < {
        *notes
    }


@pytest.mark.parametrize(
    ("before", "after", "openings", "words"),
    [
        (["random", "greedy"], {"a": "random", "b": "greedy"}, 1, "no agent played in both runs: "),
        (["random", "greedy"], {"greedy": "greedy", "b": "random"}, 1, "no two agents met in both"),
        (["random", "greedy"], ["random", "greedy"], 0, "share agents but no opening"),
    ],
)
def test_nothing_to_compare(before, after, openings, words):
    with pytest.raises(InvalidRun, match=words):
        compare(run(before), run(after, openings))


def test_the_command(tmp_path, capsys):
    for name in ("one", "two"):
        evaluation.round_robin(["random", "greedy"], openings=0, out=tmp_path / name)
    command = ["compare", str(tmp_path / "one"), str(tmp_path / "two")]
    assert main(command) == 0
    assert "2 games in both runs" in capsys.readouterr().out
    assert main([*command, "--games", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "first,second,opening,before,after\n"


@pytest.mark.parametrize("pairs", [1, 2, 100])
def test_an_interval_holds_what_was_found(pairs):
    """Where all is won, or all changed, that lies at its very end."""
    starts = list(enumerate_openings(3))[:pairs]
    won, lost = (
        [GameRecord(("a", "b"), start, start, winner, "four") for start in starts]
        for winner in (0, 1)
    )
    for games, score in ((won, 1.0), (lost, 0.0)):
        header = RunHeader(kind="match", players={"a": "a", "b": "b"}, openings=tuple(starts))
        match = Match.of(header, games)
        assert match.score.low <= match.score.value == score <= match.score.high
        for low, elo, high in ((r.low, r.elo, r.high) for r in match.ratings):
            assert low <= elo <= high
    rows, _ = found_in(compare(run_of(won), run_of(lost)))
    for row in rows.values():
        for change, interval in (("change", "95 %"), ("Elo", "Elo 95 %")):
            assert row[interval][0] <= row[change] <= row[interval][1]
