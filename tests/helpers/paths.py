"""Where the checkout, the tests' data and the data beside the checkout are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
FOLDERS = {  # of the packages, by import name; agents and evaluation are links
    name: ROOT.joinpath(*name.split(".")) for name in ("c4env", "c4env.agents", "c4env.evaluation")
}
SHARED_DATA = ROOT.parent / "shared" / "data"  # the whole of what tests/data holds extracts of


def published(name: str) -> list[str]:
    """Lines of a published set: the extract in tests/data, then the rest if it is at hand."""
    lines = (DATA / name).read_text().splitlines()
    whole = SHARED_DATA / name
    if whole.exists():
        lines += [line for line in whole.read_text().splitlines() if line not in lines]
    return lines


def modules() -> dict[str, Path]:
    """The source file of each module of the packages, by import name."""
    items = {}
    for package, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder).with_suffix("").parts
            items[".".join((package, *inner)).removesuffix(".__init__")] = path
    return items
