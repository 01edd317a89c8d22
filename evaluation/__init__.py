"""Who is stronger, and by how much: tournaments over enumerated openings, and win tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env import agents
from c4env.boards import made_for_any_board
from c4env.lazy import lazy_names

if getattr(agents, "ZOO", None) != "c4env":
    raise ImportError(
        f"the package `agents` found at {getattr(agents, '__file__', 'an unknown place')} is not "
        "c4env's: another distribution installs a package of that name; uninstall it, or use "
        "an environment of its own for c4env"
    )

if TYPE_CHECKING:
    from c4env.evaluation.games.tournament import Tournament, gauntlet, round_robin
    from c4env.evaluation.store.record import GameRecord
    from c4env.evaluation.studies.match import Match, play_match
    from c4env.evaluation.truth.refutation import Refutation, refute

_NAMES = {
    "c4env.evaluation.games.tournament": "Tournament gauntlet round_robin",
    "c4env.evaluation.store.record": "GameRecord",
    "c4env.evaluation.studies.match": "Match play_match",
    "c4env.evaluation.truth.refutation": "Refutation refute",
}

__all__ = [
    "GameRecord", "Match", "Refutation", "Tournament", "board", "gauntlet", "play_match", "refute",
    "round_robin",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)

board = made_for_any_board(
    __name__,
    any_board="__main__ play commands.options commands.output commands.progress "
    "commands.contests.gauntlet commands.contests.match commands.contests.pages "
    "commands.contests.report commands.contests.run commands.people.play commands.truth.solve "
    "commands.zoo.list games.check games.game games.settings games.tournament "
    "games.workers plan.field plan.openings report.summary store.export store.growth store.record "
    "store.replay store.transcripts strength.costs strength.lotteries strength.ratings "
    "strength.tally strength.wintable studies.match",
    shared="errors seeds tables plan.schedule store.files store.journal strength.fit "
    "strength.loss strength.sprt games.backends games.processes report.labels",
)
