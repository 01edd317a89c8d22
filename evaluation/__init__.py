"""Evaluation of agents: tournaments over enumerated openings, win tables and ratings.

Example:
    >>> result = evaluation.round_robin(["greedy", "random"], openings=1)
    >>> [(rating.player, rating.score) for rating in result.ratings]
    [('greedy', 0.875), ('random', 0.125)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if __name__ == "evaluation":  # Python was started in the clone, or has it on its path
    raise ImportError(
        "evaluation is imported as c4env.evaluation (your own folder evaluation needs "
        "an __init__.py, or c4env installed without -e)"
    )

from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.evaluation.exact.data import Data, data, exam
    from c4env.evaluation.exact.moves import Quality
    from c4env.evaluation.exact.quality import quality
    from c4env.evaluation.exact.refute import Refutation, refute
    from c4env.evaluation.records.game import GameRecord
    from c4env.evaluation.results.leaderboard import stored_board
    from c4env.evaluation.results.match import Match, play_match, read_games, read_run
    from c4env.evaluation.results.placement import Placement, place
    from c4env.evaluation.results.round_robin import gauntlet, round_robin
    from c4env.evaluation.results.tournament import Tournament
    from c4env.evaluation.results.training_curve import CurveWriter, strength

_NAMES = {
    "c4env.evaluation.results.tournament": "Tournament",
    "c4env.evaluation.results.round_robin": "gauntlet round_robin",
    "c4env.evaluation.records.game": "GameRecord",
    "c4env.evaluation.results.leaderboard": "stored_board",
    "c4env.evaluation.results.match": "Match play_match read_games read_run",
    "c4env.evaluation.results.placement": "Placement place",
    "c4env.evaluation.results.training_curve": "CurveWriter strength",
    "c4env.evaluation.exact.quality": "quality",
    "c4env.evaluation.exact.moves": "Quality",
    "c4env.evaluation.exact.data": "Data data exam",
    "c4env.evaluation.exact.refute": "Refutation refute",
}

__all__ = [
    "CurveWriter", "Data", "GameRecord", "Match", "Placement", "Quality", "Refutation",
    "Tournament", "data", "exam", "gauntlet", "place", "play_match", "quality", "read_games",
    "read_run", "refute", "round_robin", "stored_board", "strength",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
