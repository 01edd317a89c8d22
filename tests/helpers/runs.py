"""Small runs for tests that read one."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from c4env.evaluation.__main__ import main
from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.rating.ratings import Ratings, rate
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.store.header import RunHeader
from c4env.evaluation.store.run_files import GameRecord


def record_run(folder: Path, *specs: str, seed: int = 0) -> Path:
    """A run directory of these agents over the openings of one ply; ``folder`` itself."""
    options = ["--openings", "1", "--seed", str(seed), "--jobs", "1", "--quiet"]
    assert main(["run", *specs, *options, "--out", str(folder)]) == 0
    return folder


def run_of(games: Iterable[GameRecord], **header: Any) -> Tournament:
    """A run of some games, of which nothing else is known than the fields given."""
    return Tournament(RunHeader(**header), tuple(games))


def rated(games: Sequence[GameRecord], players: Iterable[str], **options: Any) -> Ratings:
    """The ratings of some games."""
    return rate(Tally.of(games, players), **options)
