"""Judge the moves that agents choose in a fixed set of positions, without playing games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from c4env.agents.registry.registry import registered_here
from c4env.agents.solver.exam import SHA256, VERSION, exam
from c4env.errors import InvalidOption
from c4env.evaluation.exact.judge import Judge
from c4env.evaluation.exact.labelled import EXAM, Labelled, labelled_sets
from c4env.evaluation.exact.quality import JudgedMove, Quality
from c4env.evaluation.games.clusters import version_here
from c4env.evaluation.games.game import Fault, Policy, ask, begin, game_seed
from c4env.evaluation.games.players import Lineup, RunSpec, agent_cache, line_up
from c4env.evaluation.games.pool import Lost, do_all, here
from c4env.evaluation.plan.field import split_name
from c4env.evaluation.store.journal import Findings, Format
from c4env.evaluation.tables import plural
from c4env.observation import observe
from c4env.position import Position, parse_moves

ANSWERS_FILE: Final = "answers.jsonl"

Key = tuple[str, int, str, str, int, int]
"""The key of a stored answer: spec, seed, versions, identity hash and the two bitboards."""


Answer = int | str
"""An agent's answer: a column, or a description of the failure."""


def question_agents(
    specs: Sequence[str],
    positions: Sequence[Labelled],
    judge: Judge,
    seed: int = 0,
    folder: str | Path | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Quality:
    """Ask agents for a move in each labelled position, and judge the moves.

    Args:
        specs: specs of agents; ``"mine=greedy"`` names an agent ``mine``.
        positions: unfinished positions; each position is a new game.
        judge: scores the columns; call :meth:`Judge.judge` in advance to save time.
        seed: seed of stochastic agents and of the bootstrap intervals.
        folder: the folder of ``answers.jsonl``, which stores each answer; None writes no file.
        watch: called with the number of answers so far and the total.

    Raises:
        InvalidOption: no agent is given, an agent is given twice, or no agent answers.
        UnknownAgent, InvalidOption, ...: a spec is wrong.
        UnreadableRun: ``answers.jsonl`` is damaged or in use.
    """
    with closing(_line_up(specs)) as lineup:
        return _question_all(lineup, positions, judge, seed, folder, watch)


def _line_up(specs: Sequence[str]) -> Lineup:
    """Make the agents of several specs; errors are reported before any agent is asked."""
    named = dict(map(split_name, specs))
    if not specs or len(named) < len(specs):
        raise InvalidOption(
            f"agents {', '.join(specs) or 'none'}: expected one or more, none twice"
        )
    return line_up(named, jobs=len(named))


def _question_all(
    lineup: Lineup,
    positions: Sequence[Labelled],
    judge: Judge,
    seed: int,
    folder: str | Path | None,
    watch: Callable[[int, int], None] | None,
) -> Quality:
    traits = lineup.traits
    moves, faults = [], Counter[str]()
    done, total = 0, len(lineup.players) * len(positions)
    path = None if folder is None else Path(folder) / ANSWERS_FILE
    known = Findings(path, FORMAT)
    with known.journal:
        for name, spec in lineup.players.items():
            assert isinstance(spec, str)
            about = (spec, seed, version_here(), traits.in_short(name))
            keys = [(*about, p.position.mine, p.position.theirs) for p in positions]
            asked = [p.position for p, key in zip(positions, keys, strict=True) if key not in known]
            with closing(_answers(lineup, name, spec, asked, seed)) as answers:
                for labelled, key in zip(positions, keys, strict=True):
                    answer = known.find(key, partial(next, answers))
                    if isinstance(answer, str):
                        faults[f"{name}: {answer}"] += 1
                    else:
                        scores = judge.scores(labelled.position)
                        group, ply = labelled.moves, labelled.position.plies
                        moves.append(JudgedMove(name, group, ply, answer, scores))
                    done += 1
                    if watch is not None:
                        watch(done, total)
    if not moves:
        raise InvalidOption(f"no agent answered; the first error: {next(iter(faults))}")
    notes = tuple(
        f"{plural(count, 'position')} without an answer, {why}" for why, count in faults.items()
    )
    if traits.prompts:
        notes += ("Only c4 run --out stores the prompts and answers of language models.",)
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
    """Ask agents for moves in sets of positions, and judge the moves by exact play.

    Args:
        specs: specs of agents; ``"mine=greedy"`` names an agent ``mine``.
        on: sets of positions (:func:`c4env.evaluation.exact.labelled.labelled_sets`).
        count: number of positions to take from the start of each set. None takes all positions of
            a file or of the exam, and generates 100 positions for any other set.
        seed: seed of stochastic agents, of generated sets, and of the bootstrap intervals.
        jobs: number of threads that judge; None uses all cores.
        out: folder that stores each answer and score; the same call resumes from this folder.
        watch: called with ``"positions"`` or ``"answers"``, the number done and the total.

    Returns:
        the judged moves.

    Raises:
        InvalidOption: an agent occurs twice, no agent answers, or the count or a set is invalid.
        UnknownAgent, InvalidOption, ...: a spec is wrong.
        UnreadableRun: a set or a stored file is damaged, or the folder is in use.
    """
    specs, on = ([each] if isinstance(each, str) else list(each) for each in (specs, on))
    with closing(_line_up(specs)) as lineup, Judge(out) as judge:
        positions = labelled_sets(on, count, seed)
        for asked in exam() if EXAM in on else ():
            judge.learn(asked.position, asked.scores)
        judge.judge([p.position for p in positions], jobs, partial(watch, "positions"))
        found = _question_all(lineup, positions, judge, seed, out, partial(watch, "answers"))
    if EXAM not in on:
        return found
    about = f"exam {VERSION} (sha256 {SHA256[:16]}); mark: the share of moves that keep the value"
    return replace(found, notes=(about, *found.notes))


def _answers(
    lineup: Lineup, name: str, spec: str, positions: Sequence[Position], seed: int
) -> Generator[Answer, None, None]:
    """Yield an agent's answers; an agent of third-party code answers in its worker."""
    if name in lineup.made:
        yield from (question(lineup.made[name], spec, position, seed) for position in positions)
        return
    run = RunSpec(lineup.players, seed, registered=registered_here(), id=lineup.id)
    workers = [lineup.workers.pop(0)]
    task = partial(question_in_worker, run, name, spec)
    tasks = [(position,) for position in positions]
    for _, found in do_all(task, tasks, 1, workers=workers):  # one worker keeps the order
        yield f"{found.ending}: {found.reason}" if isinstance(found, Lost) else found


def question(agent: Policy, spec: str, position: Position, seed: int) -> Answer:
    """Ask an agent for its move in a position, as the first move of a new game.

    The position determines the seed.
    """
    identity = f"{position.mine:x} {position.theirs:x}"
    fault = begin(agent, game_seed(seed, (spec, spec), identity, position.to_move))
    answer = ask(agent, observe(position)) if fault is None else fault
    return f"{answer.ending}: {answer.reason}" if isinstance(answer, Fault) else answer[0]


def question_in_worker(run: RunSpec, name: str, spec: str, position: Position) -> Answer:
    """Ask a player in a worker; if the worker dies, its parent reads which position it was."""
    here.turn.begin(parse_moves(position.moves()))
    here.turn.belongs_to(0)
    try:
        return question(agent_cache.policy(run, name), spec, position, run.seed)
    finally:
        here.turn.ends()


def _parse(value: Any) -> tuple[Key, Answer]:
    *key, mine, theirs, column, fault = value
    spec, seed, version, identity = key if len(key) > 3 else (*key, "")  # no identity before 0.2
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
    "; delete the file to ask all agents again",
)
