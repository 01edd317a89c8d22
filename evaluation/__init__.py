"""Who is stronger, and by how much: tournaments over enumerated openings, and win tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import agents
from c4env.lazy import lazy_names

if getattr(agents, "ZOO", None) != "c4env":
    raise ImportError(
        f"the package `agents` found at {getattr(agents, '__file__', 'an unknown place')} is not "
        "c4env's: another distribution installs a package of that name; uninstall it, or use "
        "an environment of its own for c4env"
    )

if TYPE_CHECKING:
    from evaluation.games.tournament import Tournament, gauntlet, round_robin
    from evaluation.store.record import GameRecord
    from evaluation.studies.match import Match, play_match
    from evaluation.truth.refutation import Refutation, refute

_HOME = {
    "GameRecord": "evaluation.store.record",
    "Match": "evaluation.studies.match",
    "Refutation": "evaluation.truth.refutation",
    "Tournament": "evaluation.games.tournament",
    "gauntlet": "evaluation.games.tournament",
    "play_match": "evaluation.studies.match",
    "refute": "evaluation.truth.refutation",
    "round_robin": "evaluation.games.tournament",
}

__all__ = [
    "GameRecord", "Match", "Refutation", "Tournament", "gauntlet", "play_match", "refute",
    "round_robin",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _HOME)
