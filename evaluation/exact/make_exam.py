"""Make exams by the recipe of exam 1: critical positions, spread over plies and kinds.

The recipe has three steps. The result does not depend on the number of processes.

1. *Games*. Players of many kinds, drawn at random, begin after 0 to 10 random discs. The candidates
   are the positions that the players meet, and the positions one disc off, from 4 to 36 plies. A
   candidate stays if it is held out (:func:`c4env.agents.solver.exam.held_out`), so that the
   network that ships was never trained on it, and if neither side could win with the next disc.
2. *Critical positions*. By exact play some columns keep the win or the draw, and other columns give
   it away.
3. *Spread*. Every number of plies gets at most 60 positions. As far as there are enough positions,
   the kinds have equal parts: won or drawn, and one, two or more columns that keep the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import joblib
import numpy as np

from c4env import agents
from c4env.agents.base import Agent
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import ScoredPosition, exam_positions, held_out
from c4env.bitboard import winning_moves
from c4env.errors import require_integer
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.runs.run import shuffled
from c4env.openings import canonical
from c4env.position import Position, format_moves
from c4env.system import usable_cores

GAMES: Final = 10_000
PLIES: Final = range(4, 37)
RANDOM_DISCS: Final = 10  # the most random discs at the start of a game
A_PLY: Final = 60  # questions per number of plies, at most
FRESH: Final = 20_260  # begins the seeds of fresh exams, so that no seed is the seed of exam 1
EXAMINED: Final = 250  # positions to solve per number of plies, at most
PORTION: Final = 100  # games per task

# No agent here computes its moves by products of matrices, because machines round such products
# differently. The weights are shares of the seats. Exact play has a small share: it takes long.
PLAYERS: Final = {
    "random": 10,
    "greedy": 10,
    "greedy:heuristic=window": 10,
    "minimax:depth=3": 10,
    "rust-port": 10,
    "alphabeta-window": 10,
    "alphabeta-window-b": 10,
    "alphabeta:depth=4,heuristic=lines": 10,
    "alphabeta:depth=6,heuristic=chain": 10,
    "deepening:nodes=2000": 10,
    "mcts:simulations=100": 10,
    "mcts:simulations=500": 10,
    "perfect:blunder=0.2": 2,
}


def fresh(
    seed: int, jobs: int | None = None, watch: ProgressCallback | None = None
) -> tuple[ScoredPosition, ...]:
    """Make the exam of a seed: about 1,700 questions by the recipe of exam 1, none from exam 1.

    Making an exam takes one to two minutes of processor time. The same seed makes the same exam.

    Args:
        seed: an integer of 0 or more.
        jobs: number of processes, one for each core if not given.
        watch: called with the portions of work done and the total.

    Raises:
        InvalidOption: an argument is out of range.
    """
    require_integer("seed", seed, 0, "an integer of 0 or more")
    jobs = require_integer("jobs", usable_cores() if jobs is None else jobs)
    return build((FRESH, seed), jobs=jobs, watch=watch, without=exam_positions())


def build(
    seed: Sequence[int],
    games: int = GAMES,
    a_ply: int = A_PLY,
    jobs: int = 1,
    watch: ProgressCallback | None = None,
    without: Collection[Position] = (),
) -> tuple[ScoredPosition, ...]:
    """Choose the questions of an exam; the seed ``(1,)`` gives the questions of exam 1.

    Args:
        seed: seed of the games and of the order of the questions.
        games: number of games.
        a_ply: the most questions of each number of plies.
        jobs: number of processes.
        watch: called with the portions of work done and the total.
        without: positions to leave out.
    """
    portions = [range(n, min(n + PORTION, games)) for n in range(0, games, PORTION)]
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1)

    def done(before: int, tasks: Iterable[Any]) -> Iterator[Any]:
        for number, result in enumerate(parallel(tasks), before + 1):
            yield from result
            if watch is not None:
                watch(number, len(portions) + len(PLIES))

    found: dict[int, dict[Position, str]] = {ply: {} for ply in PLIES}
    for moves in done(0, (joblib.delayed(play)(seed, portion) for portion in portions)):
        position = canonical(Position.parse(moves))
        if position not in without:
            found[position.plies].setdefault(position, moves)
    tasks = (joblib.delayed(choose)(list(found[ply].values()), a_ply) for ply in PLIES)
    questions = {question.moves: question for question in done(len(portions), tasks)}
    return tuple(questions[moves] for moves in shuffled(list(questions), seed[-1]))


def play(seed: Sequence[int], numbers: Iterable[int]) -> list[str]:
    """Return the positions of some games that may become questions, as moves."""
    field = {spec: agents.make(spec) for spec in PLAYERS}
    weights = np.array(list(PLAYERS.values())) / sum(PLAYERS.values())
    reached: list[tuple[str, Position]] = []
    for number in numbers:
        generator = np.random.default_rng([*seed, number])
        drawn = generator.choice(list(PLAYERS), 2, p=weights)
        # One object can play both sides, because it keeps nothing that only one side may know.
        pair = [field[spec] for spec in drawn]
        for player in pair:
            player.reset(int(generator.integers(2**62)))
        reached += list(_game(pair, generator))
    boards = [np.array([getattr(p, side) for _, p in reached]) for side in ("mine", "theirs")]
    kept = held_out(*boards) if reached else ()
    return [
        moves
        for (moves, position), asked in zip(reached, kept, strict=True)
        if asked and is_quiet(position)
    ]


def _game(pair: list[Agent], generator: np.random.Generator) -> Iterator[tuple[str, Position]]:
    """Yield the positions of a game that the players met, and the positions one disc off."""
    position, moves = Position(), ""
    random_discs = int(generator.integers(RANDOM_DISCS + 1))
    while position.outcome is None and position.plies < PLIES[-1]:
        columns = position.legal_columns()
        if position.plies < random_discs:
            column = int(generator.choice(columns))
        else:
            column = pair[position.to_move].choose(position)
        if position.plies + 1 >= max(random_discs, PLIES[0]):
            for other in columns:
                after = position.play(other)
                if after.outcome is None:
                    yield moves + format_moves([other]), after
        position, moves = position.play(column), moves + format_moves([column])


def choose(candidates: list[str], count: int) -> list[ScoredPosition]:
    """Choose at most ``count`` critical positions of one number of plies, spread over kinds."""
    solver = Solver()
    kinds: dict[tuple[int, int], list[str]] = {
        (value, keep): [] for value in (1, 0) for keep in (1, 2, 3)
    }
    for moves in candidates[:EXAMINED]:
        position = Position.parse(moves)
        signs = [-solver.sign(position.play(c)) for c in position.legal_columns()]
        if min(signs) < max(signs):
            kinds[max(signs), min(signs.count(max(signs)), 3)].append(moves)
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*kinds.values()))
    chosen = list(filter(None, in_turn))[:count]
    judge = Judge()
    return [
        ScoredPosition.of(moves, judge.scores(Position.parse(moves))) for moves in sorted(chosen)
    ]


def is_quiet(position: Position) -> bool:
    """Whether neither side could win with the next disc."""
    return not (
        winning_moves(position.mine, position.theirs)
        | winning_moves(position.theirs, position.mine)
    )


def format_exam(questions: Sequence[ScoredPosition]) -> str:
    """Return the text of an exam's file, as :func:`c4env.agents.solver.exam.exam` reads it."""
    rows = [(q.moves, ("-" if s is None else str(s) for s in q.scores or ())) for q in questions]
    return "".join(f"{moves}\t{' '.join(scores)}\n" for moves, scores in rows)
