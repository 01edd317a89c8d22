"""Small runs for tests that read one."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from c4env.evaluation.__main__ import main
from c4env.evaluation.ratings.ratings import Ratings, rate
from c4env.evaluation.ratings.tally import Tally
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import RunHeader
from c4env.evaluation.results.tournament import Gauntlet, Tournament


def record_run(folder: Path, *specs: str, seed: int = 0) -> Path:
    """A run directory of these agents over the openings of one ply; ``folder`` itself."""
    options = ["--openings", "1", "--seed", str(seed), "--jobs", "1", "--quiet"]
    assert main(["run", *specs, *options, "--out", str(folder)]) == 0
    return folder


def run_of(games: Iterable[GameRecord], **header: Any) -> Tournament:
    """A run of some games, of which nothing else is known than the fields given."""
    kind = Gauntlet if len(header.get("challengers", ())) == 1 else Tournament
    return kind(RunHeader(**header), tuple(games))


def headline_of(run: Tournament, ratings: Ratings) -> str:
    """What a run says in a sentence, if these are its ratings."""
    vars(run)["ratings"] = ratings
    return run.headline()


def rated(games: Sequence[GameRecord], players: Iterable[str], **options: Any) -> Ratings:
    """The ratings of some games."""
    return rate(Tally.of(games, players), **options)
