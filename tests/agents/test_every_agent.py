import copy
import pickle
import sys
import tracemalloc

import numpy as np
import pytest

from c4env import Position, agents, batched, evaluation
from c4env.agents.making.as_agent import as_agent
from c4env.agents.making.options import REQUIRED
from c4env.agents.making.registry import ZOO
from c4env.errors import IllegalMove, InvalidOption, MissingExtra
from tests.helpers.paths import ROOT
from tests.helpers.processes import FORKS, in_a_fork

KAGGLE = f"kaggle:{ROOT / 'tests/data/kaggle/rules.py'}"


@batched
def indifferent(seen):
    return np.zeros(seen["action_mask"].shape)


DRAWN = "421127327363224366417626743773654415515515"  # a game
UNIFORM = "puct:function=tests.helpers.policies:uniform,simulations=60"
OPTIONS = [
    *("minimax:depth=2", "alphabeta:depth=3"),
    *("alphabeta-chain:depth=2", "alphabeta-window:depth=3", "alphabeta-window-b:depth=2"),
    *("rust-port:depth=2", "deepening:nodes=300", "learned:depth=1,nodes=40"),
    *("mcts:simulations=60", "mcts:simulations=60,reuse=false", "mcts:simulations=400,tree_mb=1"),
    *("puct:simulations=12", UNIFORM, f"{UNIFORM},reuse=false,batch=1"),
    *("perfect:blunder=0.5", "perfect:ties=random"),
]
PLAIN = [  # without a program, a server or a package of its own
    entry.name
    for entry in ZOO
    if not entry.needs and REQUIRED not in [option.default for option in entry.maker.options]
]
SPECS = [*OPTIONS, *sorted({*PLAIN} - {spec.partition(":")[0] for spec in OPTIONS})]


@pytest.mark.parametrize("name", PLAIN)
def test_a_game_that_is_over_has_no_move(name):
    agent = agents.make(name)
    for ask in ("choose", "search"):
        with pytest.raises(IllegalMove, match=r"Position\.parse.*the game is over"):
            getattr(agent, ask)(Position.parse("1212121"))


@pytest.mark.parametrize("spec", SPECS)
def test_a_search_and_a_choice_count_the_same_nodes(spec):
    chooser, searcher, position = agents.make(spec), agents.make(spec), Position.parse(DRAWN[:30])
    if not isinstance(searcher, agents.SearchingAgent):
        pytest.skip("does not search")
    for agent in (chooser, searcher):
        agent.reset(5)
        agent.nodes = -1
    assert chooser.choose(position) == searcher.search(position).column
    assert chooser.nodes == searcher.nodes >= 0
    assert searcher.search(position).nodes == searcher.nodes


@FORKS
@pytest.mark.compiled
def test_a_fork_plays_as_its_parent_and_changes_nothing_there():
    pool = agents.Pool({"greedy": 1, "random": 1, "alphabeta:depth=2": 1}, seed=1)
    specs = (
        "learned",
        "perfect",
        "mcts:simulations=60",
        "puct:simulations=12",
        "deepening:nodes=300",
    )
    players = [pool, *map(agents.make, specs)]

    def play(plies):
        positions = [Position.parse(DRAWN[:count]) for count in plies]
        return [[player.choose(position) for position in positions] for player in players]

    for player in players:
        player.reset(5)
    first, rest = (18, 20), (22, 26, 30)
    begun = play(first)
    forked = in_a_fork(lambda: play(rest))
    alone = play(rest)
    assert forked == alone
    for player in players:
        player.reset(5)
    assert [play(first), play(rest)] == [begun, alone]


def test_a_table_or_tree_takes_no_more_memory_than_it_may():
    for spec, least in (
        ("mcts:tree_mb=20,simulations=50", 18),
        (f"{UNIFORM},tree_mb=20", 18),
        ("deepening:table_mb=20,nodes=500", 9),
        ("perfect:table_mb=20", 0),
    ):
        agent = agents.make(spec)
        tracemalloc.start()
        try:
            agent.choose(Position.parse(DRAWN[:20]))
            assert least < tracemalloc.get_traced_memory()[1] / 2**20 < 22
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("spec", [*SPECS, KAGGLE, "a model that draws"])
def test_a_copy_plays_on_as_the_agent_would(spec):
    agent = (
        as_agent(indifferent, temperature=1.0) if spec.startswith("a model") else agents.make(spec)
    )
    searched = spec.startswith(("negamax", "perfect"))  # to the end, so from a late position
    first, *line = [Position.parse(DRAWN[:n]) for n in range(30 if searched else 0, 42, 6)]
    agent.reset(7)
    agent.choose(first)
    twins = [copy.deepcopy(agent), copy.deepcopy(pickle.loads(pickle.dumps(agent)))]
    assert {(type(twin), twin.name) for twin in twins} == {(type(agent), agent.name)}
    for position in line:
        for asked in ([agent, *twins], [*twins, agent]):  # they share nothing
            assert len({one.choose(position) for one in asked}) == 1, position
    for one in (agent, *twins):
        one.close()


@pytest.mark.parametrize(
    "spec",
    [
        *("random", "graded:elo=-400", "perfect:ties=random"),
        *("mcts:simulations=12", "mcts:simulations=12,rollout=greedy"),
    ],
)
def test_a_seed_repeats_the_moves(spec):
    agent = agents.make(spec)

    def columns(seed):
        agent.reset(seed)
        drawn = [agent.choose(Position.parse("444444")) for _ in range(30)]
        return drawn, [agent.choose(Position.parse(DRAWN[:n])) for n in range(8)]

    first = columns(5)
    assert columns(5) == columns(np.random.SeedSequence(5)) == first
    assert [c for c in map(columns, (6, 7, None)) if c != first]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("spec", "other", "openings", "share"),
    [
        ("mcts:simulations=300", "greedy", 1, 0.75),
        ("mcts:simulations=300,rollout=greedy", "greedy", 1, 0.75),
        ("deepening:nodes=2000", "alphabeta:depth=4,heuristic=chain", 1, 0.7),
        pytest.param("learned", "greedy", 0, 1, marks=pytest.mark.slow),
    ],
)
def test_it_wins_its_games_against_a_weaker_agent(spec, other, openings, share):
    games = evaluation.round_robin([spec, other], openings=openings, seed=3, jobs=1).games
    assert np.mean([game.points[game.players.index(spec)] == 1 for game in games]) >= share


@pytest.mark.parametrize(
    ("spec", "module", "package"),
    [
        ("chat:m,base_url=http://127.0.0.1:9/unique", "openai", "openai"),
        ("selfplay:somewhere", "torch", "torch"),
        ("puct:selfplay:somewhere", "torch", "torch"),
        ("torch:model.py:f", "torch", "torch"),
    ],
)
def test_a_missing_package_is_named(spec, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    importing = "c4env.agents.selfplay.convnet"  # torch
    monkeypatch.delitem(sys.modules, importing, raising=False)
    with pytest.raises(MissingExtra, match=f": pip install {package} \\("):
        agents.make(spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("exec", "expected exec:COMMAND"),
        ("exec:/no/such/engine", "/no/such/engine does not exist: expected an executable program"),
        ("exec:cat 'x", "No closing quotation"),
        ("exec:cat,reply=loud", "reply='loud': expected one of column, scores"),
        ("exec:cat,newgame=often", "newgame='often': expected one of none, reset"),
        ("exec:cat,timeout=-1", "timeout='-1'"),
        ("kaggle", "kaggle: file is missing"),
        ("kaggle:none.py", "file='none.py' does not exist: expected a submission FILE.py"),
        ("kaggle:submission.tar.gz", "unpack an archive first, and name its main.py"),
        (f"{KAGGLE},timeout=-1", "timeout='-1'"),
    ],
)
def test_a_program_that_cannot_be_is_refused(spec, words):
    with pytest.raises(InvalidOption, match=words):
        agents.make(spec)
