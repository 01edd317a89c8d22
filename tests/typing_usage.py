"""The packages as a user's own file uses them, for static checkers; it is not run.

``.ci/run lint`` has mypy, strictly, and pyright read it.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

import c4env
from c4env import (
    ConnectFourEnv,
    ConnectFourVectorEnv,
    Observation,
    Position,
    agents,
    evaluation,
    observe,
    position_from,
)
from c4env.agents import Agent, Pool, SearchResult, Solver
from c4env.agents.sampling.mcts import MCTS


def centre_first(observation: Observation) -> int:
    legal = np.flatnonzero(observation["action_mask"])
    return int(min(legal, key=lambda column: abs(column - 3)))


class Leftmost(Agent):
    """Plays the leftmost legal column."""

    deterministic = True

    def choose(self, position: Position) -> int:
        return position.legal_columns()[0]


def agents_of_ones_own() -> None:
    agents.register("centre-first", centre_first)
    agents.register("leftmost", Leftmost)
    print(evaluation.round_robin(["centre-first", "random"], openings=1).table)
    column: int = agents.make("leftmost").choose(Position.parse("111111"))
    assert column == agents.make("leftmost")(observe(Position.parse("111111")))


def searches() -> None:
    position = Position.parse("4455")
    result: SearchResult = agents.make("alphabeta:depth=4").search(position)
    line: tuple[int, ...] = result.principal_variation
    print(result.column, result.value, result.depth, result.nodes, line)
    visits: tuple[int, ...] = MCTS(simulations=2000, reuse=False).search(position).visits
    scores: list[int | None] = list(Solver().scores(position))
    print(agents.make("mcts", simulations=100, movetime=None), visits, scores)


def environments() -> None:
    env = c4env.env(render_mode="ansi")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        action = None
        if not (termination or truncation):
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
    print(env.render())

    single = ConnectFourEnv(opponent=agents.make("greedy"), seat=0)
    seen, info = single.reset(seed=7)
    discs: NDArray[np.int8] = seen["observation"] if isinstance(seen, dict) else seen
    _, reward, terminated, truncated, info = single.step(int(info["action_mask"].argmax()))
    print(discs, reward, terminated, truncated)
    gymnasium.make("c4env/ConnectFour-v0", opponent=agents.make("greedy"), seat=0)

    @c4env.batched
    def network(planes: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.float64]:
        return np.zeros(masks.shape)

    ConnectFourEnv(opponent=network)

    pool = Pool({"greedy": 1, "alphabeta:depth=2": 1}, seed=1)
    for answering in (pool, "alphabeta-window:depth=3"):
        envs = ConnectFourVectorEnv(64, opponent=answering)
        observations, _ = envs.reset(seed=1)
        observations, *_ = envs.step(observations["action_mask"].argmax(axis=1))
    rates: list[float] = list(pool.win_rates.values())
    pool.add("random", weight=0.5)
    print(position_from(observe(Position())) == Position(), rates)


def tournaments() -> None:
    result = evaluation.round_robin(["alphabeta:depth=4", "random"], openings=1, seed=1)
    for rating in result.ratings:
        print(f"{rating.elo:+6.0f} ({rating.low:+.0f} .. {rating.high:+.0f})  {rating.player}")
    assert result.games[0].moves.isdigit()
    again: evaluation.Tournament = evaluation.read_run("folder")
    print(again.digest)
    print(evaluation.quality(["greedy"], on="exam", count=5).overall()[0].blunders)
    print(evaluation.stored_board().table(), evaluation.place("greedy", games=40).elo)
    refutation = evaluation.refute("greedy", openings=["44444"], positions=50)
    print(refutation.held)
    match: evaluation.Match = evaluation.play_match("greedy", "random", openings=2)
    print(match.table)
