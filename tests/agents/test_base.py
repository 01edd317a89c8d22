"""The policy interface, the agents in another project's environment, and the baselines."""

import copy
import pickle
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from c4env import ConnectFourEnv, Position, agents, observe
from c4env.agents.base import Agent
from c4env.agents.baselines import Greedy, Random
from c4env.agents.heuristics.heuristic import HEURISTICS
from c4env.agents.search.fixed_depth import AlphaBeta
from c4env.errors import InvalidAction
from tests.helpers.processes import start_python
from tests.rules import reference
from tests.rules.strategies import positions


@given(positions(finished=False))
def test_an_agent_answers_an_observation_as_it_answers_its_position(position):
    for agent in map(agents.make, ("greedy", "minimax:depth=1")):
        column = agent.choose(position)
        assert column in position.legal_columns()
        assert agent(observe(position)) == column
        assert agent(observe(position)["observation"]) == column
        assert type(agent(observe(position))) is int


class Avoids(AlphaBeta):
    avoid = None

    def choose(self, position):
        return next(c for c in position.legal_columns() if c != self.avoid)


def test_a_copy_keeps_every_attribute():
    agent = Avoids(depth=2)
    agent.avoid = 0
    assert [a.choose(Position()) for a in (agent, copy.deepcopy(agent))] == [1, 1]
    assert pickle.loads(pickle.dumps(agent)).choose(Position()) == 1


def test_a_deterministic_agent_is_reset_before_its_first_game():
    class Caches(Agent):
        deterministic = True

        def reset(self, seed=None):
            self.cache = {}

        def choose(self, position):
            return self.cache.setdefault(position, 3)

    env = ConnectFourEnv("random", seat=0)
    env.reset(seed=1)
    env.opponent = Caches()  # amid a game
    env.step(2)
    assert env.position.moves() == "34"


def test_a_search_of_a_users_agent_sets_its_nodes():
    class Twice(AlphaBeta):
        def search(self, position, factor=2):
            result = super().search(position)
            return replace(result, nodes=factor * result.nodes)

    plain, agent = AlphaBeta(depth=2), Twice(depth=2)
    assert plain.search(Position()).nodes == plain.nodes > 0
    assert agent.search(Position(), factor=3).nodes == 3 * plain.nodes
    assert agent.choose(Position()) == plain.choose(Position())
    assert agent.nodes == 2 * plain.nodes


def test_a_choice_follows_the_search_that_a_class_or_a_mixin_brings():
    class Leftmost:
        def search(self, position):
            return agents.SearchResult(0, 0.0, 5, 1, (0,))

    members = {"search": Leftmost.search}
    for cls in (type("Own", (AlphaBeta,), members), type("Mixed", (Leftmost, AlphaBeta), {})):
        agent = cls(depth=2)
        assert (agent.choose(Position()), agent.nodes) == (0, 5)
    assert AlphaBeta(depth=2).choose(Position()) != 0


@pytest.mark.parametrize("answer", [None, [3, 3], [[3]], [3.5], 3], ids=str)
def test_one_board_gets_one_integer(answer):
    class Wrong(agents.BatchAgent):
        def choose_many(self, discs, seeds):
            return answer

    with pytest.raises(InvalidAction, match="expected"):
        Wrong().choose(Position())


def test_an_agent_has_few_public_members():
    members = {*vars(Agent), *Agent.__annotations__}
    assert sorted(name for name in members if not name.startswith("_")) == [
        *("choose", "choose_many", "close", "deterministic", "games", "movetime", "name", "nodes"),
        *("ready", "reseed", "reset", "search"),
    ]


STOPPED_BY_CTRL_C = """
import threading, time
import numpy as np
from c4env import Position, agents, observe

empty, many = Position(), (np.zeros((8, 2), np.int64), np.zeros(8, np.int64))
endless = [agents.make(spec).choose for spec in %r]
agents.make("alphabeta:depth=1").choose_many(*many)  # loads the kernel, which Ctrl-C may not end
one = agents.make("alphabeta:depth=14")
for ask in [*endless, lambda _: one.choose_many(*many)]:
    counted = 0

    def count():
        global counted
        for counted in range(1, 21):
            time.sleep(0.001)
        print("counted", flush=True)

    thread = threading.Thread(target=count)
    try:
        thread.start()  # on a busy machine it has counted before start() returns
        print(ask(empty), flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    thread.join()
"""


@pytest.mark.compiled
def test_ctrl_c_ends_every_search_and_other_threads_go_on_meanwhile():
    specs = [
        *("alphabeta:depth=20", "minimax:depth=14"),
        *("alphabeta-window:depth=20", "rust-port:depth=20", "deepening:depth=40"),
        *("negamax:max_nodes=1000000000000", "learned:nodes=1000000000"),
        *("mcts:simulations=1000000000,tree_mb=8", "puct:simulations=1000000000,tree_mb=8"),
    ]
    with start_python("-c", STOPPED_BY_CTRL_C % specs) as process:
        hung = threading.Timer(100, process.kill)
        hung.start()
        for _ in range(len(specs) + 1):
            assert process.stdout.readline() == "counted\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n"
        assert process.wait() == 0
        hung.cancel()


def centre_first(columns):
    return sorted(columns, key=lambda column: (abs(column - 3), column))


def greedy_by_hand(moves, heuristic):
    """Wins, else blocks, else takes the best next board; nearest the centre first."""
    board, me = reference.board_after(moves), len(moves) % 2
    columns = centre_first(reference.open_columns(board))
    for player in (me, 1 - me):
        if wins := reference.winning_columns(board, player):
            return centre_first(wins)[0]
    values = []
    for column in columns:
        reference.play(board, column, me)
        values.append(reference.HEURISTICS[heuristic](board, me))
        reference.take_back(board, column)
    return columns[values.index(max(values))]


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_greedy_wins_blocks_or_takes_the_best_next_board(heuristic):
    agent = Greedy(heuristic)
    for moves in reference.random_games(seed=90, count=80):
        assert agent.choose(Position.parse(moves)) == greedy_by_hand(moves, heuristic), moves


def test_random_plays_every_column_about_as_often():
    agent = Random()
    agent.reset(seed=3)
    position = Position.parse("444444")
    drawn = [agent.choose(position) for _ in range(6000)]
    counts = np.bincount(drawn, minlength=7)
    assert counts[3] == 0
    others = np.delete(counts, 3)
    assert np.abs(others - 1000).max() < 150  # five standard deviations
