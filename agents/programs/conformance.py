"""A test that a program follows the text protocol of ``exec:`` (docs/guides/other-programs.md)."""

from __future__ import annotations

from typing import Final

from c4env.agents.programs.exec import ALMOST_FULL, Engine
from c4env.errors import EngineFault
from c4env.position import Position

SEED: Final = 1  # sent to a program that is told when a game begins
PLIES: Final = (41, 40, 35, 30, 0)
"""Discs in the positions to ask about; columns are full in all but the last."""


def broken_line(engine: Engine) -> str:
    """Return the line at which a program broke the protocol, and how; "" if it follows it.

    The program gets positions from late positions to the empty board, and then the end of its
    input. The test stops at the first answer that is wrong or late.
    """
    try:
        engine.reset(SEED)
        for plies in PLIES:
            engine.choose(Position.parse(ALMOST_FULL[:plies]))
        engine.finish()
    except EngineFault as error:
        return f"line {engine.line!r}: {error}"
    finally:
        engine.close()
    return ""
