"""Write what the commands of a page print below the blocks that show them.

In a page, `<!-- made: output -->` to `<!-- end -->` below a console block holds what its commands
print; `output run` has only those of `c4 run`, and `output 2` the first two paragraphs of each. The
commands of a page run in one folder, with the files that the page's Python blocks name.
"""

import re
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.output import say
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment

MARK: Final = "<!-- made: output"
PARTS: Final = re.compile(
    r"^```python\n# (?P<file>\w+\.py)\n(?P<text>.*?)^```$"
    r"|^```console\n(?P<commands>.*?)^```$"
    rf"|(?P<start>^{MARK} ?(?P<name>[a-z]*) ?(?P<most>\d*) -->\n)(?P<old>.*?)(?P<end><!-- end -->)",
    re.M | re.S,
)
PAGES: Final = [p for p in sorted((ROOT / "docs").glob("**/*.md")) if MARK in p.read_text("utf-8")]


def execute(_: Namespace) -> None:
    for page in PAGES:
        page.write_text(made(page), encoding="utf-8")
    say(f"{len(PAGES)} pages written")


def made(page: Path) -> str:
    """The text of a page with the outputs as they are now; times stay if nothing else changed."""
    text = page.read_text(encoding="utf-8")
    printed: list[tuple[str, str]] = []

    with tempfile.TemporaryDirectory() as folder:

        def part(found: re.Match[str]) -> str:
            if found["file"]:
                Path(folder, found["file"]).write_text(found["text"], encoding="utf-8")
            elif found["commands"] and found.end() < text.rindex(MARK):
                printed[:] = [(line, run(line, folder)) for line in found["commands"].splitlines()]
            elif found["start"]:
                new = block(printed, found["name"], int(found["most"] or 0))
                new = found["old"] if timeless(new) == timeless(found["old"]) else new
                return f"{found['start']}{new}{found['end']}"
            return found[0]

        return PARTS.sub(part, text)


def block(printed: list[tuple[str, str]], name: str, most: int) -> str:
    """What commands print; each begins with its line if there are several."""
    shown = [(line, said) for line, said in printed if line.startswith(f"$ c4 {name}")]
    several = len(shown) > 1
    texts = []
    for line, said in shown:
        paragraphs = said.rstrip().split("\n\n")
        cut = "\n\n...\n" if 0 < most < len(paragraphs) else "\n"
        said = "\n\n".join(paragraphs[: most or None]) + cut
        texts.append(f"{line}\n{said}" if several else said)
    return "```text\n" + "\n".join(texts) + "```\n"


def run(line: str, folder: str) -> str:
    """The standard output of a line of a console block; a person leaves a game at once."""
    script = f'c4() {{ "{sys.executable}" -m c4env.evaluation "$@"; }}; {line.removeprefix("$ ")}'
    there = environment(COLUMNS="80", LC_ALL="C.UTF-8")
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=there, input="q\n", capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{line}: {done.stderr}")
    return done.stdout


def timeless(text: str) -> str:
    """An output without the times that it tells: the last column ``ms``, and lines on ms."""
    lines, in_table = [], False
    for line in text.splitlines():
        in_table = bool(line) and (in_table or line.endswith(" ms"))
        if in_table:
            line = line.rpartition(" ")[0].rstrip()
        lines.append(re.sub(r"^(median ms a move|longest ms) .*", r"\1", line))
    return "\n".join(lines)
