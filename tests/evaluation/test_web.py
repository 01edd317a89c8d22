"""What a page may ask for, and the processes that answer it."""

import asyncio
import math
import os
import re
import signal
import tracemalloc

import pytest

from c4env import Position, agents
from c4env.agents.base import SearchingAgent, SearchResult
from c4env.agents.making.options import REQUIRED
from c4env.agents.making.registry import ZOO
from c4env.agents.making.spec import Spec
from c4env.agents.solver import Solver
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.web.agent_processes import (
    AGENTS_KEPT,
    ProcessPool,
    Question,
    RecentAgents,
    answer,
)
from c4env.evaluation.web.allowlist import LEVELS, MEMORY, catalogue, check_spec, plain, settable


def test_the_zoo_is_offered_and_every_default_passes():
    assert {"random", "greedy", "alphabeta", "perfect", "rust-port"} <= set(plain())
    assert check_spec(" random") == "random"
    for name, entry in plain().items():
        given = ",".join(f"{o.name}={o.default}" for o in settable(entry) if o.default is not None)
        assert check_spec(name) == name
        spec = check_spec(f"{name}:{given}" if given else name)
        assert Spec.parse(spec).name == name
    needing = [e.name for e in ZOO if any(o.default is REQUIRED for o in e.maker.options)]
    assert not {*needing} & {*plain()}  # a path, an address or a program


def test_the_levels_are_offered_and_vary_their_play():
    assert [level.name for level in LEVELS] == ["Easy", "Medium", "Hard", "Expert", "Perfect"]
    for level in LEVELS:
        assert check_spec(level.spec) == level.spec
        assert not agents.make(level.spec).deterministic


def test_what_is_refused_is_not_imported(monkeypatch):
    for spec, words in (
        ("rndom", "this page offers"),
        ("os:system:x=1", "this page offers"),
        (" random :os", "'os' is not key=value"),  # the agent random, not its module
        ("exec:./engine", "this page offers"),
        ("alphabeta:heuristic=os:system", "expected one of chain, lines"),
        ("alphabeta:depth=43", "expected int between 1 and 42"),
        ("alphabeta:width=3", "option 'width': expected one of depth, heuristic"),
        ("perfect:table_mb=60000", "expected int between 1 and 256"),
        (7, "expected a spec"),
    ):
        monkeypatch.setattr("c4env.agents.making.registry.import_callable", pytest.fail)
        with pytest.raises(C4Error, match=re.escape(words)):
            check_spec(spec)


def test_the_owner_names_anything():
    assert check_spec("my.agent:f", ("my.agent:f",)) == "my.agent:f"
    with pytest.raises(InvalidOption, match=r"my\.agent:f"):
        check_spec("my.agent:g", ("my.agent:f",))
    assert catalogue({"mine": "my.agent:f"})[-1]["spec"] == "mine"


ENDLESS = Question("move", "minimax:depth=42", "")
GREEDY = Question("move", "greedy", "1")


def with_hosts(use, size=1, seconds=60.0):
    async def run():
        hosts = ProcessPool(size, seconds)
        try:
            await use(hosts)
        finally:
            await hosts.close()
        assert hosts.waiting == 0  # the server refuses questions by this number

    asyncio.run(run())


async def result(hosts, question):
    return await asyncio.wait_for(hosts.ask(question, asyncio.Event()), 60)


async def searching(hosts, question):
    """A process has taken the question up, and had time to begin on it."""
    started = asyncio.Event()
    task = asyncio.create_task(hosts.ask(question, started))
    await asyncio.wait_for(started.wait(), 60)
    await asyncio.sleep(0.3)
    return task


def pids(hosts):
    """Who answers is nobody's business but a test's."""
    return {host[""]._process._process.pid for host in hosts.processes}


@pytest.mark.isolated
def test_a_search_that_is_stopped_makes_way_for_the_next():
    """A search that ends soon keeps its process; one in native code loses it, as one that dies."""

    async def use(hosts):
        await result(hosts, GREEDY)  # the process is up
        before = pids(hosts)
        quick = asyncio.create_task(hosts.ask(GREEDY, asyncio.Event()))
        await asyncio.sleep(0)
        quick.cancel()
        column = agents.make("greedy").choose(Position.parse("1")) + 1
        assert (await result(hosts, GREEDY))["column"] == column
        assert pids(hosts) == before
        (await searching(hosts, ENDLESS)).cancel()
        assert (await result(hosts, GREEDY))["column"] == column
        assert len(pids(hosts)) == 1
        assert pids(hosts) != before
        answer = await searching(hosts, ENDLESS)
        os.kill(*pids(hosts), signal.SIGTERM)
        assert "died" in (await answer)["error"]
        assert (await result(hosts, GREEDY))["type"] == "move"
        seen.append(await searching(hosts, ENDLESS))
        seen.extend(host[""]._process._process for host in hosts.processes)

    seen = []
    with_hosts(use)  # whose end ends a search in native code
    assert seen[1].poll() is not None


@pytest.mark.isolated
def test_two_versions_with_a_helper_of_one_name_have_processes_of_their_own(folder):
    for name, column in (("v1", 0), ("v2", 6)):
        (folder / name).mkdir()
        (folder / name / "heur.py").write_text(f"COLUMN = {column}\n")
        (folder / name / "mine.py").write_text(
            "from heur import COLUMN\nagent = lambda _: COLUMN\n"
        )

    async def use(hosts):
        for name, column in (("v1", 1), ("v2", 7), ("v1", 1)):
            move = await result(hosts, Question("move", f"{name}/mine.py:agent", "44"))
            assert move["column"] == column

    with_hosts(use)


@pytest.mark.slow
def test_a_search_without_end_is_stopped_and_said():
    async def use(hosts):
        assert (await result(hosts, ENDLESS))["error"] == "no answer within 1 seconds"
        hosts.seconds = 60.0  # the next process may start slowly
        assert (await result(hosts, Question("move", "random", "")))["type"] == "move"

    with_hosts(use, seconds=1.0)


def answered(cache, *question):
    return answer(Question(*question), cache)


def test_a_move_depends_only_on_the_question():
    cache = RecentAgents()
    alone = answered(RecentAgents(), "move", "random", "44", 5)["column"]
    for moves in ("1", "2", "44"):
        result = answered(cache, "move", "random", moves, 5)
    assert result["column"] == alone
    columns = {answered(cache, "move", "random", "44", seed)["column"] for seed in range(20)}
    assert len(columns) > 2


@pytest.mark.parametrize(("moves", "since"), [("4453443523", 9), ("1212121", 5)])
def test_the_values_of_a_game_are_the_solvers(moves, since):
    result = answered(RecentAgents(), "values", "", moves, 0, since)
    solver = Solver()
    positions = {n: Position.parse(moves[:n]) for n in range(since, len(moves) + 1)}
    assert dict(result["values"]) == {n: solver.score(p) for n, p in positions.items()}
    scores = answered(RecentAgents(), "scores", "", moves[:since])["scores"]
    assert scores == solver.scores(positions[since])


class Unsure(SearchingAgent):
    """Finds a value that JSON cannot say."""

    def search(self, position):
        return SearchResult(2, math.nan, 5, 1, (2, 3))


def test_a_move_says_what_the_agent_saw():
    move = answered(RecentAgents(), "move", "minimax:depth=3", "4455")
    result = agents.make("minimax:depth=3").search(Position.parse("4455"))
    line = "".join(str(column + 1) for column in result.principal_variation)
    assert (move["column"], move["value"]) == (result.column + 1, result.value)
    assert (move["nodes"], move["depth"], move["line"]) == (result.nodes, result.depth, line)
    assert "value" not in answered(RecentAgents(), "move", "greedy", "4455")
    agents.register("unsure", Unsure)
    for kind in ("move", "hint"):
        message = answered(RecentAgents(), kind, "unsure", "4455")
        assert (message["column"], message["value"], message["line"]) == (3, None, "34")


def test_an_agent_at_fault_forfeits():
    agents.register("nine", lambda observation: 9)
    result = answered(RecentAgents(), "move", "nine", "")
    assert (result["type"], result["ending"]) == ("forfeit", "nonsense")
    assert "expected an integer 0..6" in result["reason"]


def test_a_process_keeps_few_agents_and_closes_the_others():
    cache = RecentAgents()
    closed = []
    for depth in range(1, AGENTS_KEPT + 3):
        agent = cache.agent(f"minimax:depth={depth}")
        agent.close = lambda depth=depth: closed.append(depth)
    assert closed == [1, 2]
    assert cache.agent("minimax:depth=9") is cache.agent("minimax:depth=9")


def test_the_tables_that_a_process_keeps_are_bounded():
    cache = RecentAgents()
    size = MEMORY - 10
    tracemalloc.start()
    try:
        for c in range(4):
            cache.agent(f"mcts:tree_mb={size},c={c}").choose(Position())
            held = tracemalloc.get_traced_memory()[0]
        assert held < 1.5 * MEMORY * 2**20
    finally:
        tracemalloc.stop()
    small = [f"mcts:tree_mb=100,c={c}" for c in (1, 2)]
    kept = [cache.agent(spec) for spec in small]
    assert [cache.agent(spec) for spec in small] == kept  # both fit
