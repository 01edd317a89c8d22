"""Print a script that completes commands, options and files in a shell.

Write the script to a file once:

For bash: c4 dev completion bash > ~/.local/share/bash-completion/completions/c4
For zsh, in a folder of $fpath: c4 dev completion zsh > _c4

Only printing the script needs shtab (`pip install 'c4env[completion]'`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.evaluation.cli import COMMANDS, module_of
from c4env.evaluation.cli.options import Parser
from c4env.evaluation.cli.output import say
from c4env.lazy import from_extra


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="bash, zsh")


def execute(arguments: argparse.Namespace) -> None:
    with from_extra("completion", "completion needs shtab"):
        import shtab
    parser = Parser(prog="c4")
    commands = {"": parser.add_subparsers()}
    commands["dev"] = commands[""].add_parser("dev", help="for developers").add_subparsers()
    for name, (_, summary) in COMMANDS.items():
        family, _, word = name.rpartition(" ")
        command = commands[family].add_parser(word, help=summary)
        module_of(name).configure(command)
        for argument in command._actions:
            if argument.type is Path or argument.metavar == "DIR":
                vars(argument)["complete"] = shtab.FILE  # shtab reads this attribute
    say(shtab.complete(parser, arguments.shell))
