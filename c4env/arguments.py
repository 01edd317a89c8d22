"""The parser of every command line of this project: whole names, and each option once."""

from __future__ import annotations

import argparse
from typing import Any


class OnceParser(argparse.ArgumentParser):
    """A parser that takes whole names, and refuses an option that is given twice.

    argparse itself would drop the first value of the two.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        self._given: dict[argparse.Action, list[str]] = {}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's."""
        self._given.clear()
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.option_strings:
            if action in self._given:
                words = (" ".join(values) for values in (self._given[action], arg_strings))
                both = " and ".join(filter(None, words))
                values = ", with all its values" if action.nargs in ("*", "+") else ""
                raise argparse.ArgumentError(
                    action, f"given twice{both and f', {both}'}: expected it once{values}"
                )
            self._given[action] = arg_strings
        return super()._get_values(action, arg_strings)
