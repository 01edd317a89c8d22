"""Agents of c4env in TextArena, and how many moves of a game keep the win or the draw.

python docs/examples/textarena_game.py alphabeta:depth=3 random

Needs TextArena (pip install textarena). It took 2 seconds and printed:

    alphabeta:depth=3: result 1, 5 of 7 moves keep the win or draw
    random: result -1, 4 of 6 moves keep the win or draw
"""

import argparse
import re

import textarena

from c4env import Position, agents
from c4env.agents import rewards

BOARD = re.compile(r"(?:^(?:[.XO] ){6}[.XO]$\n?){6}", re.M)


def position_in(observation):
    """Return the position of the last board that an observation draws."""
    return Position.from_board(BOARD.findall(observation)[-1])


class Player(textarena.Agent):
    """An agent of c4env, which reads TextArena's board and answers in TextArena's form."""

    def __init__(self, spec: str, seed: int = 1) -> None:
        super().__init__()
        self.agent = agents.make(spec)
        self.agent.reset(seed)

    def __call__(self, observation: str) -> str:
        """Return an answer such as ``[col 3]``; columns count from 0 in TextArena."""
        return f"[col {self.agent.choose(position_in(observation))}]"


def column_in(answer):
    """Return the column that TextArena reads in an answer, None if there is none."""
    found = re.search(r".*\[(?:col\s*)?(\d+)\]", answer, re.I)
    return int(found[1]) if found else None


def play(players, seed=1):
    """Play a game between two of TextArena's agents: their results, and each one's exact rewards.

    A reward is 1 for a move that keeps the win or the draw, 0 for another, -1 for an illegal one.
    """
    env = textarena.make("ConnectFour-v0")
    env.reset(num_players=2, seed=seed)
    seats, positions, columns, done = [], [], [], False
    while not done:
        seat, observation = env.get_observation()
        answer = players[seat](observation)
        seats.append(seat)
        positions.append(position_in(observation))
        columns.append(column_in(answer))
        done, _ = env.step(answer)
    results, _ = env.close()
    exact = rewards.keeps(positions, columns)
    return results, [
        [float(r) for s, r in zip(seats, exact, strict=True) if s == p] for p in (0, 1)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A game in TextArena")
    parser.add_argument("players", nargs=2, metavar="SPEC", help="agents of c4env")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    given = parser.parse_args()
    results, exact = play([Player(spec, given.seed) for spec in given.players], given.seed)
    for seat, spec in enumerate(given.players):
        kept = sum(reward == 1 for reward in exact[seat])
        moves = len(exact[seat])
        print(f"{spec}: result {results[seat]}, {kept} of {moves} moves keep the win or draw")
