"""``kaggle:FILE.py``: an agent from a submission to Kaggle's ConnectX competition."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Final

import numpy as np

from c4env.errors import InvalidOption

from ....bitboard import COLUMNS, CONNECT, ROWS
from ...registry.options import Seconds, validate_args
from .engine import Engine

RUNNER: Final = str(Path(__file__).with_name("kaggle_runner.py"))


class Submission(Engine):
    """Plays a submission to Kaggle's ConnectX, in a process of its own (``kaggle_runner``).

    Each game runs in a new process, as on Kaggle. The process seeds the modules ``random`` and
    ``numpy.random``. There is no overage time: a first move may take ``engine.STARTUP`` seconds
    more, and ``remainingOverageTime`` is 0.

    Args:
        file: the submission, a Python file. The agent is the last callable in the file.
        timeout: seconds for a move. Kaggle calls this option ``actTimeout``.
        python: the Python interpreter; default: the interpreter of this process.

    Raises:
        InvalidOption: the file or the interpreter does not exist.
    """

    @validate_args
    def __init__(self, file: str, timeout: Seconds = 2.0, python: str | None = None) -> None:
        if not file.endswith(".py") or not os.path.isfile(file):
            raise InvalidOption(
                f"kaggle: file={file!r}: expected an existing FILE.py; unpack an archive first, "
                "and name its main.py"
            )
        if python and shutil.which(python) is None:
            raise InvalidOption(f"kaggle: python={python!r}: expected a Python interpreter")
        configuration = {
            "columns": COLUMNS,
            "rows": ROWS,
            "inarow": CONNECT,
            "actTimeout": timeout,
            "timeout": timeout,
            "agentTimeout": 60,
            "episodeSteps": 1000,
            "runTimeout": 1200,
        }
        self.title = file
        self.command = [python or sys.executable, RUNNER, file, json.dumps(configuration)]
        self.reply = "column"
        self.timeout = timeout
        self.newgame = "reset"

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game with a new process, which loads the submission."""
        self.close()
        super().reset(seed)
