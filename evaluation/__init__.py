"""Evaluation of agents: tournaments over enumerated openings, win tables and ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.evaluation.exact.answers import quality
    from c4env.evaluation.exact.data import data
    from c4env.evaluation.exact.datafile import Data
    from c4env.evaluation.exact.quality import Quality
    from c4env.evaluation.exact.refutation import Refutation, refute
    from c4env.evaluation.games.tournament import Tournament, gauntlet, round_robin
    from c4env.evaluation.store.record import GameRecord
    from c4env.evaluation.studies.leaderboard import place, stored_board
    from c4env.evaluation.studies.match import Match, play_match, read_run

_NAMES = {
    "c4env.evaluation.games.tournament": "Tournament gauntlet round_robin",
    "c4env.evaluation.store.record": "GameRecord",
    "c4env.evaluation.studies.leaderboard": "place stored_board",
    "c4env.evaluation.studies.match": "Match play_match read_run",
    "c4env.evaluation.exact.answers": "quality",
    "c4env.evaluation.exact.quality": "Quality",
    "c4env.evaluation.exact.data": "data",
    "c4env.evaluation.exact.datafile": "Data",
    "c4env.evaluation.exact.refutation": "Refutation refute",
}

__all__ = [
    "Data", "GameRecord", "Match", "Quality", "Refutation", "Tournament", "data",
    "gauntlet", "place", "play_match", "quality", "read_run", "refute", "round_robin",
    "stored_board",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
