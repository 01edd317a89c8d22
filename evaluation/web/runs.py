"""The run directories that the page may open by name."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

from c4env.evaluation.errors import InvalidRequest, UnreadableRun
from c4env.evaluation.store.record import GAMES_FILE
from c4env.evaluation.studies.match import read_run
from c4env.evaluation.tables import labels, shortened

KEPT: Final = 32  # runs kept in memory
SHOWN: Final = ("opening", "moves", "winner", "ending", "reason")  # fields of a game on the page


class Runs:
    """The runs that the page may open.

    Each of the folders is a run directory, or contains run directories. The page chooses a run by
    its name; the server looks the name up in a dictionary, and never makes a path from the name.

    Raises:
        UnreadableRun: a folder does not exist.
    """

    def __init__(self, folders: tuple[Path, ...]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise UnreadableRun(
                    f"--runs {folder}: expected a run directory, or a folder of run directories"
                )
        self._folders = folders

    def find(self) -> dict[str, Path]:
        """The run directories that exist now, by name."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
            for place in places:
                if (place / GAMES_FILE).is_file():
                    name, number = place.resolve().name, 2
                    while name in found:  # two folders have this name
                        name, number = f"{place.resolve().name} ({number})", number + 1
                    found[name] = place
        return found

    def open(self, name: object) -> dict[str, Any]:
        """Return a run for the page: players (the best first), labels, Elo, results and games.

        Raises:
            InvalidRequest: no run has the name.
            UnreadableRun: the run is damaged.
        """
        runs = self.find()
        if not isinstance(name, str) or name not in runs:
            known = ", ".join(runs) or "none"
            raise InvalidRequest(f"run {shortened(name, 80)!r}: expected one of {known}")
        stat = (runs[name] / GAMES_FILE).stat()
        return {"name": name, **_shown(runs[name], (stat.st_mtime_ns, stat.st_size))}


@functools.lru_cache(KEPT)
def _shown(path: Path, state: tuple[int, int]) -> dict[str, Any]:
    """Read a run for the page; ``state``, its file's time and size, is part of the cache's key."""
    run = read_run(path)
    ratings = run.ratings if run.games else ()
    players = [rating.player for rating in ratings]
    number = {player: i for i, player in enumerate(players)}
    return {
        "players": players,
        "labels": [*labels(players).values()],
        "elo": [rating.elo for rating in ratings],
        "cells": [[[*run.table.cell(one, two)] for two in players] for one in players],
        "games": [
            {
                "players": [number[player] for player in game.players],
                **{name: getattr(game, name) for name in SHOWN},
            }
            for game in run.games
        ],
    }
