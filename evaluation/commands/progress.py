"""What a command says on stderr while it works."""

from __future__ import annotations

import contextlib
import sys
from typing import Any


def announce_compiling(quiet: bool = False) -> None:
    """Say why the first run takes long to begin."""
    from c4env.jit import is_warm

    if not is_warm() and not quiet:
        print("compiling native code, this first time only", file=sys.stderr)


class Progress:
    """A bar on stderr, where also goes what agents print meanwhile: stdout is for the answer."""

    def __init__(self, unit: str, quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._bar: Any = None
        self.before = 0  # what was done when it began

    def watch(self, done: int, total: int) -> None:
        """Show that so many of all are done."""
        from tqdm import tqdm

        if self._bar is None:
            self.before = done
            self._bar = tqdm(
                total=total,
                initial=done,
                unit=f" {self._unit}",
                file=sys.stderr,
                disable=self._quiet,
                dynamic_ncols=True,
                leave=False,
            )
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        self._stdout_to_stderr = contextlib.redirect_stdout(sys.stderr)
        self._stdout_to_stderr.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stdout_to_stderr.__exit__(*error)
        if self._bar is not None:
            self._bar.close()
