"""Connect Four as an environment of OpenEnv, with a reward from exact play.

Run ``python -m c4env.agents.training.examples.openenv_server --opponent greedy --port 8000``, and
play from another process with any client of OpenEnv:

    with openenv.core.GenericEnvClient("http://127.0.0.1:8000").sync() as client:
        print(client.reset(moves="44", seed=1).observation["text"])
        print(client.step({"column": 4}).reward)

The reward is 0 until a game ends, and then the reward that :class:`GameTools` gives.
"""

from __future__ import annotations

import functools
import sys
from typing import Any
from uuid import uuid4

from c4env.agents.base import require_count
from c4env.agents.training.command_line import needs, run
from c4env.agents.training.game_tools import GameTools
from c4env.errors import IllegalMove, InvalidAction

with needs("openenv", __name__):
    import uvicorn
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
    from pydantic import Field


class Drop(Action):
    """A move: a column from 1 to 7. The server answers any other value with an error text."""

    column: Any = Field(json_schema_extra={"type": "integer", "minimum": 1, "maximum": 7})


class Board(Observation):
    """The observation after a move: a text for the model, and the columns that are not full."""

    text: str
    legal: list[int]


class GameEnvironment(Environment[Drop, Board, State]):
    """The game of one client; the arguments are those of :class:`GameTools`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, opponent: str = "random", **options: Any) -> None:
        super().__init__()
        self._tools, self._state = GameTools(opponent, **options), State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, moves: str = "", **_: Any
    ) -> Board:
        """Start a game; :meth:`GameTools.reset` describes ``seed`` and ``moves``."""
        text = self._tools.reset(moves, seed)
        self._state = State(episode_id=episode_id or str(uuid4()))
        return self._seen(text)

    def step(self, action: Drop, timeout_s: float | None = None, **_: Any) -> Board:
        """Play a move and the opponent's reply; an illegal move leaves the game unchanged."""
        try:
            text = self._tools.play(action.column)
        except (IllegalMove, InvalidAction) as error:
            text = f"{error}. Choose another column."
        self._state.step_count += 1
        return self._seen(text)

    @property
    def state(self) -> State:
        """The id of the current game, and the number of steps in it."""
        return self._state

    def _seen(self, text: str) -> Board:
        over = self._tools.result is not None
        legal = [column + 1 for column in self._tools.env.position.legal_columns()]
        reward = self._tools.get_reward() if over else 0.0
        return Board(text=text, legal=legal, done=over, reward=reward)


def serve(opponent: str = "random", port: int = 8000, *, clients: int = 256) -> None:
    """Serve games on this machine until interrupted, at most ``clients`` at once."""
    require_count("--port", port, 1, 65535)
    made = functools.partial(GameEnvironment, opponent)
    made()  # report an error now, not in the first game
    app = create_app(made, Drop, Board, env_name="connect_four", max_concurrent_envs=clients)
    uvicorn.run(app, host="127.0.0.1", port=port)


if __name__ == "__main__":
    sys.exit(run(serve, __doc__))
