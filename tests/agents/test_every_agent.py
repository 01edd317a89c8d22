import copy
import pickle
import sys
import tracemalloc

import gymnasium
import numpy as np
import pytest

import c4env
from c4env import Position, agents, batched, evaluation
from c4env.agents.adapters.models import agent_of
from c4env.agents.base import Agent
from c4env.agents.entries import REQUIRED, ZOO
from c4env.agents.sampling.tree import sign
from c4env.agents.search.threads import LIMIT
from c4env.agents.solver import Solver
from c4env.agents.spec import options_of_agent
from c4env.boards import Size
from c4env.envs.text import TextEnv, fill, read_move, template
from c4env.errors import C4Error, IllegalMove, InvalidOption, MissingExtra, WrongBoard
from c4env.jit import config
from c4env.render import ansi, rgb_array, svg
from tests.helpers.boards import WIDEST, part
from tests.helpers.paths import ROOT
from tests.rules import reference

# Each board costs some seconds of compiling, once: compiled, one of them stands for all.
SIZES = [Size(4, 4, 4), Size(4, 4, 3), Size(5, 6, 4)]
BOARDS = SIZES if config.DISABLE_JIT else SIZES[:1]
WIDE = [pytest.param(Size(2, 10, 4), marks=pytest.mark.slow)]
if config.DISABLE_JIT:  # where an index beyond an array is an error
    WIDE = [Size(2, columns, 4 - columns % 2) for columns in range(8, 16)]
PLAYERS = {
    "kaggle": f"kaggle:{ROOT / 'tests/data/kaggle/rules.py'}",
    "puct": "puct:function=tests.helpers.policies:uniform,simulations=20",
    "mcts": "mcts:simulations=100",
    "minimax": "minimax:depth=3",
    "alphabeta": "alphabeta:depth=3",
    "open_spiel": "open_spiel:mcts,simulations=20",
}


@pytest.mark.parametrize("size", BOARDS, ids=str)
@pytest.mark.parametrize("entry", ZOO, ids=lambda entry: entry.name)
def test_every_agent_plays_the_board_or_refuses(entry, size):
    board = c4env.board(*size)
    zoo = board.agents
    if not entry.any_board:
        assert entry.name not in zoo.names()
        with pytest.raises(WrongBoard, match=f"plays on 6x7x4, not on {size}") as refused:
            zoo.make(entry.name)
        assert "\n" not in str(refused.value)
        return
    assert entry.name in zoo.names()
    if entry.name == "open_spiel":
        pytest.importorskip("pyspiel")
    agent, other = zoo.make(PLAYERS.get(entry.name, entry.name)), zoo.make("random")
    agent.reset(seed=1)
    other.reset(seed=2)
    if entry.name == "negamax":  # for endings: below
        return
    position = board.Position.parse("12344321" if entry.name == "perfect" else "1234")
    while position.outcome is None:
        won = [c for c in position.legal_columns() if position.play(c).outcome]
        column = (agent if position.to_move == 0 else other).choose(position)
        assert position.is_legal(column)
        if position.to_move == 0 and won and entry.name not in ("random", "kaggle", "puct"):
            assert column in won
        position = position.play(column)
    agent.close()


def scored(size, seeds, discs=0):
    """Positions of random games, not over, with at least so many discs; their exact scores."""
    found, known = [], {}
    for seed in range(seeds):
        position, board = c4env.board(*size).Position(), reference.empty_board(size)
        for column in reference.random_game(seed, size):
            if position.plies >= discs:
                scores = reference.column_scores(board, position.to_move, size, known)
                found.append((position, scores))
            reference.play(board, column, position.to_move)
            position = position.play(column)
    return found


def best(scores):
    return max(score for score in scores if score is not None)


# Compiled, every position of 4x4 is compared in tests/agents/test_solver.py.
@pytest.mark.skipif(not config.DISABLE_JIT, reason="would compile more boards")
@pytest.mark.parametrize("size", [Size(3, 3, 3), Size(3, 4, 3), Size(2, 5, 3)], ids=str)
def test_exact_scores_are_those_of_all_games_played_out(size):
    solver = part(size, "agents.solver").Solver()
    asked = scored(size, 5)
    for position, scores in asked:
        assert solver.scores(position) == scores
        assert solver.score(position) == best(scores)
    several = solver.columns_many([position for position, _ in asked])
    assert several.max(axis=1).tolist() == [best(scores) for _, scores in asked]
    first = asked[0][0]
    line = solver.principal_variation(first)
    assert len(line) == solver.plies_to_end(first)
    perfect, negamax = (c4env.board(*size).agents.make(name) for name in ("perfect", "negamax"))
    assert perfect.search(first).value == negamax.search(first).value == best(asked[0][1])


@pytest.mark.parametrize("size", WIDE, ids=str)
def test_searches_of_wide_boards_find_what_all_games_played_out_give(size):
    zoo = c4env.board(*size).agents
    endings = scored(size, 60, discs=size.rows * size.columns - 6)
    solver = part(size, "agents.solver").Solver()
    exact = [zoo.make(name) for name in ("perfect", "negamax")]
    others = [zoo.make(PLAYERS["mcts"]), zoo.make("alphabeta:depth=6")]
    assert endings
    for position, scores in endings[:40]:
        score = best(scores)
        assert solver.scores(position) == scores
        for agent in exact:
            assert scores[agent.choose(position)] == score
        for agent in others:
            found = agent.search(position)
            assert getattr(found, "proven", sign(score)) in (sign(score), None)
            if getattr(found, "proven", 0) is not None:
                assert sign(scores[found.column]) == sign(score)


@pytest.mark.compiled
@pytest.mark.slow
def test_the_solver_scores_a_wide_board_as_plain_negamax_does():
    board = c4env.board(2, 10, 4)
    solver = part(Size(2, 10, 4), "agents.solver").Solver()
    negamax = board.agents.make("negamax")
    for moves in ("79584321", "213878946"):  # enough columns are open to fill a frame
        position = board.Position.parse(moves)
        scores = solver.scores(position)
        for column in position.legal_columns():
            child = position.play(column)
            if child.outcome is None:
                assert scores[column] == -negamax.search(child).value


@pytest.mark.skipif(not config.DISABLE_JIT, reason="would compile more boards")
@pytest.mark.parametrize("columns", [8, 9, 15])
def test_a_frame_of_the_solver_holds_the_order_of_all_columns(columns, monkeypatch):
    """Words that the test adds to each frame stay unused."""
    size = Size(2, columns, 4)
    null_window = part(size, "agents.solver.null_window")
    driver, table = (part(size, f"agents.solver.{name}") for name in ("driver", "table"))
    frame = null_window.FRAME
    words = frame + columns
    monkeypatch.setattr(null_window, "FRAME", words)
    work = np.zeros(null_window.FRAMES + words * (2 * columns + 1), np.int64)
    memory = table.allocate(1)
    null_window.reset_workspace(work, memory, 1)
    work[LIMIT] = 300
    driver.solve(memory, work, 0, 0, -driver.LARGEST, driver.LARGEST)
    used = work[null_window.FRAMES :].reshape(-1, words).any(axis=0)
    assert used[null_window.ORDER : null_window.ORDER + columns].all()
    assert not used[frame:].any()


@pytest.mark.skipif(not config.DISABLE_JIT, reason="would compile more boards")
@pytest.mark.parametrize("columns", [7, 8, 9, 15])
def test_the_order_of_a_frame_leaves_all_children_as_they_were_written(columns):
    size = Size(2, columns, 4)
    null_window = part(size, "agents.solver.null_window")
    memory = part(size, "agents.solver.table").allocate(1)
    work = np.zeros(null_window.WORKSPACE, np.int64)
    null_window.reset_workspace(work, memory, 1)
    null_window.write_node(work, null_window.ROOT, 0, 0, 0, 0, 0)
    _, count = null_window.list_children(memory, work, null_window.ROOT, 0, -99)
    assert count == columns
    frame = work[null_window.FRAMES :][: null_window.FRAME]
    order = frame[null_window.ORDER :][:columns] % null_window.NUMBERS
    assert sorted(order.tolist()) == [*range(columns)]
    children = frame[: columns * null_window.CHILD].reshape(columns, null_window.CHILD)
    bottom = part(size, "bitboard").BOTTOM  # after one disc each, none of which is the mover's
    assert (children[:, null_window.MINE] == 0).all()
    assert np.bitwise_or.reduce(children[:, null_window.THEIRS]) == bottom
    assert (children[:, null_window.PLIES] == 1).all()


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "end"), [(4, 4, 16), (5, 5, 25)])
def test_outcomes_of_whole_boards_are_as_published(rows, columns, end):
    """C. Steininger, after J. Tromp: both drawn, and the discs on the board at the end."""
    empty = c4env.board(rows, columns).Position()
    solver = part(Size(rows, columns, 4), "agents.solver").Solver()
    assert (solver.score(empty), solver.plies_to_end(empty)) == (0, end)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "greedy", "mcts:simulations=200"])
def test_the_highest_bits_of_the_widest_board_are_seen(spec):
    """The fourth disc goes into the top cell of the last column, or on the other side's line."""
    board = c4env.board(*WIDEST)
    for moves in ("99919192", "199919192"):
        assert board.agents.make(spec).choose(board.Position.parse(moves)) == 8


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
    if not entry.needs and REQUIRED not in [option.default for option in options_of_agent(entry)]
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


@pytest.mark.parametrize("spec", [*SPECS, PLAYERS["kaggle"], "a model that draws"])
def test_a_copy_plays_on_as_the_agent_would(spec):
    agent = agent_of(indifferent, 1.0) if spec.startswith("a model") else agents.make(spec)
    searched = spec.startswith(("negamax", "perfect"))  # to the end, so from a late position
    first, *line = [Position.parse(DRAWN[:n]) for n in range(30 if searched else 0, 42, 2)]
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
        ("mcts:simulations=300", "random", 1, 1),
        ("mcts:simulations=300", "greedy", 1, 0.75),
        ("mcts:simulations=300,rollout=greedy", "random", 1, 1),
        ("mcts:simulations=300,rollout=greedy", "greedy", 1, 0.75),
        ("deepening:nodes=2000", "alphabeta:depth=4,heuristic=chain", 1, 0.7),
        pytest.param("learned", "greedy", 0, 1, marks=pytest.mark.slow),
    ],
)
def test_it_wins_its_games_against_a_weaker_agent(spec, other, openings, share):
    games = evaluation.round_robin([spec, other], openings=openings, seed=3, jobs=1).games
    assert np.mean([game.points[game.players.index(spec)] == 1 for game in games]) >= share


ENTRIES = {
    "Solver.score": lambda p: Solver().score(p),
    "Solver.scores_many": lambda p: Solver().scores_many([p]),
    "observe": c4env.observe,
    "ansi": ansi,
    "rgb_array": rgb_array,
    "svg": svg,
    "text.fill": lambda p: fill(template(), p, ""),
    "text.read_move": lambda p: read_move("Move: 4", p),
    "env": lambda p: c4env.env().reset(options={"position": p}),
    "raw_env": lambda p: c4env.raw_env().reset(options={"position": p}),
    "ConnectFourEnv": lambda p: c4env.ConnectFourEnv().reset(options={"position": p}),
    "TextEnv": lambda p: TextEnv().reset(options={"position": p}),
    "vector, position": lambda p: c4env.ConnectFourVectorEnv(2).reset(options={"position": p}),
    "vector, openings": lambda p: c4env.ConnectFourVectorEnv(2, openings=[p]),
    "round_robin, openings": lambda p: evaluation.round_robin(["random", "greedy"], openings=[p]),
}
ENTRIES |= {f"{spec}, choose": lambda p, s=spec: agents.make(s).choose(p) for spec in PLAIN}
ENTRIES |= {f"{spec}, search": lambda p, s=spec: agents.make(s).search(p) for spec in PLAIN}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_position_of_another_board_is_refused_in_a_line(entry):
    for size, moves in ((4, 4), "1122"), (WIDEST, "99"):
        position = c4env.board(*size).Position.parse(moves)
        with pytest.raises(C4Error) as refused:
            ENTRIES[entry](position)
        assert repr(position) in str(refused.value)
        assert "\n" not in str(refused.value)


class Mine(Agent):
    def choose(self, position):
        return position.legal_columns()[0]


@pytest.mark.parametrize("opponent", [agents.make("greedy"), Mine(), agents.Pool({"greedy": 1})])
def test_an_opponent_of_another_board_is_refused_before_it_plays(opponent):
    small = c4env.board(4, 4)
    for play in (
        small.ConnectFourEnv,
        lambda given: small.ConnectFourVectorEnv(2, opponent=given),
        lambda given: small.agents.Pool({given: 1}),
        small.agents.make,
        lambda given: small.agents.register("of-6x7", given),
        lambda given: small.evaluation.round_robin({"a": given, "b": "random"}, openings=0),
        lambda given: gymnasium.make("c4env/ConnectFour-v0", rows=4, columns=4, opponent=given),
    ):
        with pytest.raises(WrongBoard, match=r"made for 6x7x4, not for 4x4x4$"):
            play(opponent)
    with pytest.raises(WrongBoard, match=r"made for 4x4x4, not for 6x7x4$"):
        c4env.ConnectFourEnv(small.agents.make("greedy"))


@pytest.mark.parametrize(
    ("spec", "module", "package"),
    [
        ("chat:m,base_url=http://127.0.0.1:9/unique", "openai", "openai"),
        ("open_spiel:mcts", "pyspiel", "open_spiel"),
        ("selfplay:somewhere", "torch", "torch"),
        ("puct:selfplay:somewhere", "torch", "torch"),
        ("torch:model.py:f", "torch", "torch"),
    ],
)
def test_a_missing_package_is_named(spec, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    importing = "c4env.agents.selfplay.network"  # torch
    monkeypatch.delitem(sys.modules, importing, raising=False)
    with pytest.raises(MissingExtra, match=f": pip install {package} \\("):
        agents.make(spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("exec", "expected exec:COMMAND"),
        ("exec:/no/such/engine", "'/no/such/engine'.*an executable program"),
        ("exec:cat 'x", "No closing quotation"),
        ("exec:cat,reply=loud", "reply='loud': expected one of column, scores"),
        ("exec:cat,newgame=often", "newgame='often': expected one of none, reset"),
        ("exec:cat,timeout=-1", "timeout='-1'"),
        ("kaggle", "kaggle: file is missing"),
        ("kaggle:none.py", "file='none.py': expected an existing FILE.py"),
        ("kaggle:submission.tar.gz", "unpack an archive first, and name its main.py"),
        (f"{PLAYERS['kaggle']},timeout=-1", "timeout='-1'"),
        ("open_spiel", "expected open_spiel:BOT"),
        ("open_spiel:none", "bot='none': expected one of mcts, minimax"),
        ("open_spiel:mcts,simulations=0", "simulations='0'"),
    ],
)
def test_a_program_or_package_that_cannot_be_is_refused(spec, words):
    if spec.startswith("open_spiel"):
        pytest.importorskip("pyspiel")
    with pytest.raises(InvalidOption, match=words):
        agents.make(spec)
