"""bitbully: another project's solver in our games."""

from __future__ import annotations

import pickle

import pytest

from c4env import Position, agents
from c4env.agents.errors import InvalidValue, NoMove
from c4env.agents.solver import Solver

LATE = ["44444222226663", "4444422222666331", "121212343434565656", "7777776666665"]


@pytest.fixture(autouse=True)
def installed() -> None:
    pytest.importorskip("bitbully", reason="the package bitbully is not installed")
    pytest.importorskip("bitbully_databases", reason="its books are not installed")


@pytest.mark.compiled
@pytest.mark.parametrize("book", ["none", "12-ply-dist"])
def test_its_columns_are_best_by_our_solver_too(book):
    solver = Solver()
    agent = agents.make(f"bitbully:book={book}")
    positions = [Position.parse(moves) for moves in LATE]
    if book != "none":
        positions += [Position(), Position.parse("4"), Position.parse("44")]
    for position in positions:
        assert agent.choose(position) in solver.best_columns(position)
    assert agent.deterministic


def test_it_counts_what_it_searches():
    agent = agents.make("bitbully:book=none")
    agent.choose(Position.parse(LATE[0]))
    assert agent.nodes > 0


def test_a_depth_makes_it_search_less():
    position = Position.parse("4444")
    deep, shallow = (agents.make(f"bitbully:book=none,depth={depth}") for depth in (10, 2))
    assert deep.choose(position) in position.legal_columns()
    assert shallow.choose(position) in position.legal_columns()
    assert 0 < shallow.nodes < deep.nodes


@pytest.mark.compiled
def test_lots_are_drawn_by_the_seed():
    agent = agents.make("bitbully:ties=random")

    def columns(seed):
        agent.reset(seed)
        return [agent.choose(Position.parse("3")) for _ in range(8)]

    assert not agent.deterministic
    assert columns(1) == columns(1)
    best = Solver().best_columns(Position.parse("3"))
    assert set(columns(1) + columns(2) + columns(3)) == set(best)
    assert agents.make("bitbully:ties=leftmost").choose(Position.parse("3")) == min(best)


def test_a_copy_plays_alike():
    twin = pickle.loads(pickle.dumps(agents.make("bitbully:depth=4")))
    assert twin.choose(Position()) == agents.make("bitbully:depth=4").choose(Position())


@pytest.mark.parametrize("option", ["book=9-ply", "ties=none", "depth=-1", "depth=43"])
def test_a_bad_option_is_refused(option):
    with pytest.raises(InvalidValue, match="expected"):
        agents.make(f"bitbully:{option}")


def test_a_finished_game_has_no_move():
    with pytest.raises(NoMove):
        agents.make("bitbully").choose(Position.parse("1212121"))
