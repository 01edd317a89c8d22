"""PSRO (Lanctot et al., NeurIPS 2017) on 4x4: ``python -m c4env.evaluation.studies.psro``."""

from functools import cache, partial
from typing import Any

import numpy as np

import c4env
from c4env.agents.training.command_line import run
from c4env.evaluation.rating.lotteries import maximal_lottery

BOARD: Any = c4env.board(4, 4)
LINES = ["0123", "4567", "89ab", "cdef", "048c", "159d", "26ae", "37bf", "05af", "369c"]
ON = np.array([[f"{cell:x}" in line for cell in range(16)] for line in LINES]) * 1.0


def columns(weights: Any, seen: Any) -> Any:
    """Return the best column on each board, by 16 weights of cells and 16 of states of lines."""
    mine, theirs = (seen["observation"][..., side].reshape(-1, 16) @ ON.T for side in (0, 1))
    kinds = np.where(theirs == 0, mine, np.where(mine == 0, 3 + theirs, 7)).astype(int)
    cells, *lines = np.split(np.broadcast_to(weights, (len(kinds), 32)), [16, 24], 1)
    here, above = (np.take_along_axis(values, kinds, 1) @ ON for values in lines)
    landing = 4 * np.maximum(3 - seen["observation"].any(-1).sum(1), 0) + np.arange(4)
    value = np.take_along_axis(cells + here + np.pad(above, ((0, 0), (4, 0)))[:, :16], landing, 1)
    return np.where(seen["action_mask"] == 1, value, -np.inf).argmax(1)


def oracle(best: Any, pool: Any, openings: Any, rng: np.random.Generator) -> Any:
    """Evolve weights against a pool of agents: 20 generations of 40 children, 64 games each."""
    envs = BOARD.ConnectFourVectorEnv(40 * 64, opponent=pool, openings=openings)
    for _ in range(20):
        change = rng.choice([0, 0, 0, 0.1, 1, 3], (40, 32)) * rng.standard_normal((40, 32))
        seen, _ = envs.reset(seed=[*range(64)] * 40)
        points, over = np.zeros(40 * 64), np.zeros(40 * 64, bool)
        while not over.all():
            seen, rewards, ended, _, _ = envs.step(columns((best + change).repeat(64, 0), seen))
            points, over = points + rewards * ~over, over | ended
        best = best + change[points.reshape(40, 64).sum(1).argmax()]
    return best


def exploitability(agents: list[Any], mixture: Any, openings: list[str]) -> float:
    """Return a best response's mean result against a mixture of agents; exact agents give 0."""

    @cache
    def best(position: Any, seat: int, members: tuple[int, ...]) -> Any:
        if position.outcome:  # the result, times the probability of the members
            return {None: 0, seat: 1}.get(position.outcome.winner, -1) * sum(mixture[[*members]])
        if position.to_move == seat:
            return max(best(position.play(c), seat, members) for c in position.legal_columns())
        chosen = {member: agents[member].choose(position) for member in members}
        split = {c: tuple(m for m in members if chosen[m] == c) for c in chosen.values()}
        return sum(best(position.play(c), seat, some) for c, some in split.items())

    starts, members = map(BOARD.Position.parse, openings), tuple(np.flatnonzero(mixture).tolist())
    return float(np.mean([best(start, seat, members) for start in starts for seat in (0, 1)]))


def psro(seed: int = 1, *, iterations: int = 12) -> list[float]:
    """Evolve policies, each against the best mixture so far; return the exploitabilities."""
    rng, found = np.random.default_rng(seed), list[float]()
    weights = [*rng.standard_normal((2, 32))]
    some = BOARD.evaluation.round_robin(["random", "greedy"], 8, limit=40, seed=seed).openings
    drawn = [m for m in some if BOARD.agents.Solver().score(BOARD.Position.parse(m)) == 0]
    for number in range(1, iterations + 1):
        agents = [BOARD.agents.make(c4env.batched(partial(columns, each))) for each in weights]
        field = {str(i): agent for i, agent in enumerate(agents)}
        _, scores = BOARD.evaluation.round_robin(field, drawn, seed=seed).payoffs()
        mixture = np.round(maximal_lottery(scores - 0.5)[0], 6) + 0.0
        found.append(exploitability(agents, mixture, drawn))
        print(f"{number}: exploitability {found[-1]:.3f}, mixture {np.round(mixture, 2)}")
        met = (mixture + 1 / len(agents)) / 2  # so that no policy of the population is forgotten
        pool = BOARD.agents.Pool(dict(zip(agents, met.tolist(), strict=True)))
        weights.append(oracle(weights[mixture.argmax()], pool, drawn, rng))
    return found


if __name__ == "__main__":
    raise SystemExit(run(psro, __doc__))
