"""OpenSpiel's bots as agents: ``mcts``, ``minimax``, ``uniform_random`` and the registered ones.

c4 run mcts=docs/examples/openspiel_bot.py:Bot:bot=mcts,simulations=100 greedy --openings 1

Needs OpenSpiel (pip install open_spiel). It took 3 seconds and printed, among others:

rank  agent                  Elo  score  games  LOS  nodes      ms
 1-2  mcts    +35 (-321 .. +475)  62.5%      8  65%      0    0.49
 1-2  greedy  -35 (-487 .. +332)  37.5%      8           0  0.0081
"""

import random
from collections.abc import Callable

import pyspiel
from open_spiel.python.algorithms.minimax import alpha_beta_search

from c4env import Position, parse_moves
from c4env.agents import Agent, validate_args


class Bot(Agent):
    """Plays by a bot of OpenSpiel; ``depth`` is minimax's in plies, its leaves count as draws."""

    @validate_args
    def __init__(
        self, bot: str = "mcts", simulations: int = 1000, c: float = 1.4, depth: int = 4
    ) -> None:
        self.bot, self.simulations, self.c, self.depth = bot, simulations, c, depth
        self.deterministic = bot == "minimax"
        self.game = pyspiel.load_game("connect_four")
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game with new bots; the same seed gives the same random choices."""
        seed = random.randrange(2**31) if seed is None else seed % 2**31
        self.steps = [self.step_of(player, seed) for player in (0, 1)]

    def step_of(self, player: int, seed: int) -> Callable[[pyspiel.State], int]:
        """Return a player's bot, as a function from a state to a column."""
        if self.bot == "mcts":
            evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
            rest = self.c, self.simulations, 1000, True, seed, False
            return pyspiel.MCTSBot(self.game, evaluator, *rest).step
        if self.bot == "minimax":
            return lambda state: alpha_beta_search(
                self.game, state, lambda _: 0.0, self.depth, maximizing_player_id=player
            )[1]
        if self.bot == "uniform_random":  # the registry would seed it by the clock
            return pyspiel.make_uniform_random_bot(player, seed).step
        return pyspiel.load_bot(self.bot, self.game, player).step

    def choose(self, position: Position) -> int:
        """Return the bot's column for the side to move."""
        state = self.game.new_initial_state()
        for column in parse_moves(position.moves()):
            state.apply_action(column)
        return int(self.steps[position.to_move](state))
