"""Ask agents for moves in fixed sets of positions, and judge the moves; no game is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from c4env.agents.base import Agent
from c4env.agents.solver.exam import SHA256, VERSION, ScoredPosition
from c4env.errors import InvalidOption, UnreadableRun, require_integer
from c4env.evaluation.exact.moves import JudgedMove, Quality
from c4env.evaluation.exact.position_sets import EXAM, FRESH, positions_of_sets
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.header import EXACT, identity_hash, versions
from c4env.evaluation.records.jsonl import Memo
from c4env.evaluation.runs.play_game import game_seed
from c4env.evaluation.runs.players import Traits, name_players, split_name
from c4env.evaluation.runs.referee import Referee
from c4env.evaluation.runs.turn import Forfeit, ask, begin, count
from c4env.position import Position

ANSWERS_FILE: Final = "answers.jsonl"


class Answer(NamedTuple):
    """An agent's answer in a position: its column, or its failure."""

    column: int | None  # None after a failure
    asked_again: int = 0  # times that a language model was asked again
    fault: str = ""  # how and why the agent failed

    def kept(self) -> int | list[int] | Answer:
        """Return what a file stores: the column, with the count if there is one, but no failure.

        A failure may be the machine's and may pass, so the next call asks again.
        """
        if self.column is None:
            return self
        return [self.column, self.asked_again] if self.asked_again else self.column

    @classmethod
    def of(cls, kept: int | list[int] | Answer) -> Answer:
        """Return the answer for which :meth:`kept` returned ``kept``."""
        if isinstance(kept, Answer):
            return kept
        column, asked_again = kept if isinstance(kept, list) else (kept, 0)
        return cls(column, asked_again)


def is_kept(value: object) -> bool:
    """Whether a file stores a value (:meth:`Answer.kept`); older files have failures as text."""
    return not isinstance(value, Answer | str)


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
        on: sets of positions: ``"exam"``; ``"fresh:SEED"``, an exam that is made by the recipe of
            the exam; files with lines of ``moves score``; or ``"end-easy"``, ``"middle-easy"``,
            ``"middle-medium"``, ``"begin-easy"``, ``"begin-medium"`` and ``"begin-hard"``, which
            are made from the seed.
        count: number of positions to take from the start of each set: all if not given, 100 of a
            set that is made from the seed.
        seed: seed of stochastic agents, of the sets that are made, and of the intervals.
        jobs: number of threads that judge, one for each core if not given.
        out: folder that keeps answers and scores; the same call resumes from there.
        watch: called with ``"portions"`` of a fresh exam, ``"positions"`` or ``"answers"``, the
            number done and the total.

    Returns:
        the judged moves.

    Raises:
        InvalidOption: an agent occurs twice or is not a text, no agent answers, or the count or a
            set is invalid.

    Example:
        >>> judged = quality("greedy", count=10)
        >>> judged.overall()[0].accuracy.value
        0.5
    """
    specs = specs if isinstance(specs, Sequence) and not isinstance(specs, str) else [specs]
    sets = [on] if isinstance(on, str) else on
    seed = require_integer("seed", seed, 0, "an integer of 0 or more")
    with closing(referee_of(specs)) as referee, Judge(out) as judge:
        positions = positions_of_sets(sets, count, seed, jobs, partial(watch, "portions"))
        for labelled in positions:
            if labelled.scores is not None:
                judge.learn(labelled.position, labelled.scores)
        judge.judge([p.position for p in positions], jobs, partial(watch, "positions"))
        judged = question_agents(referee, positions, judge, seed, out, partial(watch, "answers"))
    about = [f"exam {VERSION} (sha256 {SHA256[:16]})"] if EXAM in sets else []
    about += [f"{name}, by the recipe of exam {VERSION}" for name in sets if name.startswith(FRESH)]
    return replace(judged, notes=(*about, *judged.notes))


def question_agents(
    referee: Referee,
    positions: Sequence[ScoredPosition],
    judge: Judge,
    seed: int = 0,
    folder: str | Path | None = None,
    watch: ProgressCallback | None = None,
) -> Quality:
    """Ask agents for a move in each position, as a new game, and judge the moves.

    A position without an answer counts as the worst column, as a forfeited game counts as lost.
    The folder keeps the answers but not the failures. To save time, first call
    :meth:`Judge.judge`, which uses all cores.
    """
    traits = {name: referee.traits(name) for name in referee.players}
    specs = {name: str(player) for name, player in referee.players.items()}
    moves: list[JudgedMove] = []
    total = len(traits) * len(positions)
    with Memo(None if folder is None else Path(folder) / ANSWERS_FILE, is_kept) as answers:
        keys = {name: key_of(specs[name], traits[name], seed, answers) for name in traits}
        for name, key in keys.items():
            for labelled in positions:
                position = labelled.position
                asked = partial(_ask, referee.agent(name), specs[name], position, seed)
                kept = answers.find((*key, position.mine, position.theirs), asked)
                answer, scores = Answer.of(kept), judge.scores(position)
                column = answer.column
                if column is None:
                    column = scores.index(min(s for s in scores if s is not None))
                move = JudgedMove(name, labelled.moves, position.plies, column, scores)
                moves.append(move._replace(asked_again=answer.asked_again, fault=answer.fault))
                if watch is not None:
                    watch(len(moves), total)
    if all(move.fault for move in moves):
        first = f"{moves[0].player}: {moves[0].fault}"
        raise InvalidOption(f"no agent answered; the first error: {first}")
    return Quality(tuple(moves), unit="positions", seed=seed)


Key = tuple[str, int, str, str]
"""What the answers of an agent depend on: spec, seed, versions, and identity hash."""


def key_of(spec: str, traits: Traits, seed: int, kept: Memo) -> Key:
    """Return an agent's part of the key of a kept answer.

    Raises:
        UnreadableRun: the file has answers of a Python object that may be another object.
    """
    key = spec, seed, versions(EXACT), identity_hash(traits.code)
    if "" in traits.code.values() and any(stored[: len(key)] == key for stored in kept):
        raise UnreadableRun(
            f"{kept.lines.path} has answers of {spec}, a Python object without an attribute "
            "version: it may be another object; name another directory"
        )
    return key


def question(agent: Agent, spec: str, position: Position, seed: int) -> Answer:
    """Ask an agent for its move in a position, as the first move of a new game.

    The position determines the seed.
    """
    identity = f"{position.mine:x} {position.theirs:x}"
    column, failed = None, ""
    try:
        begin(agent, game_seed(seed, (spec, spec), identity, position.to_move))
        column, _ = ask(agent, position)
    except Forfeit as fault:
        failed = str(fault)
    return Answer(column, count(agent, "asked_again"), failed)


def _ask(agent: Agent, spec: str, position: Position, seed: int) -> Any:
    return question(agent, spec, position, seed).kept()


def referee_of(specs: Sequence[str]) -> Referee:
    """Return the referee of several specs; ``"mine=greedy"`` names an agent ``mine``."""
    for spec in specs:
        if not isinstance(spec, str):
            raise InvalidOption(f"agent {spec!r}: expected the text of a spec")
    named = dict(map(split_name, specs))
    if not specs or len(named) < len(specs):
        raise InvalidOption(
            f"agents {', '.join(specs) or 'none'}: expected one or more, no duplicate"
        )
    return Referee(name_players(named))
