"""Agents asked about a fixed set of labelled positions: no games, the same questions for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import agents
from agents.solver import Solver
from agents.solver.exam import exam
from c4env.observation import observe
from c4env.position import Position
from evaluation.errors import InvalidRun
from evaluation.games.game import Fault, Policy, ask, begin, game_seed
from evaluation.games.workers import version_here
from evaluation.store.journal import Journal
from evaluation.truth.judge import Judge, strongest_book
from evaluation.truth.labelled import STAGES, Labelled, make_labelled, read_labelled
from evaluation.truth.quality import JudgedMove, Quality

ANSWERS_FILE: Final = "answers.jsonl"
FORMAT: Final = "c4env answers 1"

EXAM: Final = "exam"

MADE: Final = 100
"""Positions of a set that is made, where no number is given."""

Key = tuple[str, int, str, int, int]  # spec, seed, versions, bitboards


class Answer(NamedTuple):
    """A column, or what the agent did instead."""

    column: int | None
    fault: str = ""


def labelled_sets(names: Sequence[str], count: int | None, seed: int = 0) -> list[Labelled]:
    """The positions of several sets, each once.

    Args:
        names: files of ``moves score`` lines, ``exam`` (``agents.solver.exam``), or sets of
            :data:`evaluation.truth.labelled.STAGES`, which are made.
        count: the first so many of each; None takes all of a file or the exam, and MADE
            of a set that is made.
        seed: of the sets that are made.

    Raises:
        InvalidRun: not a positive number, or a position whose game is over.
        UnreadableRun: a file is not such.
    """
    if count is not None and count < 1:
        raise InvalidRun(f"{count} positions: expected at least 1")
    solver = Solver(book=strongest_book()) if any(name in STAGES for name in names) else None
    found: dict[Position, Labelled] = {}
    for name in names:
        if name in STAGES:
            assert solver is not None
            some = make_labelled(name, count or MADE, seed, solver)
        elif name == EXAM:
            some = [
                Labelled(moves, Position.parse(moves), max(s for s in scores if s is not None))
                for moves, scores in exam()[:count]
            ]
        else:
            some = read_labelled(Path(name))[:count]
        for labelled in some:
            if labelled.position.outcome is not None:
                raise InvalidRun(f"{name}: {labelled.moves}: the game is over")
            found.setdefault(labelled.position, labelled)
    return list(found.values())


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
        specs: of the agents.
        positions: none of them over.
        judge: finds the scores of the columns; :meth:`Judge.judge` before is quicker.
        seed: of agents that draw lots, and of the intervals. Each position is a new game.
        folder: where answers are kept, in ``answers.jsonl``, as they come.
        watch: called with answers there and in all.

    Raises:
        InvalidRun: no agent, one twice, none that answers, or a wrong label.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
        UnreadableRun: the answers kept are damaged or in use.
    """
    if not specs or len(set(specs)) < len(specs):
        raise InvalidRun(f"agents {', '.join(specs) or 'none'}: expected one or more, each once")
    field = [agents.make(spec) for spec in specs]
    for labelled in positions:
        best = max(s for s in judge.scores(labelled.position) if s is not None)
        if best != labelled.score:
            raise InvalidRun(f"{labelled.moves} is labelled {labelled.score}; its score is {best}")
    moves, faults = [], Counter[str]()
    done, total = 0, len(specs) * len(positions)
    with nullcontext() if folder is None else _kept(folder) as journal:
        known = dict(journal.entries) if journal is not None else {}
        for spec, agent in zip(specs, field, strict=True):
            with closing(agent):
                for labelled in positions:
                    position = labelled.position
                    key = (spec, seed, version_here(), position.mine, position.theirs)
                    answer = known.get(key)
                    if answer is None:
                        answer = question(agent, spec, position, seed)
                        if journal is not None:
                            journal.append([*key, *answer])
                    if answer.column is None:
                        faults[f"{spec}: {answer.fault}"] += 1
                    else:
                        scores = judge.scores(position)
                        moves.append(
                            JudgedMove(spec, labelled.moves, position.plies, answer.column, scores)
                        )
                    done += 1
                    if watch is not None:
                        watch(done, total)
    if not moves:
        raise InvalidRun(f"no agent answered; for example {next(iter(faults))}")
    notes = tuple(f"{count} positions without an answer, {why}" for why, count in faults.items())
    return Quality(tuple(moves), unit="positions", seed=seed, notes=notes)


def question(agent: Policy, spec: str, position: Position, seed: int) -> Answer:
    """What an agent answers in a position, as a new game whose seed is made of the position."""
    identity = f"{position.mine:x} {position.theirs:x}"
    fault = begin(agent, game_seed(seed, (spec, spec), identity, position.to_move))
    answer = ask(agent, observe(position)) if fault is None else fault
    if isinstance(answer, Fault):
        return Answer(None, f"{answer.ending}: {answer.reason}")
    return Answer(answer[0])


def _kept(folder: str | Path) -> Journal[tuple[Key, Answer]]:
    return Journal(Path(folder) / ANSWERS_FILE, FORMAT, _parse)


def _parse(value: Any) -> tuple[Key, Answer]:
    spec, seed, version, mine, theirs, column, fault = value
    legal = Position.from_bitboards(mine, theirs).legal_columns()
    if column is not None and column not in legal:
        raise ValueError
    return (spec, seed, version, mine, theirs), Answer(column, fault)
