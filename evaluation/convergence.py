"""How near an agent's columns come to exact play, on positions with known scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import agents
from agents.solver import Solver
from evaluation.errors import InvalidRun
from evaluation.labelled import Labelled

BUDGETS: Final = (100, 1_000, 10_000, 100_000)
ROLLOUTS: Final = ("random", "greedy")
SPECS: Final = tuple(
    f"mcts:simulations={budget},rollout={rollout}" for rollout in ROLLOUTS for budget in BUDGETS
)


class Accuracy(NamedTuple):
    """An agent's columns on a set of positions."""

    spec: str
    set_name: str
    positions: int
    best: int  # columns whose exact score is the position's
    kept: int  # columns that keep its value: a win, or a draw


def convergence(
    sets: Mapping[str, Sequence[Labelled]], specs: Sequence[str] = SPECS, seed: int = 0
) -> tuple[list[Accuracy], str]:
    """Each agent's column in every position, as a new game, against the solver's scores.

    Args:
        sets: labelled positions by the name of their set; those that are over are passed over.
        specs: of the agents.
        seed: each position resets the agent with it.

    Returns:
        One row an agent and set, and a table of them as text.

    Raises:
        InvalidRun: a label is not the score that is found, or a set has no position.
    """
    solver = Solver()
    known: dict[str, list[list[int | None]]] = {}
    going = {
        name: [p for p in labelled if p.position.outcome is None] for name, labelled in sets.items()
    }
    for name, labelled in going.items():
        if not labelled:
            raise InvalidRun(f"set {name!r}: expected a position whose game is not over")
        known[name] = [solver.scores(one.position) for one in labelled]
        for one, scores in zip(labelled, known[name], strict=True):
            found = max(score for score in scores if score is not None)
            if found != one.score:
                raise InvalidRun(f"{one.moves} is labelled {one.score}; its score is {found}")
    rows = []
    for spec in specs:
        agent = agents.make(spec)
        for name, labelled in going.items():
            best = kept = 0
            for one, scores in zip(labelled, known[name], strict=True):
                agent.reset(seed)
                score = scores[agent.choose(one.position)]
                assert score is not None  # a legal column
                best += score == one.score
                kept += _sign(score) == _sign(one.score)
            rows.append(Accuracy(spec, name, len(labelled), best, kept))
        agent.close()
    return rows, _table(rows)


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)


def _table(rows: Sequence[Accuracy]) -> str:
    names = list(dict.fromkeys(row.set_name for row in rows))
    specs = list(dict.fromkeys(row.spec for row in rows))
    of = {(row.spec, row.set_name): row for row in rows}
    wide = max(len(spec) for spec in specs) + 1
    lines = [
        "% of columns with the best exact score / that keep the value of the game",
        " " * wide + "".join(f"{name:>15}" for name in [*names, "all"]),
    ]
    for spec in specs:
        cells = [of[spec, name] for name in names]
        cells.append(
            Accuracy(
                *(spec, "all", sum(c.positions for c in cells)),
                *(sum(c.best for c in cells), sum(c.kept for c in cells)),
            )
        )
        shares = (
            f"{100 * c.best / c.positions:.0f} / {100 * c.kept / c.positions:.0f}" for c in cells
        )
        lines.append(f"{spec:<{wide}}" + "".join(f"{share:>15}" for share in shares))
    counts = "".join(f"{of[specs[0], name].positions:>15}" for name in names)
    lines.append(f"{'positions':<{wide}}" + counts)
    return "\n".join(lines)
