"""Ask agents the exam, and write their accuracy into the pages that show it.

  python -m tests.makers accuracy greedy learned   asks these agents
  python -m tests.makers accuracy                  asks all agents of the table without a clock;
                                                some take minutes

The pages are docs/results.md, README.md and, for `learned`, docs/explanation/network.md. Agents
with a clock (`movetime`) do not repeat: name them, and ask them on an idle machine.
"""

import argparse
import re
from pathlib import Path
from typing import Final

from c4env import evaluation
from c4env.evaluation import Quality
from c4env.evaluation.cli.output import say
from c4env.evaluation.exact.moves import QUALITY_COLUMNS
from tests.helpers.paths import ROOT

RESULTS: Final = ROOT / "docs" / "results.md"
NETWORK: Final = ROOT / "docs" / "explanation" / "network.md"
PAGES: Final = (RESULTS, ROOT / "README.md", NETWORK)
OF_NETWORK: Final = {"learned:depth=0": "policy", "learned": "`learned`"}  # spec and row
LONG: Final = ("puct", "minimax", "deepening", "alphabeta:depth=9")
"""Agents that take half a minute or more."""
BANDS: Final = ("ply 0-6", "ply 7-13", "ply 14-20", "ply 21-27", "ply 28-34")
_ROW: Final = re.compile(r"^(\| `([^`]+)` \|) [\d.]+% \([^)]*\) \|$", re.M)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="*", metavar="SPEC", help="agents (default: those of now)")


def execute(arguments: argparse.Namespace) -> None:
    for spec in arguments.specs or agents():
        found = evaluation.quality(spec, jobs=1)
        for page in PAGES:
            page.write_text(made(page, spec, found), encoding="utf-8")
        say(f"{spec}: {shown(found, 'accuracy')}")


def agents() -> list[str]:
    """The agents of the table that repeat exactly, and the network's policy."""
    rows = [spec for _, spec in _ROW.findall(RESULTS.read_text(encoding="utf-8"))]
    return [*(spec for spec in rows if "movetime" not in spec), "learned:depth=0"]


def shown(found: Quality, name: str) -> str:
    """A measure of the one agent that was asked, as commands print it."""
    (item,), (column,) = found.overall(), [c for c in QUALITY_COLUMNS if c.name == name]
    return column.shown(column.value(item))


def made(page: Path, spec: str, found: Quality) -> str:
    """The text of a page with the accuracy of an agent."""
    text, share = page.read_text(encoding="utf-8"), shown(found, "accuracy")
    if page == NETWORK:
        if spec not in OF_NETWORK:
            return text
        (shares,) = found.accuracies().records()
        bands = (f"{shares[band]:.1%}" for band in BANDS)
        row = f"| {' | '.join((OF_NETWORK[spec], shown(found, 'accuracy'), *bands))} |"
        return re.sub(rf"^\| {OF_NETWORK[spec]} \|.*", row, text, flags=re.M)
    if page == RESULTS:
        return _ROW.sub(lambda row: f"{row[1]} {share} |" if row[2] == spec else row[0], text)
    row = rf"^(\| `{re.escape(spec)}`[^|]*\| [^|]+ \|) [\d.]+% \|"
    return re.sub(row, rf"\1 {share.split()[0]} |", text, flags=re.M)
