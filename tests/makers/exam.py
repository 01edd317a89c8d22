"""Build or verify the exam: python -m tests.makers exam build FILE, exam verify.

`build` chooses its positions again, from games that it plays: the same file, byte for byte, for
any number of jobs. `verify` finds the exact score of every column again, without an opening book.

The exam itself is read by ``c4env.agents.solver.exam``. It is made in three steps, which give the
same for any number of processes:

1. *Games*. Players of many kinds, drawn at random, begin after 0 to 10 random discs. Of the
   positions they meet and those one disc off, 4 to 36 plies each, those are kept that are in
   ``tests.makers.weights.labels.held_out``, on which the network that ships was never trained, and
   in which neither side could win with the next disc.
2. *Critical ones*. By exact play some columns keep what the position is worth, win or draw, and
   others give it away.
3. *Spread*. Of each number of plies at most 60, in equal parts, as far as there are so many: won
   or drawn, and one, two or more columns that keep it.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import joblib
import numpy as np

from c4env import agents
from c4env.agents.base import Agent
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import SHA256, VERSION, Question, exam
from c4env.errors import InvalidOption
from c4env.evaluation.cli.declare import add_options, add_quiet, at_least
from c4env.evaluation.cli.output import Progress, say
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.games.run import Settings, shuffled
from c4env.files import require_file, write_whole
from c4env.openings import canonical
from c4env.position import Position, format_moves
from c4env.system import usable_cores
from tests.makers.weights.labels import held_out
from tests.rules.positions import quiet

GAMES: Final = 10_000
PLIES: Final = range(4, 37)
RANDOM_DISCS: Final = 10  # the most that begin a game
A_PLY: Final = 60  # positions
EXAMINED: Final = 250  # positions of each number of plies that are solved, at most
PORTION: Final = 100  # games a task

# Without the agents whose moves come from products of matrices: those round differently from
# machine to machine. The weights are shares of the seats; exact play takes long.
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


def build(
    games: int = GAMES,
    a_ply: int = A_PLY,
    seed: int = VERSION,
    jobs: int = 1,
    watch: Callable[[int, int], None] | None = None,
) -> tuple[Question, ...]:
    """Choose the positions of an exam; as the settings are, those of exam 1.

    At most ``a_ply`` of each number of plies, from so many games of a seed, by so many processes;
    ``watch`` is called with portions of work done and in all.
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
        found[position.plies].setdefault(position, moves)
    tasks = (joblib.delayed(choose)(list(found[ply].values()), a_ply) for ply in PLIES)
    questions = {question.moves: question for question in done(len(portions), tasks)}
    return tuple(questions[moves] for moves in shuffled(list(questions), seed))


def play(seed: int, numbers: Iterable[int]) -> list[str]:
    """The positions of some games that may be asked about, as moves."""
    field = {spec: agents.make(spec) for spec in PLAYERS}
    weights = np.array(list(PLAYERS.values())) / sum(PLAYERS.values())
    reached = []
    for number in numbers:
        generator = np.random.default_rng([seed, number])
        drawn = generator.choice(list(PLAYERS), 2, p=weights)
        # One object can play both sides: it keeps nothing that the other must not know.
        pair = [field[spec] for spec in drawn]
        for player in pair:
            player.reset(int(generator.integers(2**62)))
        reached += list(_game(pair, generator))
    positions = [Position.parse(moves) for moves in reached]
    boards = [np.array([getattr(p, side) for p in positions]) for side in ("mine", "theirs")]
    kept = held_out(*boards) if reached else ()
    return [
        moves
        for moves, position, asked in zip(reached, positions, kept, strict=True)
        if asked and quiet(position)
    ]


def _game(pair: list[Agent], generator: np.random.Generator) -> Iterator[str]:
    """The positions of a game that the players met, and those one disc off."""
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
                if position.play(other).outcome is None:
                    yield moves + format_moves([other])
        position, moves = position.play(column), moves + format_moves([column])


def choose(candidates: list[str], count: int) -> list[Question]:
    """At most ``count`` of the critical ones, all of so many plies, spread over their kinds."""
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
    return [Question(moves, judge.scores(Position.parse(moves))) for moves in sorted(chosen)]


def verify(questions: Sequence[Question], watch: Callable[[int, int], None] | None = None) -> None:
    """Find the exact scores of all columns again, by search alone; an error names a wrong one."""
    solver = Solver(book=None)
    for done, question in enumerate(questions, 1):
        scores = tuple(solver.scores(question.position))
        known = [score for score in scores if score is not None]
        if scores != question.scores or np.sign(min(known)) == np.sign(max(known)):
            raise InvalidOption(f"{question.moves}: {question.scores}: the scores are {scores}")
        if watch is not None:
            watch(done, len(questions))


# -- the command ------------------------------------------------------------------


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("build", "verify"), metavar="ACTION", help="build or verify"
    )
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="build: what to write")
    parser.add_argument(
        "--count",
        type=at_least(1),
        metavar="N",
        help="verify: the first N positions (default: all)",
    )
    parser.add_argument(
        "--games", type=at_least(1), metavar="N", help="build: another exam, from so many games"
    )
    add_options(parser, Settings, "jobs", jobs=usable_cores())
    add_quiet(parser)


def execute(arguments: argparse.Namespace) -> None:
    if arguments.action == "verify":
        with Progress("positions", arguments.quiet) as progress:
            verify(exam()[: arguments.count], progress.watch)
        checked = len(exam()[: arguments.count])
        say(f"exam {VERSION} (sha256 {SHA256}): {checked} positions verified")
        return
    file = arguments.file or Path()
    require_file(file, makes=False)
    with Progress("portions", arguments.quiet) as progress:
        found = build(arguments.games or GAMES, jobs=arguments.jobs, watch=progress.watch)
    write_whole(file, format_exam(found))
    say(f"{len(found)} positions in {file}")


def format_exam(questions: tuple[Question, ...]) -> str:
    """The text of a file, as :func:`c4env.agents.solver.exam.exam` reads it."""
    rows = [(q.moves, " ".join("-" if s is None else str(s) for s in q.scores)) for q in questions]
    return "".join(f"{moves}\t{scores}\n" for moves, scores in rows)
