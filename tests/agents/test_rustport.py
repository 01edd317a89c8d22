import functools

import pytest

from c4env import Position, agents
from c4env.agents.heuristics.evaluations import line_score
from c4env.agents.search.rustport import MAX, RustPort, minimax_from_root
from c4env.agents.search.threads import UNWATCHED
from c4env.jit import config
from tests.helpers.paths import published
from tests.rules import reference

# The appendix's game against a perfect player; the bot began, and the player is to move.
APPENDIX = "2336444454666"
PLAYER = (2, 2, 1, 2, 2, 3, 3, 5)
BOT = (5, 1, 2, 6, 1, 3, 7)


def best_column(bot, other, depth, bot_moves):
    return minimax_from_root(bot, other, depth + 1, not bot_moves, UNWATCHED)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_search_is_the_references(depth):
    for moves in reference.random_games(80 + depth, 30 // 3**depth):
        position, board = Position.parse(moves), reference.board_after(moves)
        player = len(moves) % 2
        for bot in (player, 1 - player):  # the other side's choice, as the search sees it, too
            found = best_column(position.discs(bot), position.discs(1 - bot), depth, bot == player)
            assert found[:3] == reference.rust_best(board, player, depth, bot), (moves, bot)


@pytest.mark.parametrize("place", range(4))
def test_columns_values_and_depths_are_the_released_programs(place):
    depth = (0, 1, 2, 4)[place]
    lines = published("lines.tsv")
    assert len(lines) >= 100
    if config.DISABLE_JIT:
        lines = lines[:: 7**depth]
    agent = RustPort(depth + 1)
    for line in lines:
        moves, _, *chosen = line.split("\t")
        position = Position.parse("" if moves == "-" else moves)
        column, value, attached, nodes = best_column(position.mine, position.theirs, depth, True)
        assert f"{column}:{value}:{attached}" == chosen[place], moves
        assert nodes <= sum(7**ply for ply in range(depth + 2))
        assert agent.choose(position) == column


@pytest.mark.compiled
def test_the_game_of_the_reports_appendix_is_played_again():
    agent = agents.make("rust-port")
    assert agent.depth == 5  # the report's 4 is 5 plies
    position = Position.parse(APPENDIX)
    assert position.to_move == 1
    for reply, answer in zip(PLAYER[:-1], BOT, strict=True):
        position = position.play(reply - 1)
        assert agent.choose(position) == answer - 1, position
        position = position.play(answer - 1)
    assert position.play(PLAYER[-1] - 1).outcome.winner == 1


def test_full_ties_take_the_last_column_and_the_other_side_the_first():
    # Two open ends of a three: both win at once, with the same depth attached.
    position = Position.parse("334455")
    assert best_column(position.mine, position.theirs, 0, True)[:3] == (5, MAX, 0)
    assert best_column(position.mine, position.theirs, 3, True)[:3] == (5, MAX, 3)
    assert best_column(position.theirs, position.mine, 3, False)[:3] == (1, -MAX, 3)


def test_the_line_it_reports_is_legal_and_leads_to_the_value():
    depth, count = (2, 10) if config.DISABLE_JIT else (5, 40)
    agent = RustPort(depth)
    for moves in reference.random_games(seed=89, count=count):
        start = Position.parse(moves)
        found = agent.search(start)
        assert found.principal_variation[0] == found.column == agent.choose(start)
        assert agent.nodes == found.nodes > 0
        end = functools.reduce(Position.play, found.principal_variation, start)
        me = start.to_move
        if end.outcome is not None and end.outcome.winner is not None:
            assert found.value == float(MAX if end.outcome.winner == me else -MAX)
        else:
            assert found.value == line_score(end.discs(me), end.discs(1 - me)), moves
            assert end.outcome is not None or len(found.principal_variation) == depth
