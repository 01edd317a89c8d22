import time

import numpy as np
import pytest

from c4env import agents
from c4env.agents.making.as_agent import FunctionAgent
from c4env.errors import EngineFault, LateAnswer
from c4env.evaluation.runs import play_game as module
from c4env.evaluation.runs.play_game import Clock, game_seed
from tests.helpers.policies import first_legal


def play_game(policies, *arguments, **options):
    first, second = map(agents.make, policies)
    return module.play_game((first, second), *arguments, **options)


def against(policy, seat=0):
    policies = (policy, first_legal) if seat == 0 else (first_legal, policy)
    return play_game(policies, ("one", "two"), "44")


@pytest.mark.parametrize(("opening", "winner"), [("", 0), ("1", 0), ("12", 1)])
def test_the_first_player_moves_first_whatever_the_opening(opening, winner):
    seen = []

    def look(observation):
        seen.append(int(observation["observation"].sum()))
        return first_legal(observation)

    game = play_game((look, first_legal), ("one", "two"), opening)
    assert all(plies % 2 == 0 for plies in seen)
    assert (game.winner, game.ending, game.opening) == (winner, "four", opening)
    assert game.moves.startswith(opening)


def test_a_draw():
    drawn = "441365675334466335442232661515577771217122"
    columns = iter([int(c) - 1 for c in drawn])
    game = play_game((lambda o: next(columns),) * 2, ("one", "two"))
    assert (game.winner, game.ending, game.moves) == (None, "full board", drawn)


@pytest.mark.parametrize("answer", [7, -1, True, 2.0, "3", None, np.array([1, 2])], ids=repr)
@pytest.mark.parametrize("seat", [0, 1])
def test_nonsense_forfeits(answer, seat):
    game = against(lambda observation: answer, seat)
    assert (game.ending, game.winner, game.forfeited_by) == ("nonsense", 1 - seat, seat)
    assert game.reason


def test_a_keyboard_interrupt_is_not_an_agents_fault():
    def interrupted(observation):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        against(interrupted)


def test_an_agent_cannot_change_the_board():
    def vandal(observation):
        column = first_legal(observation)
        observation["observation"][:] = 1
        observation["action_mask"][:] = 0
        return column

    assert against(vandal).moves == against(first_legal).moves


def test_nodes_are_counted_over_the_game():
    agent = agents.make("alphabeta:depth=2")
    game = play_game((agent, first_legal), ("one", "two"), "44")
    moves_made = (len(game.moves) - 2 + 1) // 2
    assert 7 * moves_made < game.nodes[0] < 60 * moves_made
    assert game.nodes[1] == 0
    assert game.seconds[0] > 0


@pytest.mark.parametrize("nodes", [{}, None, 2.0, np.float64(2), -1, 2**63, np.uint8(2)], ids=repr)
def test_nodes_that_count_nothing_cost_no_game(nodes):
    def searcher(observation):
        return first_legal(observation)

    searcher.nodes = nodes
    game = against(searcher)
    assert (game.ending, game.nodes[0] > 0) == ("four", isinstance(nodes, np.uint8))


def test_seeds_are_keyed_by_the_game_and_the_seat():
    one = (1, ("a", "b"), "44", 0)
    others = [(2, *one[1:]), (1, ("b", "a"), "44", 0), (*one[:2], "45", 0), (*one[:3], 1)]
    assert len({game_seed(*each) for each in [one, *others]}) == 5


class Slow:
    """Takes its time at its second move."""

    def __init__(self, wait):
        self.wait = wait
        self.moves = 0

    def __call__(self, observation):
        self.moves += 1
        if self.moves == 2:
            self.wait()
        return first_legal(observation)


def test_an_answer_that_comes_too_late_forfeits():
    """The other side has a second, too: more than it needs on any machine."""
    policies = first_legal, Slow(lambda: time.sleep(1.5))
    game = play_game(policies, ("one", "two"), "44", clock=Clock(0.9, 0.1))
    assert (game.ending, game.forfeited_by, len(game.moves)) == ("time", 1, 5)
    assert "the limit is 0.9 s plus a margin of 0.1 s" in game.reason


def test_an_engine_that_is_late_by_its_own_clock_forfeits_on_time():
    def late():
        raise LateAnswer("no answer within 2 s")

    game = against(Slow(late))
    assert (game.ending, game.reason, game.forfeited_by) == ("time", "no answer within 2 s", 0)


def test_a_program_that_ends_in_a_move_or_before_a_game_crashes():
    words = "./engine was ended by signal SIGABRT"

    def ends(*_):
        raise EngineFault(words, "crash")

    game = against(Slow(ends))
    assert (game.ending, game.reason, game.forfeited_by) == ("crash", words, 0)
    agent = FunctionAgent(first_legal)
    agent.reset = ends
    game = against(agent)
    assert (game.ending, game.reason, game.forfeited_by) == ("crash", f"reset: {words}", 0)


def test_the_margin_is_forgiven():
    game = play_game(
        (Slow(lambda: time.sleep(0.1)), first_legal), ("one", "two"), clock=Clock(0.05, 9)
    )
    assert game.ending == "four"


def test_an_answer_that_is_late_and_wrong_is_late():
    def slow(observation):
        time.sleep(0.03)
        return 7

    for clock, ending in ((Clock(0.01, 0.01), "time"), (Clock(5, 0), "nonsense")):
        assert play_game((slow, first_legal), ("it", "other"), clock=clock).ending == ending
