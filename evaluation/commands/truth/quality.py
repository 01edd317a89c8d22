"""Judge moves by exact play, of games or on a set of positions.

c4 quality DIR                    games that `c4 run --out DIR` wrote
c4 quality SPEC ... --on SET ...  agents asked about positions, without games

A SET is `exam`, critical positions that come with the package; a file of `moves score` lines; or
begin-easy, begin-medium, begin-hard, middle-easy, middle-medium or end-easy, which is then made
from the seed.

The exact score of every column is found in every position, on all cores, and kept in
DIR/scores.jsonl: stopped, it goes on with the same command.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.commands.options import add_format, add_sets, add_settings, at_least
from c4env.evaluation.commands.output import show
from c4env.evaluation.commands.progress import Progress

if TYPE_CHECKING:
    from c4env.evaluation.truth.quality import Quality


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="+", metavar="DIR|SPEC", help="a run directory, or agents")
    add_sets(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR",
        help="with --on: keep answers and scores in DIR; the same command again goes on from there",
    )  # fmt: skip
    add_settings(parser, "seed", "jobs")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.errors import InvalidRun

    at_least(arguments, 0, "seed")
    at_least(arguments, 1, "jobs")
    if arguments.on:
        quality = _of_answers(arguments)
    elif len(arguments.what) > 1:
        raise InvalidRun(
            f"{' '.join(arguments.what)}: expected one run directory, or --on and a set of "
            "positions to ask these agents about"
        )
    elif arguments.count is not None or arguments.out is not None:
        raise InvalidRun("--count and --out are for positions: expected --on and a set of them")
    else:
        quality = _of_games(arguments)
    show(quality, arguments)


def _of_games(arguments: argparse.Namespace) -> Quality:
    from c4env.evaluation.store.record import read_games
    from c4env.evaluation.truth.judge import Judge, positions_backwards
    from c4env.evaluation.truth.quality import Quality

    folder = Path(arguments.what[0])
    _, games = read_games(folder)
    with Judge(folder) as judge, Progress("positions", arguments.quiet) as progress:
        judge.judge(positions_backwards(games), arguments.jobs, progress.watch)
        return Quality.of_games(games, judge, seed=arguments.seed)


def _of_answers(arguments: argparse.Namespace) -> Quality:
    from c4env.agents.solver.exam import SHA256, VERSION, exam
    from c4env.evaluation.games.apart import apart_if_foreign
    from c4env.evaluation.plan.field import split_name
    from c4env.evaluation.truth.answers import question_agents
    from c4env.evaluation.truth.judge import Judge
    from c4env.evaluation.truth.labelled import EXAM, labelled_sets

    for player in arguments.what:
        # An error now rather than after the solver's work.
        apart_if_foreign(split_name(player)[1]).close()
    positions = labelled_sets(arguments.on, arguments.count, arguments.seed)
    with Judge(arguments.out) as judge:
        for question in exam() if EXAM in arguments.on else ():
            judge.learn(question.position, question.scores)
        with Progress("positions", arguments.quiet) as progress:
            judge.judge([p.position for p in positions], arguments.jobs, progress.watch)
        with Progress("answers", arguments.quiet) as progress:
            quality = question_agents(
                arguments.what, positions, judge, arguments.seed, arguments.out, progress.watch
            )
    if EXAM not in arguments.on:
        return quality
    about = f"exam {VERSION} (sha256 {SHA256[:16]}): its number is the share that keeps the value"
    return dataclasses.replace(quality, notes=(about, *quality.notes))
