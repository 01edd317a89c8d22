"""Who is stronger, and by how much: tournaments over enumerated openings, and win tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.evaluation.games.tournament import Tournament, gauntlet, round_robin
    from c4env.evaluation.store.record import GameRecord
    from c4env.evaluation.studies.match import Match, play_match
    from c4env.evaluation.truth.data import data
    from c4env.evaluation.truth.datafile import Data
    from c4env.evaluation.truth.refutation import Refutation, refute

_NAMES = {
    "c4env.evaluation.games.tournament": "Tournament gauntlet round_robin",
    "c4env.evaluation.store.record": "GameRecord",
    "c4env.evaluation.studies.match": "Match play_match",
    "c4env.evaluation.truth.data": "data",
    "c4env.evaluation.truth.datafile": "Data",
    "c4env.evaluation.truth.refutation": "Refutation refute",
}

__all__ = [
    "Data", "GameRecord", "Match", "Refutation", "Tournament", "data", "gauntlet", "play_match",
    "refute", "round_robin",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
