import functools

import pytest

from c4env import Position
from c4env.agents.search.negamax import Negamax
from c4env.errors import SearchLimit
from c4env.jit import config
from tests.helpers.paths import published
from tests.rules import reference


def endings():
    """The shipped endings; those with small trees when nothing is compiled."""
    lines = (reference.DATA / "endings.tsv").read_text().splitlines()[1:]
    assert len(lines) == 100
    read = [(moves, int(score), int(nodes)) for moves, score, nodes in map(str.split, lines)]
    return [row for row in read if row[2] < 300] if config.DISABLE_JIT else read


def test_scores_and_counts_are_the_shipped_ones():
    agent = Negamax()
    rows = endings()
    assert len(rows) > 30
    for moves, score, nodes in rows:
        found = agent.search(Position.parse(moves))
        assert (found.value, found.nodes) == (score, nodes), moves
        assert agent.score(Position.parse(moves)) == (score, nodes)


@pytest.mark.compiled
def test_the_published_scores_and_count_of_positions_come_out():
    """Of End-Easy; the published 11,024.541 are the mean of its 1,000, half of them at hand."""
    total = 0
    lines = published("solved/L3_R1.txt")
    agent = Negamax()
    for line in lines:
        moves, score = line.split()
        found, nodes = agent.score(Position.parse(moves))
        assert found == int(score), moves
        total += nodes
    assert len(lines) >= 25
    if len(lines) == 500:
        assert total / len(lines) == pytest.approx(13101.024, abs=5e-4)


def test_the_line_is_perfect_play_to_the_end():
    agent = Negamax()
    for moves, score, _ in endings()[:30]:
        start = Position.parse(moves)
        found = agent.search(start)
        assert found.principal_variation[0] == found.column == agent.choose(start)
        assert agent.nodes == found.nodes
        end = functools.reduce(Position.play, found.principal_variation, start)
        assert end.outcome is not None
        me = start.to_move
        if score == 0:
            assert end.outcome.winner is None
        else:
            # The winner's discs in hand after its last one, and one more.
            assert end.outcome.winner == (me if score > 0 else 1 - me)
            assert (44 - end.plies) // 2 == abs(score), moves


def test_the_column_is_the_first_that_keeps_the_score():
    agent = Negamax()
    for moves, score, _ in endings()[:30]:
        scores = reference.column_scores(reference.board_after(moves), len(moves) % 2)
        assert max(value for value in scores if value is not None) == score
        assert agent.choose(Position.parse(moves)) == scores.index(score), moves


def test_it_gives_up_rather_than_searching_for_ever():
    with pytest.raises(SearchLimit, match=r"Position\.parse\(''\) has 42 empty cells") as caught:
        Negamax(max_nodes=1000).choose(Position())
    assert "1000 positions (option max_nodes)" in str(caught.value)
    moves, score, nodes = endings()[0]
    assert Negamax(max_nodes=nodes).score(Position.parse(moves)) == (score, nodes)
    with pytest.raises(SearchLimit):
        Negamax(max_nodes=nodes - 1).score(Position.parse(moves))
