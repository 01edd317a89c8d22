"""``open_spiel:BOT``: an agent that plays by a bot of OpenSpiel."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Final

import numpy as np

from c4env.agents.base import Agent, as_number, require_move
from c4env.agents.entries import Range
from c4env.agents.options import Plies, validate_args
from c4env.errors import InvalidOption
from c4env.geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS
from c4env.lazy import from_extra
from c4env.position import Position, parse_column, parse_moves

SEED_LIMIT: Final = 2**31  # seeds of OpenSpiel's generators are below this


class OpenSpielBot(Agent):
    """Plays by an OpenSpiel bot that supports connect_four (needs the package open_spiel).

    Args:
        bot: mcts, minimax, uniform_random, ...
        simulations: simulations of mcts for each move. Each ends in a random playout.
        c: the exploration constant of UCT in mcts.
        depth: plies that minimax looks ahead, the bot's own move included. Leaves count as draws.

    Raises:
        InvalidOption: OpenSpiel does not have the bot.
    """

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """Whether the same position always gets the same column."""
        return self.bot == "minimax"

    @validate_args
    def __init__(
        self,
        bot: str,
        simulations: Annotated[int, Range(1, 10**9)] = 1000,
        c: Annotated[float, Range(0, 1000)] = 1.4,
        depth: Plies = 4,
    ) -> None:
        with from_extra("open-spiel", "open_spiel: not installed"):
            import pyspiel
        bots = [*BOTS, *pyspiel.bots_that_can_play_game(self._game)]
        if bot not in bots:
            raise InvalidOption(f"open_spiel: bot={bot!r}: expected one of {', '.join(bots)}")
        self.bot, self.simulations, self.c, self.depth = bot, simulations, c, depth
        self.reset()

    @functools.cached_property
    def _game(self) -> Any:
        import pyspiel

        size = f"rows={ROWS},columns={COLUMNS},x_in_row={CONNECT}"
        return pyspiel.load_game("connect_four" if IS_STANDARD else f"connect_four({size})")

    @functools.cached_property
    def _steps(self) -> list[Any]:
        make = BOTS.get(self.bot, make_registered)
        return [make(self, player, self._seed % SEED_LIMIT) for player in (0, 1)]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, whose bots start anew."""
        return {key: value for key, value in vars(self).items() if key not in ("_game", "_steps")}

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game with new bots; the same seed gives the same random choices."""
        number = as_number(seed)
        if number is None:
            number = int(np.random.SeedSequence().generate_state(1)[0])
        self._seed = number
        vars(self).pop("_steps", None)

    def choose(self, position: Position) -> int:
        """Return the bot's column for the side to move."""
        require_move(position)
        state = self._game.new_initial_state()
        for column in parse_moves(position.moves()):
            state.apply_action(column)
        return parse_column(self._steps[position.to_move](state))


# Each of these functions makes a bot: a function from a state to a column.


def make_mcts(agent: OpenSpielBot, player: int, seed: int) -> Any:
    """Make OpenSpiel's C++ bot of Monte Carlo tree search, with playouts and proven results."""
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    settings = agent.c, agent.simulations, 1000, True, seed, False
    return pyspiel.MCTSBot(agent._game, evaluator, *settings).step


def make_minimax(agent: OpenSpielBot, player: int, seed: int) -> Any:
    """Make a bot of OpenSpiel's alpha-beta search in Python."""
    from open_spiel.python.algorithms.minimax import alpha_beta_search

    def step(state: Any) -> int:
        mover = state.current_player()
        # OpenSpiel counts depth in plies from the root, as this project does.
        _, action = alpha_beta_search(
            agent._game, state, lambda _: 0.0, agent.depth, maximizing_player_id=mover
        )
        return int(action)

    return step


def make_registered(agent: OpenSpielBot, player: int, seed: int) -> Any:
    """Make a bot from OpenSpiel's registry."""
    import pyspiel

    if agent.bot == "uniform_random":  # the registry would seed this bot by the clock
        return pyspiel.make_uniform_random_bot(player, seed).step
    return pyspiel.load_bot(agent.bot, agent._game, player).step


BOTS: Final = {"mcts": make_mcts, "minimax": make_minimax}
