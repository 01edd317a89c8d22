"""The tables of the leaderboard are as made; ``checks`` has the makers that are run once a year."""

from dataclasses import replace

from c4env.evaluation.studies.leaderboard import stored_board
from tests.makers import leaderboard


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
