"""Write what commands print into the blocks that show it.

`<!-- made: output -->` to `<!-- end -->` hold a console block: commands, and below each what it
prints; with `output 2` its first two paragraphs. `...` stands for what is left out and for times.
A sentence is broken where the site would cut it.
The commands of a page run in one folder, with the files that the page's Python blocks name.
The tests of the pages compare the outputs.
"""

import re
import subprocess
import sys
import tempfile
import textwrap
from argparse import Namespace
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.output import say
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, with_python

WIDE: Final = 105  # characters of a line of code that the site shows whole, at 1280 pixels
MARK: Final = "<!-- made: output"
PARTS: Final = re.compile(
    r"^```python\n# (?P<file>\w+\.py)\n(?P<text>.*?)^```$"
    rf"|(?P<mark>^{MARK} ?(?P<most>\d*) -->\n)?^```console\n(?P<block>.*?)^```$",
    re.M | re.S,
)


def execute(_: Namespace) -> None:
    pages = [p for p in sorted((ROOT / "docs").glob("**/*.md")) if MARK in p.read_text("utf-8")]
    for page in pages:
        page.write_text(made(page.read_text("utf-8")), encoding="utf-8")
    say(f"{len(pages)} pages written")


def made(text: str) -> str:
    """The text of a page with the outputs as they are now."""
    with tempfile.TemporaryDirectory() as folder:

        def part(found: re.Match[str]) -> str:
            if found["file"]:
                Path(folder, found["file"]).write_text(found["text"], encoding="utf-8")
            elif found.start() <= text.rindex(MARK):
                lines = [line for line in found["block"].splitlines() if line.startswith("$ ")]
                printed = [shown(run(line, folder), int(found["most"] or 0)) for line in lines]
                if found["mark"]:
                    both = "\n\n".join(map("\n".join, zip(lines, printed, strict=True)))
                    return f"{found['mark']}```console\n{both}\n```"
            return found[0]

        return PARTS.sub(part, text)


def run(line: str, folder: str) -> str:
    """The standard output of a line of a console block; a person leaves a game at once."""
    script = f'c4() {{ "{sys.executable}" -m c4env.evaluation "$@"; }}; {line.removeprefix("$ ")}'
    there = environment(COLUMNS="80", LC_ALL="C.UTF-8", PATH=with_python())
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=there, input="q\n", capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{line}: {done.stderr}")
    return done.stdout


def shown(output: str, most: int) -> str:
    """The first paragraphs of an output, without times: the last column ``ms``, and lines on ms."""
    paragraphs = output.rstrip().split("\n\n")
    lines, in_table = [], False
    for line in "\n\n".join(paragraphs[: most or None]).splitlines():
        if line.endswith(" ms"):
            line, in_table = f"{line.removesuffix('ms').rstrip()}   ms", True
        elif in_table := in_table and bool(line):
            line = f"{line.rpartition(' ')[0].rstrip()}  ..."
        line = re.sub(r"^((?:median ms per move|longest ms) +).*", r"\1...", line)
        lines += [line] if "  " in line else textwrap.wrap(line, WIDE) or [""]
    cut = ["", "..."] if 0 < most < len(paragraphs) else []
    return "\n".join([*lines, *cut])
