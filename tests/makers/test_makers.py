"""The tables of the leaderboard are as made; ``checks`` has the makers that are run once a year."""

from dataclasses import replace

import pytest

from c4env.evaluation.results.leaderboard import stored_board
from tests.helpers.paths import ROOT
from tests.makers import leaderboard
from tests.makers.__main__ import main


@pytest.mark.slow
def test_the_tables_of_the_leaderboard_are_made_from_the_stored_games():
    board = stored_board()
    for path, made in (
        (leaderboard.README, leaderboard.readme_of),
        (leaderboard.RESULTS, leaderboard.results_of),
    ):
        text = path.read_text()
        assert made(text, board) == text
        assert made(text, replace(board, commit="abc123")) != text
    changed = leaderboard.readme_of("| `greedy`: one | +1 | 2% | 3 |\n", board)
    (greedy,) = (rating for rating in board.rate() if rating.player == "greedy")
    milliseconds = board.milliseconds["greedy"]
    elo = f"{greedy.elo:+.0f} ({greedy.low:+.0f} .. {greedy.high:+.0f})"
    assert changed == f"| `greedy`: one | {elo} | 2% | {milliseconds:.3g} |\n"


@pytest.mark.compiled
def test_a_row_in_the_units_of_others_has_a_cell_for_each_set(capsys):
    sets = [str(ROOT / "tests" / "data" / "solved" / f"{name}.txt") for name in ("L2_R1", "L1_R1")]
    assert main(["units", "optimal", *sets, "--agents", "perfect", "random"]) == 0
    head, _, perfect, random = capsys.readouterr().out.splitlines()
    assert head == "| agent | L2_R1 | L1_R1 |"
    assert perfect == "| `perfect` | 100.0 | 100.0 |"
    assert random.startswith("| `random` | ")
    assert random != "| `random` | 100.0 | 100.0 |"
