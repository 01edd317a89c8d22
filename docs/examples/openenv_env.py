"""An OpenEnv environment: a game in words against an opponent, each move rewarded by exact play.

python docs/examples/openenv_env.py               # plays a game
python docs/examples/openenv_env.py --port 8000   # serves games

Needs OpenEnv (pip install openenv-core). The game took 6 seconds, most of them for imports, and
printed:

    after no move, Move: 4: reward 1
    after 44, Move: 4: reward 1
    after 4444, Move: 4: reward 1
    after 444444, Move: 4: reward -1
    result -1 after 4 moves
"""

import argparse

from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.rubrics import Rubric

from c4env import Position
from c4env.agents import rewards
from c4env.envs.text import TextEnv, read_move

OPPONENT, KIND = "greedy", "board+legal"
SESSIONS = 64  # at a time, each with a game of its own


class Move(Action):
    """An answer: reasoning, and a last line such as ``Move: 4``."""

    text: str


class Seen(Observation):
    """What the learner is asked, or how the game ended."""

    text: str
    before: str = ""  # the columns played before the learner's last move
    result: float = 0.0  # of the game: 1, 0 or -1, once it is over


class KeepsTheValue(Rubric):
    """1 for a move that keeps the win or the draw, 0 for another, -1 for none."""

    def forward(self, action: Move, observation: Seen) -> float:
        """Return the reward of a move."""
        try:
            column = read_move(action.text, Position.parse(observation.before))
        except ValueError:  # unreadable or illegal
            column = None
        return float(rewards.keeps([observation.before], [column])[0])


class ConnectFour(Environment[Move, Seen, State]):
    """One seat against an opponent; an illegal or unreadable answer loses the game."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__(rubric=KeepsTheValue())
        self.env, self.now, self.moves = TextEnv(OPPONENT, kind=KIND), State(), ""

    def reset(self, seed=None, episode_id=None, **_):
        """Start a game; the opponent may have moved first."""
        self._reset_rubric()
        text, info = self.env.reset(seed=seed)
        self.now, self.moves = State(episode_id=episode_id), info["moves"]
        return Seen(text=text)

    def step(self, action, timeout_s=None, **_):
        """Play a move and the opponent's reply."""
        text, result, over, _, info = self.env.step(action.text)
        seen = Seen(text=text, before=self.moves, result=result, done=over)
        seen.reward = self._apply_rubric(action, seen)
        self.moves = info["moves"]
        self.now.step_count += 1
        return seen

    @property
    def state(self):
        """The episode and its number of steps."""
        return self.now


def app(sessions=SESSIONS):
    """Return the server; without a number, OpenEnv's ``create_app`` serves one session."""
    return create_app(ConnectFour, Move, Seen, max_concurrent_envs=sessions)


def play_a_game(answer, seed=1):
    """Play a game; ``answer`` is a function from a prompt to an answer. Prints each reward."""
    env = ConnectFour()
    seen = env.reset(seed=seed)
    while not seen.done:
        move = Move(text=answer(seen.text))
        seen = env.step(move)
        print(f"after {seen.before or 'no move'}, {move.text}: reward {seen.reward:g}")
    print(f"result {seen.result:g} after {env.state.step_count} moves")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Connect Four as an OpenEnv environment")
    parser.add_argument("--port", type=int, help="serve games there")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="default %(default)s")
    arguments = parser.parse_args()
    if arguments.port is None:
        play_a_game(lambda prompt: "Move: 4")  # your model in its place
    else:
        import uvicorn

        uvicorn.run(app(arguments.sessions), port=arguments.port)
