"""Minimax and alpha-beta: one kernel, and the four published systems that use it."""

import functools

import pytest

from c4env import Position, agents
from c4env.agents.base import SearchingAgent
from c4env.agents.heuristics.names import HEURISTICS, WIN
from c4env.agents.search.fixed_depth import AlphaBeta, Chain, Minimax, WindowA, WindowB
from c4env.jit import config
from tests.helpers.paths import published
from tests.rules import reference

SYSTEMS = {
    "chain": (Chain, reference.chain_system()),
    "window": (WindowA, reference.WINDOW_SYSTEM),
    "window-b": (WindowB, reference.WINDOW_B_SYSTEM),
} | {
    f"minimax, {heuristic}": (
        functools.partial(Minimax, heuristic=heuristic),
        reference.chain_system(heuristic),
    )
    for heuristic in HEURISTICS
}


@functools.cache
def games(seed, count, least=0):
    """Undecided positions; the reference takes its time to play on to late ones."""
    return tuple(reference.random_games(seed, count, least))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("depth", "least"), [(1, 0), (2, 0), (7, 37)])
def test_a_search_is_the_reference(name, depth, least):
    kind, system = SYSTEMS[name]
    agent = kind(depth)
    for moves in games(20 + depth, 12, least):
        board, player = reference.board_after(moves), len(moves) % 2
        column, value, nodes = reference.best_column(board, player, depth, system)
        found = agent.search(Position.parse(moves))
        assert (found.column, found.value) == (column, value), moves
        assert found.nodes <= nodes, moves
        if isinstance(agent, Minimax):
            assert found.nodes == nodes, moves


def test_the_shipped_choices_of_the_published_systems():
    """Written by the reference; the whole file, or its beginning uncompiled."""
    header, *lines = (reference.DATA / "published.tsv").read_text().splitlines()
    specs = header.split("\t")[1:]
    assert specs == list(reference.PUBLISHED)
    zoo = [agents.make(spec) for spec in specs]
    assert len(lines) == 200
    for line in lines[:6] if config.DISABLE_JIT else lines:
        moves, *chosen = line.split("\t")
        for agent, expected in zip(zoo, chosen, strict=True):
            assert isinstance(agent, SearchingAgent)
            found = agent.search(Position.parse(moves))
            assert f"{found.column}:{float(found.value)!r}" == expected, (agent, moves)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_chain_systems_choices_are_the_released_programs(depth):
    """The program's max_depth counts from 0."""
    lines = published("chain.tsv")
    if config.DISABLE_JIT:
        lines = lines[:: 4 ** (depth - 1)]
    naive, pruned = Minimax(depth), Chain(depth)
    for line in lines:
        moves, _, *columns = line.split("\t")
        position = Position.parse("" if moves == "-" else moves)
        expected = int(columns[depth - 1])
        assert naive.choose(position) == pruned.choose(position) == expected, moves


@pytest.mark.compiled
@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_both_searches_choose_alike_with_every_heuristic(heuristic):
    for depth, count in ((2, 60), (5, 40), (6, 8)):
        naive, pruned = Minimax(depth, heuristic), AlphaBeta(depth, heuristic)
        fewer = 0
        for moves in games(60 + depth, count):
            position = Position.parse(moves)
            ours, theirs = naive.search(position), pruned.search(position)
            assert (ours.column, ours.value) == (theirs.column, theirs.value), moves
            # Which of equal replies ends the line may differ; where each leads may not.
            assert ours.principal_variation == theirs.principal_variation, moves
            assert theirs.nodes <= ours.nodes
            fewer += theirs.nodes < ours.nodes
        # Two plies are searched with full windows, so nothing is cut there.
        assert fewer > count // 2 if depth > 2 else fewer == 0


AGENTS = [
    *("minimax:depth=3", "alphabeta:depth=4,heuristic=lines", "alphabeta-chain:depth=4"),
    *("alphabeta-window:depth=4", "alphabeta-window-b:depth=4"),
]


def value_at_the_end(spec, start, line, depth):
    """What the line's last board is worth to the side that began it."""
    end = start
    for column in line:
        end = end.play(column)  # raises unless legal
    agent = start.to_move
    won_by = None if end.outcome is None else end.outcome.winner
    left = depth - len(line)
    if won_by is not None:
        win = 1000.0 + left if spec.startswith("alphabeta-window:") else WIN
        return win if won_by == agent else -win
    if end.outcome is not None and spec.startswith("alphabeta-window"):
        return 0.0
    assert left == 0 or end.outcome is not None
    named = [name for name in ("lines", "window-b", "window") if name in spec]
    return HEURISTICS[[*named, "chain"][0]](end.discs(agent), end.discs(1 - agent))


@pytest.mark.parametrize("spec", AGENTS)
def test_the_principal_variation_leads_to_the_value(spec):
    agent = agents.make(spec)
    counts = ((70, 5, 0), (71, 5, 36)) if config.DISABLE_JIT else ((70, 25, 0), (71, 15, 36))
    for seed, count, least in counts:
        for moves in games(seed, count, least):
            position = Position.parse(moves)
            found = agent.search(position)
            line = found.principal_variation
            assert line[0] == found.column == agent.choose(position)
            assert agent.nodes == found.nodes > 0
            assert len(line) <= found.depth == agent.depth
            assert value_at_the_end(spec, position, line, found.depth) == found.value, moves


def left(mine, theirs):
    return float(mine & 63) - float(theirs & 63)


@pytest.mark.parametrize("spec", ["greedy:", "alphabeta:depth=1,", "deepening:depth=1,"])
def test_only_a_heuristic_that_says_so_is_known_to_repeat(spec, monkeypatch):
    """One that draws random numbers would play other games each time."""
    name = f"{spec}heuristic={__name__}:left"
    assert agents.make(f"{spec}heuristic=window").deterministic
    assert not agents.make(name).deterministic
    monkeypatch.setattr(left, "deterministic", True, raising=False)
    assert agents.make(name).deterministic
