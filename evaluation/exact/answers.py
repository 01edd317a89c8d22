"""Agents asked about a fixed set of labelled positions: no games, the same questions for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from c4env.agents.solver.exam import SHA256, VERSION, exam
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.exact.judge import Judge
from c4env.evaluation.exact.labelled import EXAM, Labelled, labelled_sets
from c4env.evaluation.exact.quality import JudgedMove, Quality
from c4env.evaluation.games.apart import Apart, make_field
from c4env.evaluation.games.game import Fault, Policy, ask, begin, game_seed
from c4env.evaluation.games.workers import version_here
from c4env.evaluation.plan.field import split_name
from c4env.evaluation.store.journal import Findings, Format
from c4env.evaluation.tables import plural
from c4env.observation import observe
from c4env.position import Position

ANSWERS_FILE: Final = "answers.jsonl"

Key = tuple[str, int, str, str, int, int]
"""Spec, seed, versions, identity (:func:`c4env.evaluation.plan.identity.in_short`), bitboards."""


Answer = int | str
"""A column, or what the agent did instead, in words."""


def question_agents(
    specs: Sequence[str],
    positions: Sequence[Labelled],
    judge: Judge,
    seed: int = 0,
    folder: str | Path | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Quality:
    """The quality of the moves that agents choose in labelled positions.

    Args:
        specs: of the agents, each with a name of its own if so wished: ``"mine=greedy"``.
        positions: none of them over.
        judge: finds the scores of the columns; :meth:`Judge.judge` before is quicker.
        seed: of stochastic agents, and of the intervals. Each position is a new game.
        folder: where answers are kept, in ``answers.jsonl``, as they come.
        watch: called with answers there and in all.

    Raises:
        InvalidRun: no agent, one twice, or none that answers.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
        UnreadableRun: the answers kept are damaged or in use.
    """
    named = [split_name(spec) for spec in specs]
    if not specs or len({name for name, _ in named}) < len(specs):
        raise InvalidRun(f"agents {', '.join(specs) or 'none'}: expected one or more, each once")
    kind, made = make_field(dict(named))  # an error now rather than after answers
    field = {name: made.get(name) or Apart(spec) for name, spec in named}
    moves, faults = [], Counter[str]()
    done, total = 0, len(specs) * len(positions)
    path = None if folder is None else Path(folder) / ANSWERS_FILE
    known = Findings(path, FORMAT)
    with known.journal:
        for name, spec in named:
            with closing(field[name]) as agent:
                for labelled in positions:
                    position = labelled.position
                    asked = position.mine, position.theirs
                    key = (spec, seed, version_here(), kind.in_short(name), *asked)
                    answer = known.find(key, partial(question, agent, spec, position, seed))
                    if isinstance(answer, str):
                        faults[f"{name}: {answer}"] += 1
                    else:
                        scores = judge.scores(position)
                        group, ply = labelled.moves, position.plies
                        moves.append(JudgedMove(name, group, ply, answer, scores))
                    done += 1
                    if watch is not None:
                        watch(done, total)
    if not moves:
        raise InvalidRun(f"no agent answered; for example {next(iter(faults))}")
    notes = tuple(
        f"{plural(count, 'position')} without an answer, {why}" for why, count in faults.items()
    )
    if kind.prompts:
        notes += ("What language models were asked and said is not kept; c4 run --out keeps it.",)
    return Quality(tuple(moves), unit="positions", seed=seed, notes=notes)


def quality(
    specs: str | Sequence[str],
    on: str | Sequence[str] = EXAM,
    count: int | None = None,
    seed: int = 0,
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    watch: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Quality:
    """The quality of the moves that agents choose in sets of positions, judged by exact play.

    Args:
        specs: of the agents, each with a name of its own if so wished: ``"mine=greedy"``.
        on: sets of positions (:func:`c4env.evaluation.exact.labelled.labelled_sets`).
        count: the first so many of each; None takes all, and 100 of a set that is made.
        seed: of stochastic agents, of sets that are made, and of the intervals.
        jobs: threads that judge; all cores by default.
        out: a folder that keeps answers and scores as they come; the same call goes on there.
        watch: called with ``"positions"``, then ``"answers"``, and how many are done and in all.

    Raises:
        InvalidRun: no agent, one twice, or none that answers; or a wrong count or set.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
        UnreadableRun: a set, or what is kept, is damaged; or the folder is in use.
    """
    specs, on = ([each] if isinstance(each, str) else list(each) for each in (specs, on))
    for agent in make_field(dict(map(split_name, specs)))[1].values():
        agent.close()  # an error now, not after the solver's work
    positions = labelled_sets(on, count, seed)
    with Judge(out) as judge:
        for asked in exam() if EXAM in on else ():
            judge.learn(asked.position, asked.scores)
        judge.judge([p.position for p in positions], jobs, partial(watch, "positions"))
        found = question_agents(specs, positions, judge, seed, out, partial(watch, "answers"))
    if EXAM not in on:
        return found
    about = f"exam {VERSION} (sha256 {SHA256[:16]}): its number is the share that keeps the value"
    return replace(found, notes=(about, *found.notes))


def question(
    agent: Policy, spec: str, position: Position, seed: int, again: bool = False
) -> Answer:
    """What an agent answers in a position, as a new game whose seed is made of the position.

    One whose process ends is asked once more, in a fresh one.
    """
    identity = f"{position.mine:x} {position.theirs:x}"
    fault = begin(agent, game_seed(seed, (spec, spec), identity, position.to_move))
    answer = ask(agent, observe(position)) if fault is None else fault
    if isinstance(answer, Fault) and answer.ending == "crash" and not again:
        return question(agent, spec, position, seed, again=True)
    return f"{answer.ending}: {answer.reason}" if isinstance(answer, Fault) else answer[0]


def _parse(value: Any) -> tuple[Key, Answer]:
    *key, mine, theirs, column, fault = value
    spec, seed, version, identity = key if len(key) > 3 else (*key, "")  # as it was before 0.2
    if column is not None and not Position.from_bitboards(mine, theirs).is_legal(column):
        raise ValueError
    return (spec, seed, version, identity, mine, theirs), fault if column is None else column


def _values(entry: Any) -> list[Any]:
    *key, answer = entry
    return [*key, None, answer] if isinstance(answer, str) else [*key, answer, ""]


FORMAT: Final = Format(
    "c4env answers",
    _parse,
    "answers",
    _values,
    "; without the file all agents are asked again",
)
