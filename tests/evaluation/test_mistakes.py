import pytest

from c4env.agents.solver import Solver
from c4env.errors import InvalidOption
from c4env.evaluation.exact.mistakes import FirstLoss, Mistake, Mistakes
from c4env.evaluation.exact.moves import Quality, bands, judge_games
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.records.game import GameRecord
from c4env.position import Position

# 31 discs, the second player to move: columns 3, 4 and 6 win (+2), 2 loses (-3) and 5 (-5).
ENDING = "3432771761767613231746215235614"
MIRRORED = "".join(str(8 - int(digit)) for digit in ENDING)
DRAWN_OUT = "4713732767357311732634225152551"  # every column loses


@pytest.fixture(scope="module")
def solver():
    return Solver(book=None, table_mb=1)


@pytest.fixture(scope="module")
def judge():
    return Judge(book=None, table_mb=1)


def game(solver, opening, column, players=("b", "a")):
    """The game after a first column, 1-based, that both play as well as can be."""
    position = Position.parse(opening).play(column - 1)
    moves = f"{opening}{column}"
    while position.outcome is None:
        best = solver.best_columns(position)[0]
        position, moves = position.play(best), f"{moves}{best + 1}"
    ending = "full board" if position.outcome.winner is None else "four"
    return GameRecord(players, opening, moves, position.outcome.winner, ending)


@pytest.fixture(scope="module")
def games(solver):
    chosen = [(ENDING, 5), (MIRRORED, 3), (ENDING, 2), (ENDING, 4), (DRAWN_OUT, 1)]
    return [game(solver, *each) for each in chosen]


def test_mirror_images_are_one_mistake_and_the_costliest_comes_first(games, judge):
    result = Mistakes.of(games, "a", judge)
    assert result.mistakes == (
        Mistake(ENDING, 4, (2, 3, 5), 2, -5, (0, 1)),
        Mistake(ENDING, 1, (2, 3, 5), 2, -3, (2,)),
    )
    assert [mistake.cost for mistake in result.mistakes] == [2, 1]
    assert not Mistakes.of(games, "b", judge).mistakes


def test_the_parts_are_those_of_the_games_and_of_the_judged_moves(games, judge):
    result = Mistakes.of(games, "a", judge)
    parts = {part.where: part for part in result.parts}
    whole = parts["all games"]
    assert (whole.games, whole.score) == (5, 1 / 5)
    assert (whole.own.blunders, whole.own.given_away) == (3, 3.0)
    assert "moving first" not in parts
    assert parts["moving second"][1:] == whole[1:]
    others = Mistakes.of(games, "b", judge).parts[0]
    rates = whole.own.accuracy.value, others.own.accuracy.value
    assert rates == (others.opponents, whole.opponents)
    assert rates[0] == 1 - whole.own.blunders / whole.own.critical
    assert parts[f"opening {ENDING}"][1:3] == (3, 1 / 3)
    assert parts[f"opening {DRAWN_OUT}"].own.given_away == 0
    openings = [name for name in parts if name.startswith("opening")]
    assert openings == [f"opening {name}" for name in (ENDING, MIRRORED, DRAWN_OUT)]
    quality = Quality(tuple(judge_games(games, judge)))
    slices = {band: quality.slice("a", plies=band) for band in bands(7)}
    shown = {p.where: (p.own.critical, p.own.blunders) for p in result.parts if p.games is None}
    assert shown == {
        f"ply {low}-{high}": (q.critical, q.blunders)
        for (low, high), q in slices.items()
        if q.moves + q.forced
    }


def test_the_first_losing_move_of_each_game_has_its_kind_and_its_ply(games, judge):
    assert Mistakes.of(games, "a", judge).first_losses == (
        FirstLoss("any", 3, 31, 31, 0),
        FirstLoss("missed win", 0),
        FirstLoss("missed block", 0),
        FirstLoss("opened a win", 2, 31, 31, 0),
        FirstLoss("deeper", 0),
        FirstLoss("endgame", 1, 31, 31, 2),
        FirstLoss("none", 2),
    )
    assert {loss.games for loss in Mistakes.of(games, "b", judge).first_losses} == {0, 5}


@pytest.mark.compiled
def test_only_a_blunder_that_exact_play_loses_is_a_losing_move():
    game = GameRecord(("a", "b"), "", "345", None, "cut")
    with Judge() as judge:
        first, _, third = (judge.scores(Position.parse("345"[:ply])) for ply in range(3))
        result = Mistakes.of([game], "a", judge)
    assert (max(first), first[2]) == (1, 0)  # a blunder, but not a losing move
    assert (max(third), third[4]) == (0, -3)
    assert result.first_losses[0] == FirstLoss("any", 1, 2, 2, 0)


def test_an_agent_against_itself_has_the_points_of_both_colours(solver, judge):
    won = game(solver, ENDING, 4, players=("a", "a"))
    parts = {part.where: part for part in Mistakes.of([won], "a", judge).parts}
    assert [(parts[where].games, parts[where].score) for where in (
        "all games", "moving first", "moving second",
    )] == [(1, 0.5), (1, won.points[0]), (1, won.points[1])]  # fmt: skip
    assert won.winner is not None


@pytest.mark.compiled
def test_a_kind_is_told_by_the_next_two_discs():
    for moves, column, kind in (
        ("414141", 2, "missed win"),  # column 4 wins; yellow wins at once in column 1
        ("747474", 1, "missed win"),
        ("11223", 7, "missed block"),  # red has three discs in a row
        ("44352", 6, "missed block"),
        (ENDING, 5, "opened a win"),
        (ENDING, 2, "endgame"),
        ("4141", 7, "deeper"),  # gives a win away, but not to the other side
        ("144444433", 3, "deeper"),  # the same, although the game is then drawn
        ("44446", 4, "deeper"),  # four discs later
        ("344344434131322236", 1, "opened a win"),
    ):
        scores = Solver().scores(Position.parse(moves))
        best, own = max(s for s in scores if s is not None), scores[column - 1]
        kept = tuple(c for c, score in enumerate(scores) if score == best)
        mistake = Mistake(moves, column - 1, kept, best, own, (0,))
        assert mistake.kind == kind
        assert mistake.describe().startswith(f"{kind}, {mistake.cost:g} point")


def test_who_gave_nothing_away_is_told_so(games, judge):
    told = Mistakes.of(games[:1], "b", judge).text()
    assert "No move of b gave anything away." in told
    assert "by kind" not in told
    with pytest.raises(InvalidOption, match="agent 'c' is not in the run: expected b, a"):
        Mistakes.of(games, "c", judge)
    with pytest.raises(InvalidOption, match="agent 'b' chose no column"):
        Mistakes.of([GameRecord(("a", "b"), "", "", 0, "crash")], "b", judge)
