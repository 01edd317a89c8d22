"""How a command line answers bad usage."""

from __future__ import annotations

import argparse


class Parser(argparse.ArgumentParser):
    """Bad usage is one line on stderr and exit code 2."""

    def error(self, message: str) -> None:  # type: ignore[override]  # does not return
        """Say it and leave."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")
