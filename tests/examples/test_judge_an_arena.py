"""An arena of seven agents in Game Arena's format, judged by the script."""

import json
import re
import subprocess
import sys
from statistics import median

import pytest

from c4env import Position, evaluation, parse_moves
from c4env.agents import Solver
from c4env.evaluation.__main__ import main
from tests.helpers.examples import EXAMPLES

pytestmark = pytest.mark.slow

FIELD = {
    "Aster 2.5 Pro": "mcts:simulations=200",
    "birch-large": "alphabeta:depth=4",
    "Cedar <4>": "alphabeta-window:depth=3",
    "dahlia": "learned:depth=0",
    "elm-mini": "alphabeta:depth=1,heuristic=lines",
    "fern-nano": "greedy",
    "Ginkgo": "random",
}
KINDS = "missed win", "missed block", "opened a win", "deeper", "endgame"
WAITS = {"action": {"submission": -1}, "info": {}}


def episode(game):
    """A game as Kaggle's Game Arena writes it."""
    steps = [[WAITS, WAITS]]
    for ply, column in enumerate(parse_moves(game.moves)):
        action = {"submission": column, "actionString": f"{'xo'[ply % 2]}{column}"}
        step = [WAITS, WAITS]
        step[ply % 2] = {
            "action": {**action, "generate_returns": [f"Final Answer: {column}"]},
            "info": {"actionSubmitted": column, "actionApplied": column},
        }
        steps.append(step)
    return {
        "name": "open_spiel_connect_four",
        "configuration": {"openSpielGameParameters": {"rows": 6, "columns": 7, "x_in_row": 4}},
        "steps": steps,
        "rewards": [2 * points - 1 for points in game.points],
        "statuses": ["DONE", "DONE"],
        "info": {"TeamNames": list(game.players)},
    }


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """The games, the folder of their episodes, and what the script made of them."""
    folder = tmp_path_factory.mktemp("arena") / "replays"
    folder.mkdir()
    games = evaluation.round_robin(FIELD, 0, seed=1, jobs=1).games
    for number, game in enumerate(games):
        (folder / f"episode-{number:02}.json").write_text(json.dumps(episode(game)))
    chess = {**episode(games[0]), "name": "open_spiel_chess"}
    (folder / "episode-90-chess.json").write_text(json.dumps(chess))
    (folder / "episode-91-cut.json").write_text(json.dumps(episode(games[0]))[:2000])
    return games, folder, run(folder)


def run(folder):
    """What the script prints; its page is beside the folder."""
    script = [sys.executable, str(EXAMPLES / "judge_an_arena.py"), str(folder)]
    options = ["--html", str(folder.parent / "arena.html")]
    return subprocess.run([*script, *options], capture_output=True, text=True, check=False)


def data_of(page):
    """The run that a page shows."""
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page.read_text())[1])


def test_the_numbers_are_those_of_c4_quality(arena, capsys):
    games, folder, made = arena
    assert made.returncode == 0, made.stderr
    data = data_of(folder.parent / "arena.html")
    assert [data["title"], len(data["games"]["moves"])] == ["replays", len(games)]
    for path in folder.glob("episode-9*"):
        path.unlink()
    assert main(["quality", str(folder), "--format", "json", "--quiet"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert {row["player"] for row in data["quality"]} == {*FIELD}
    for row, same in zip(data["quality"], judged["overall"], strict=True):
        assert row == pytest.approx(same, abs=1e-9)  # as the page rounds
        assert row["critical"] > 0
        assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]
        assert f"{row['accuracy']:.1%}" in made.stdout


def test_the_first_losing_moves_are_those_that_the_solver_finds(arena):
    games, folder, _ = arena
    solver, firsts, played = Solver(), {name: [] for name in FIELD}, dict.fromkeys(FIELD, 0)
    for number, game in enumerate(games, 1):
        found = set()
        for ply, column in enumerate(parse_moves(game.moves)):
            player = game.players[ply % 2]
            scores = solver.scores(Position.parse(game.moves[:ply]))
            best = max(score for score in scores if score is not None)
            result, kept = ((score > 0) - (score < 0) for score in (scores[column], best))
            if result < 0 <= kept and player not in found:
                found.add(player)
                firsts[player].append((ply, number))
        for player in game.players:
            played[player] += 1
    data = data_of(folder.parent / "arena.html")
    for player, plies in firsts.items():
        some, *kinds, none = data["mistakes"][player]["first_losses"]
        assert (some["games"], none["games"]) == (len(plies), played[player] - len(plies))
        middle = median(ply for ply, _ in plies) if plies else None
        first = min(plies, default=(None, None))
        assert (some["ply"], some["earliest"], some["game"]) == (middle, *first)
        assert tuple(kind["kind"] for kind in kinds) == KINDS
        assert sum(kind["games"] for kind in kinds) == len(plies)
        shown = {(kind["earliest"], kind["game"]) for kind in kinds if kind["games"]}
        assert shown <= {*plies}
        assert not plies or first in shown


def test_another_game_and_a_damaged_file_are_a_line_each(arena):
    _, folder, made = arena
    chess, cut = [line for line in made.stderr.splitlines() if line.startswith("left out: ")]
    assert f"{folder / 'episode-90-chess.json'}: " in chess
    assert "open_spiel_chess" in chess
    assert f"{folder / 'episode-91-cut.json'}: " in cut
    assert "Traceback" not in made.stderr


def test_a_folder_without_games_is_refused(tmp_path):
    (tmp_path / "notes.md").write_text("nothing")
    made = run(tmp_path)
    assert (made.returncode, made.stdout) == (1, "")
    assert made.stderr.startswith(f"{tmp_path} has no games: expected a folder of ")
