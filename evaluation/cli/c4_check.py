"""Check an agent before it plays: c4 check myfile.py:agent.

The agent answers some positions of a game. Are its moves legal? Does the same seed give the same
moves, in a new process and in the same process after other games? Is the agent deterministic, and
does it claim to be? How long does a move take? An error is shown with its file and line. For
`exec:` programs, the table shows the first line that breaks the text protocol. If a check fails,
the exit code is 1.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.declare import AGENT, add_format
from c4env.evaluation.cli.output import Progress, say, show


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs="+", metavar="SPEC", help=f"agents: {AGENT}")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> int:
    from c4env.evaluation.runs.check import check_agent
    from c4env.evaluation.runs.players import split_name

    passed: list[bool] = []
    for player in arguments.agents:
        with Progress("moves", quiet=True):  # what the agent prints goes to stderr
            check = check_agent(split_name(player)[1])
        if passed:
            say("")
        show(check.table(), arguments)
        passed.append(check.good)
    return 0 if all(passed) else 1
