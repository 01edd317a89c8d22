"""REINFORCE by self-play: each move is rewarded by exact play, or by the result of its game alone.

python docs/examples/reinforce.py exact.pt
python docs/examples/reinforce.py result.pt --reward result
c4 quality mine=docs/examples/reinforce.py:Mine:weights=exact.pt --on exam

Needs PyTorch (pip install '.[torch]'). The first command took 80 seconds of one core, the second 40
seconds, and they printed, last:

    1500 updates: 51.6% of the exam
    1500 updates: 44.2% of the exam
"""

import argparse

import numpy as np
import torch
from torch import nn

from c4env import ConnectFourVectorEnv, agents, evaluation
from c4env.agents import rewards

GAMES, RATE, ENTROPY = 64, 1e-3, 0.05
RANDOM = 0.15  # share of the moves that are random, so that games differ; they are not learned


class Net(nn.Module):
    """Logits ``[M, 7]``, -inf where a column is full."""

    layout = "flat"  # so that agents, environments and runs take it as it is

    def __init__(self) -> None:
        super().__init__()
        body = [nn.Linear(84, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]
        self.body = nn.Sequential(*body, nn.Linear(256, 7))

    def forward(self, seen, mask):
        """Of observations, float32 ``[M, 84]``, and masks, ``[M, 7]``."""
        return self.body(seen).masked_fill(mask == 0, -torch.inf)


def play_games(net, envs):
    """Play a game on each board: observations, masks, columns and results of the net's moves."""
    seen, info = envs.reset()
    moves, playing, results = [], np.ones(GAMES, bool), np.zeros((GAMES, 2), np.float32)
    while playing.any():
        mask, player = info["action_mask"], info["ply"] % 2
        with torch.no_grad():
            logits = net(torch.tensor(seen), torch.tensor(mask))
        columns = torch.distributions.Categorical(logits=logits).sample().numpy()
        own = torch.rand(GAMES).numpy() >= RANDOM
        others = torch.multinomial(torch.tensor(mask, dtype=torch.float32), 1)[:, 0].numpy()
        columns = np.where(own, columns, others)
        moves.append((seen, mask, columns, player, playing & own))
        seen, _, over, _, info = envs.step(columns)
        results[playing & over] = info["player_rewards"][playing & over]
        playing = playing & ~over
    seen, mask, columns, player, kept = (np.concatenate(part) for part in zip(*moves, strict=True))
    board = np.tile(np.arange(GAMES), len(moves))
    return seen[kept], mask[kept], columns[kept], results[board, player][kept]


def train(out, reward="exact", updates=1500, seed=1):
    """Train a network on the moves of ``updates`` times 64 games; write its weights to ``out``.

    ``reward`` is "exact", what the move loses in value, or "result", of the game for the mover.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    form = {"layout": "flat", "dtype": "float32", "action_mask": "info"}
    envs, net = ConnectFourVectorEnv(GAMES, openings=3, **form), Net()
    envs.reset(seed=seed)
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = RATE * (1 - update / updates)
        seen, mask, columns, gained = play_games(net, envs)
        if reward == "exact":
            gained = rewards.shaped(seen, columns, threads=1)
        learn(net, optimizer, *map(torch.tensor, (seen, mask, columns, gained)))
        if (update + 1) % max(1, updates // 10) == 0:
            print(f"{update + 1} updates: {mark(net):.1%} of the exam", flush=True)
    torch.save(net.state_dict(), out)
    return net


def learn(net, optimizer, seen, mask, columns, gained):
    """Take one step: moves that gained more than the mean become likelier, others rarer."""
    gain = (gained - gained.mean()) / (gained.std() + 1e-8)
    chosen = torch.distributions.Categorical(logits=net(seen, mask))
    logs = chosen.logits.masked_fill(mask == 0, 0)  # without -inf times 0
    entropy = -(chosen.probs * logs).sum(-1).mean()
    optimizer.zero_grad()
    (-(gain * chosen.log_prob(columns)).mean() - ENTROPY * entropy).backward()
    optimizer.step()


def mark(net):
    """Return the share of the exam's positions where the network keeps the win or the draw."""
    exam = evaluation.exam()
    seen = torch.tensor(exam.observations("flat", "float32"))
    with torch.no_grad():
        columns = net(seen, torch.tensor(exam.masks)).argmax(1).numpy()
    return exam.keeps[np.arange(len(exam)), columns].mean()


class Mine(agents.Agent):
    """The network with the weights of a file, as an agent."""

    deterministic = True

    def __init__(self, weights: str) -> None:
        net = Net()
        net.load_state_dict(torch.load(weights, "cpu", weights_only=True))
        self.player = agents.make(net)

    def choose(self, position):
        """Return the column."""
        return self.player.choose(position)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="REINFORCE by self-play on exact rewards")
    parser.add_argument("out", help="file of the weights")
    parser.add_argument("--reward", choices=("exact", "result"), default="exact")
    parser.add_argument("--updates", type=int, default=1500, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    train(**vars(parser.parse_args()))
