"""Tournaments: every pairing of a field, or challengers against a field.

round_robin(["greedy", "random"], openings=1)            8 games
gauntlet("perfect", ["greedy", "random"], openings=1)    16 games
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from c4env.errors import InvalidOption
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.results.tournament import Gauntlet, Tournament
from c4env.evaluation.runs.players import PlayerLike, PlayersLike, as_players, name_players
from c4env.evaluation.runs.run import (
    Openings,
    Settings,
    choose_openings,
    make_plan,
    play_all,
)


def round_robin(
    players: PlayersLike,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    again: bool = False,
    backend: str | None = None,
    address: str | None = None,
    watch: ProgressCallback | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every pairing of agents from every opening, with both colours.

    Args:
        players: a list of specs (``"alphabeta:depth=5"``, or ``"mine=alphabeta:depth=5"`` with
            your own name) and callables on an observation (agents and functions, named by their
            ``name`` or ``__name__``); or a mapping from names to specs and callables.
        openings: a number of plies (all positions after so many plies, without mirror images),
            moves such as ``"44"``, ``"balanced:4,2"``, the path of a file, or a list of moves. See
            :func:`c4env.evaluation.runs.run.choose_openings`.
        seed, jobs, out, limit, movetime, margin, again, backend, address, watch, on_game: see
            :class:`c4env.evaluation.runs.run.Settings`.

    Returns:
        the games, with their table, ratings and digest.

    Raises:
        InvalidOption: there are fewer than two agents, an agent occurs twice, or a number is
            invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> [rating.player for rating in result.ratings]
        ['greedy', 'random']
    """
    settings = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        again=again, backend=backend, address=address, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, settings.seed, settings.limit)
    field = name_players(players)
    if len(field) < 2:
        raise InvalidOption(f"{len(field)} agent(s) given: a round robin needs at least two")
    plan = make_plan(field, starts, settings)
    return Tournament(plan.header, play_all(plan))


def gauntlet(
    challengers: PlayersLike | PlayerLike,
    field: PlayersLike,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    again: bool = False,
    backend: str | None = None,
    address: str | None = None,
    watch: ProgressCallback | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every challenger against every opponent from every opening, with both colours.

    Args:
        challengers: one agent or several, in the forms of :func:`round_robin`; challengers do not
            meet each other.
        field: the opponents, which do not meet each other.
        openings: as in :func:`round_robin`.
        seed, jobs, out, limit, movetime, margin, again, backend, address, watch, on_game: see
            :class:`c4env.evaluation.runs.run.Settings`.

    Raises:
        InvalidOption: a side has no agent, an agent occurs twice, or a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> gauntlet("alphabeta", ["greedy", "random"], openings=0)
        <Gauntlet: 4 games of alphabeta, greedy, random>
    """
    settings = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        again=again, backend=backend, address=address, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, settings.seed, settings.limit)
    front, others = name_players(as_players(challengers)), name_players(field)
    for name in others:
        if name in front:
            raise InvalidOption(f"agent {name!r} is both a challenger and in the field")
    if not front or not others:
        raise InvalidOption("a gauntlet needs a challenger and at least one agent in the field")
    plan = make_plan({**front, **others}, starts, settings, "gauntlet", tuple(front))
    return (Gauntlet if len(front) == 1 else Tournament)(plan.header, play_all(plan))
