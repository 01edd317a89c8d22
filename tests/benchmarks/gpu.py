"""Plies a second on a GPU, of TensorEnv, JaxEnv and pgx, and whether the games are the CPU's.

The moves are random and legal. The clock is the wall's, since the processor waits for the device.
The last column counts wrong games: of TensorEnv those that differ from the same seed's games of
ConnectFourVectorEnv, of JaxEnv those that differ from the rules of Position. The first rows only
compare, one layout of the observations each. Each row is printed as it is measured. It needs the
extras torch, jax and peers.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

import c4env
from c4env.errors import IllegalMove
from c4env.evaluation.cli.declare import at_least
from c4env.lazy import from_extra
from c4env.observation import LAYOUTS
from tests.benchmarks.harness import show_as_measured
from tests.benchmarks.jax_loop import STEPS, compiled
from tests.benchmarks.vector import random_columns

COLUMNS: Final = {"what": "", "device": "", "boards": ",", "plies/s": ".3g", "wrong": ""}
BOARDS: Final = (4096, 65536, 1 << 20)
COMPARED: Final = 512  # boards whose games are compared
PLIES: Final = 100  # of a comparison
BY_WINNER: Final = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}  # the rewards
ROUNDS: Final = 3  # of which the fastest counts


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--device", default="cuda", help="of PyTorch (default cuda)")
    parser.add_argument(
        "--boards", type=at_least(1), nargs="+", default=BOARDS, metavar="N",
        help=f"boards at once (default {' '.join(map(str, BOARDS))})",
    )  # fmt: skip
    parser.add_argument(
        "--milliseconds", type=at_least(1), default=1000, metavar="N",
        help="of a round (default 1000)",
    )  # fmt: skip


def execute(arguments: argparse.Namespace) -> int:
    """Print the rows; the exit code is 1 when a game is wrong."""
    c4env.TensorEnv(1, arguments.device)  # refuses a device that is not there
    return show_as_measured(COLUMNS, rows(arguments), arguments)


def rows(arguments: argparse.Namespace) -> Iterator[Sequence[Any]]:
    """The rows of the table, those of PyTorch first."""
    seconds = arguments.milliseconds / 1000
    yield from tensor_rows(arguments.device, arguments.boards, seconds)
    yield from jax_rows(arguments.boards, seconds)


def fastest(work: Callable[[], int], seconds: float) -> float:
    """Plies a second in the fastest round; ``work`` plays some plies and waits for the device."""
    work()  # compiles
    best = 0.0
    for _ in range(ROUNDS):
        count, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds or not count:
            count += work()
        best = max(best, count / spent)
    return best


# -- PyTorch -----------------------------------------------------------------------------


def leftmost(seen: Any) -> Any:
    """Play the first legal column on each board: an opponent, of arrays and of tensors."""
    return seen["action_mask"].argmax(1)


OPPONENTS: Final = {"": None, ", random": "random", ", function": leftmost}


def tensor_rows(device: str, sizes: Sequence[int], seconds: float) -> Iterator[Sequence[Any]]:
    """Rows of TensorEnv: the games of each layout, then steps and rollouts, compiled and not."""
    for layout in LAYOUTS:
        yield layout, device, COMPARED, None, wrong_boards(device, "step", {"layout": layout})
    for (name, opponent), compiles in product(OPPONENTS.items(), (False, True)):
        options = {"opponent": opponent, "compile": compiles}
        for plays in ("step", "rollout"):
            wrong = wrong_boards(device, plays, options)
            for size in sizes:
                what = f"TensorEnv {plays}{name}{', compiled' * compiles}"
                envs = c4env.TensorEnv(size, device, **options)
                yield what, device, size, fastest(tensor_loop(envs, plays), seconds), wrong


def any_column(seen: Any) -> Any:
    """Play a legal column that depends on all discs: a policy of tensors, the same anywhere."""
    import torch

    cells = seen["observation"].flatten(1).long()
    hashed = (cells * torch.arange(cells.shape[1], device=cells.device) ** 3).sum(1, keepdim=True)
    scores = hashed * torch.arange(11, 18, device=cells.device) % 101 + 1
    return (scores * seen["action_mask"]).argmax(1)


def wrong_boards(device: str, plays: str, options: dict[str, Any]) -> int:
    """How many boards of a TensorEnv do not show the games of the vector environment."""
    import torch

    theirs = c4env.TensorEnv(COMPARED, device, openings=2, **options)
    function = options.get("opponent")
    rules = {"opponent": c4env.batched(function) if callable(function) else function}
    rules |= {"layout": options.get("layout", "planes_last"), "autoreset_mode": "SameStep"}
    ours = c4env.ConnectFourVectorEnv(COMPARED, openings=2, **rules)
    found, seen = theirs.reset(seed=5)[0], ours.reset(seed=5)[0]
    rollout = theirs.rollout(any_column, PLIES) if plays == "rollout" else None
    wrong = np.zeros(COMPARED, np.bool_)
    for ply in range(PLIES):
        tensors = {name: torch.from_numpy(array) for name, array in seen.items()}
        actions = any_column(tensors)
        expected = [*tensors.values(), actions]
        if rollout is None:
            given = [*found.values(), any_column(found)]
            found, *results = theirs.step(given[-1])[:3]
        else:
            given = [rollout.observation[ply], rollout.action_mask[ply], rollout.actions[ply]]
            results = [rollout.rewards[ply], rollout.terminations[ply]]
        seen, *same = ours.step(actions.numpy())[:3]
        expected += [torch.from_numpy(array) for array in same]
        for one, other in zip(given + results, expected, strict=True):
            wrong |= (one.cpu() != other).reshape(COMPARED, -1).any(1).numpy()
    return int(wrong.sum())


def tensor_loop(envs: Any, plays: str) -> Callable[[], int]:
    """A function that plays some random plies, and returns how many on all boards."""
    import torch

    def policy(seen: Any) -> Any:
        mask = seen["action_mask"]
        return (torch.rand(mask.shape, device=mask.device) * mask).argmax(1)

    seen = envs.reset(seed=1)[0]

    def steps() -> int:
        nonlocal seen
        for _ in range(STEPS):
            seen, rewards, *_ = envs.step(policy(seen))
        rewards.sum().item()  # waits for the device
        return STEPS * len(rewards)

    def rollout() -> int:
        rewards = envs.rollout(policy, STEPS).rewards
        rewards.sum().item()
        return int(rewards.numel())

    return steps if plays == "step" else rollout


# -- JAX ---------------------------------------------------------------------------------


def jax_rows(sizes: Sequence[int], seconds: float) -> Iterator[Sequence[Any]]:
    """Rows of JaxEnv and of pgx in one compiled loop, on JAX's default device."""
    import jax

    with from_extra("peers", "pgx is not installed"):
        import pgx

    envs = {"JaxEnv": c4env.JaxEnv(), "pgx": pgx.make("connect_four")}
    wrong = {"JaxEnv": wrong_games(envs["JaxEnv"]), "pgx": 0}
    name = jax.devices()[0].device_kind
    for size in sizes:
        for what, env in envs.items():
            play, key = compiled(env), jax.random.key(1)
            start = jax.vmap(env.init)(jax.random.split(key, size))

            def work(play: Any = play, start: Any = start, key: Any = key) -> int:
                jax.block_until_ready(play(start, key))
                return int(STEPS * len(start.terminated))

            yield what, name, size, fastest(work, seconds), wrong[what]


def wrong_games(env: Any) -> int:
    """How many random games of JaxEnv end otherwise than by the rules of Position."""
    import jax

    states = jax.vmap(env.init)(jax.random.split(jax.random.key(2), COMPARED))
    step, choose = jax.jit(jax.vmap(env.step)), np.random.default_rng(3)
    first = np.asarray(states.current_player)  # which of the rewards is of player 0
    games, rewards = [""] * COMPARED, np.zeros((COMPARED, 2))
    while not (over := np.asarray(states.terminated)).all():
        columns = random_columns(np.asarray(states.legal_action_mask, np.int8), choose)
        for board in np.flatnonzero(~over):
            games[board] += str(columns[board] + 1)
        states = step(states, columns)
        rewards += np.asarray(states.rewards)
    pairs = np.stack([rewards, rewards[:, ::-1]])[first, range(COMPARED)]
    found = zip(games, env.positions(states), pairs.tolist(), strict=True)
    return sum(not is_right(*game) for game in found)


def is_right(moves: str, last: c4env.Position, rewards: list[float]) -> bool:
    """Whether moves end a game in this position and with these rewards, player 0's first."""
    try:
        position = c4env.Position.parse(moves)
    except IllegalMove:
        return False
    outcome = position.outcome
    return position == last and outcome is not None and rewards == BY_WINNER[outcome.winner]
