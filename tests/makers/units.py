"""Measure agents in the units of others: a row for each agent, a column for each set of positions.

  python -m tests.makers units giving_away FOLDER/*.txt --agents learned puct
  python -m tests.makers units accuracy exam --agents selfplay:DIR,simulations=200

Sets are as for `c4 quality --on`; docs/results.md and docs/explanation/self-play.md have the tables
of Pons's test sets. A row is printed as soon as it is measured, one core and some minutes each.
"""

import argparse
from pathlib import Path

from c4env import evaluation
from c4env.evaluation.cli.output import say
from tests.makers.accuracy import shown


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("unit", choices=("giving_away", "optimal", "accuracy"))
    parser.add_argument("sets", nargs="+", metavar="SET", help="sets of positions")
    parser.add_argument("--agents", nargs="+", required=True, metavar="SPEC")


def execute(arguments: argparse.Namespace) -> None:
    names = [Path(name).stem for name in arguments.sets]
    say(f"| agent | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for spec in arguments.agents:
        cells = []
        for name in arguments.sets:
            judged = evaluation.quality(spec, name, jobs=1)
            cells.append(shown(judged, arguments.unit).split()[0].rstrip("%"))
        say(f"| `{spec}` | {' | '.join(cells)} |")
