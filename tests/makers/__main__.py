"""Make or check what ships: python -m tests.makers NAME."""

import importlib
import sys
from collections.abc import Sequence

from c4env.errors import C4Error
from c4env.evaluation.cli.declare import Parser, add_format
from c4env.evaluation.cli.output import show

NAMES = (
    "accuracy", "book", "circles", "exam", "graded", "intervals", "leaderboard", "outputs", "power",
    "reference", "threats", "units", "weights",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    return dispatch("tests.makers", NAMES, argv)


def dispatch(package: str, names: Sequence[str], argv: Sequence[str] | None = None) -> int:
    """Run the module of a package that the first argument names; returns the exit code.

    The module declares its options in ``configure(parser)`` and works in ``execute(arguments)``,
    which returns the exit code or None for 0; or it has ``run()`` alone, which returns a table.
    A usage error ends the process with 2, as everywhere.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    doc = importlib.import_module(f"{package}.__main__").__doc__
    first = Parser(prog=f"python -m {package}", description=doc)
    first.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    name = first.parse_args(given[:1]).name
    module = importlib.import_module(f"{package}.{name}")
    parser = Parser(prog=f"python -m {package} {name}", description=module.__doc__)
    if hasattr(module, "configure"):
        module.configure(parser)
    add_format(parser)
    arguments = parser.parse_args(given[1:])
    try:
        if hasattr(module, "execute"):
            return int(module.execute(arguments) or 0)
        show(module.run(), arguments)
    except C4Error as error:
        print(f"{parser.prog}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
