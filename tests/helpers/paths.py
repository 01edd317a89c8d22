"""Where the checkout, the tests' data and the data beside the checkout are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
FOLDERS = {  # of the packages, by import name
    "c4env": ROOT / "c4env",
    "c4env.agents": ROOT / "agents",
    "c4env.evaluation": ROOT / "evaluation",
}
SHARED_DATA = ROOT.parent / "shared" / "data"  # figures of other programs; tests skip without


def modules() -> dict[str, Path]:
    """The source file of each module of the packages, by import name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder).with_suffix("").parts
            found[".".join((package, *inner)).removesuffix(".__init__")] = path
    return found
