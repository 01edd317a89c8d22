"""PPO in plain PyTorch: one seat against opponents on 256 boards of a Gymnasium vector environment.

python docs/examples/plain_ppo.py net.pt --steps 500000
c4 run mine=docs/examples/plain_ppo.py:Mine:weights=net.pt random greedy --openings 2

Needs PyTorch (pip install '.[torch]'). It took 25 seconds of one core and printed, last:

    step 499712, 22 s: accuracy 38.7%, Elo -399 (-587 .. -261), score 47.9% of 48 games
    mine is the strongest of 3 agents, 182 Elo ahead of greedy ...
"""

import argparse

import torch
from torch import nn

from c4env import ConnectFourVectorEnv, agents
from c4env.evaluation import CurveWriter

BOARDS, LENGTH = 256, 32  # boards, and moves of the learner on each between two updates
RATE, DISCOUNT, TRACE, CLIP, ENTROPY, EPOCHS, PARTS = 1e-3, 0.99, 0.95, 0.2, 0.01, 4, 4


class Net(nn.Module):
    """Logits ``[M, 7]``, -inf where a column is full, and values ``[M]`` from -1 to 1."""

    layout = "flat"  # so that agents, environments and runs take it as it is

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(84, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.policy, self.value = nn.Linear(256, 7), nn.Linear(256, 1)

    def forward(self, seen, mask):
        """Of observations, float32 ``[M, 84]``, and masks, int8 ``[M, 7]``."""
        hidden = self.body(seen)
        logits = self.policy(hidden).masked_fill(mask == 0, -torch.inf)
        return logits, self.value(hidden).squeeze(-1).tanh()


def train(out, steps=500_000, seed=1, every=50_000, curve="curve"):
    """Train for ``steps`` moves of the learner.

    Every ``every`` moves, and at the end, ``out`` gets the weights, and the folder ``curve`` a
    measurement of accuracy and Elo.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    pool = agents.Pool({"greedy": 5, "random": 3, "alphabeta:depth=2": 2}, seed=seed, per="move")
    form = {"layout": "flat", "dtype": "float32", "action_mask": "info"}
    envs = ConnectFourVectorEnv(
        BOARDS, opponent=pool, openings=3, autoreset_mode="SameStep", **form
    )
    net, writer = Net(), CurveWriter(curve)
    optimizer = torch.optim.Adam(net.parameters(), RATE, eps=1e-5)
    seen, info = envs.reset(seed=seed)
    updates, measured = max(1, steps // (BOARDS * LENGTH)), 0
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = RATE * (1 - update / updates)
        rows = []
        for _ in range(LENGTH):
            board, mask = torch.tensor(seen), torch.tensor(info["action_mask"])
            with torch.no_grad():
                logits, value = net(board, mask)
            chosen = torch.distributions.Categorical(logits=logits)
            action = chosen.sample()
            seen, reward, over, _, info = envs.step(action.numpy())  # the opponent has replied
            result = torch.tensor(reward, dtype=torch.float32), torch.tensor(over)
            rows.append((board, mask, action, chosen.log_prob(action), value, *result))
        with torch.no_grad():
            _, ahead = net(torch.tensor(seen), torch.tensor(info["action_mask"]))
        learn(net, optimizer, *(torch.stack(part) for part in zip(*rows, strict=True)), ahead)
        done = (update + 1) * BOARDS * LENGTH
        if done - measured >= every or update + 1 == updates:
            measured, found = done, writer.measure(net, done)
            torch.save(net.state_dict(), out)
            if found is not None:  # None where measuring would take too much of the time
                print(found, flush=True)  # wandb.log({"elo": found.elo}, step=done)
    return net


def learn(net, optimizer, seen, mask, action, before, value, reward, over, ahead):
    """Update the network on ``[LENGTH, BOARDS]`` moves; ``ahead`` is the value after the last."""
    gain, later = torch.zeros_like(value), torch.zeros_like(ahead)
    for t in reversed(range(LENGTH)):
        left = DISCOUNT * ~over[t]  # nothing counts beyond the end of a game
        later = reward[t] + left * ahead - value[t] + left * TRACE * later
        gain[t], ahead = later, value[t]
    parts = (seen, mask, action, before, gain, gain + value)
    data = [part.flatten(0, 1) for part in parts]
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(data[0])).chunk(PARTS):
            seen, mask, action, before, gain, target = (part[rows] for part in data)
            logits, value = net(seen, mask)
            chosen = torch.distributions.Categorical(logits=logits)
            ratio = (chosen.log_prob(action) - before).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            error = (target - value).square().mean()
            logs = chosen.logits.masked_fill(mask == 0, 0)  # without -inf times 0
            entropy = -(chosen.probs * logs).sum(-1).mean()
            optimizer.zero_grad()
            (0.5 * error - clipped - ENTROPY * entropy).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()


class Mine(agents.Agent):
    """The network with the weights of a file, as an agent.

    Args:
        weights: the file.
        simulations: of AlphaZero's search, led by the network; 0 plays its preferred column.
    """

    deterministic = True  # as the search is that keeps no tree

    def __init__(self, weights: str, simulations: int = 0) -> None:
        net = Net()
        net.load_state_dict(torch.load(weights, "cpu", weights_only=True))
        search = {"function": net, "simulations": simulations, "reuse": False}
        self.player = agents.make("puct", **search) if simulations else agents.make(net)

    def choose(self, position):
        """Return the column."""
        return self.player.choose(position)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="PPO in plain PyTorch")
    parser.add_argument("out", help="file of the weights")
    parser.add_argument("--steps", type=int, default=500_000, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--curve", metavar="DIR", default="curve", help="default %(default)s")
    train(**vars(parser.parse_args()))
