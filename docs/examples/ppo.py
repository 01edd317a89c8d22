"""PPO by self-play on any PyTorch device, in one file of plain PyTorch in the manner of CleanRL.

python docs/examples/ppo.py model.pt --steps 500000
c4 run ppo=docs/examples/ppo.py:TorchPPO:path=model.pt random greedy --openings 1

Needs PyTorch (pip install torch). The training took 20 seconds of one core, and the games
4 seconds. They printed, among others:

20 s: 499,712 plies, 25,547 per second, 24.2 per game; value error 0.190, entropy 0.54
rank  agent                  Elo  score  games  LOS  nodes      ms
 1-2  greedy  +90 (-127 .. +477)  68.8%     16  49%      0  0.0069
 1-2  ppo     +90 (-110 .. +487)  68.8%     16  98%      0    0.16
 2-3  random  -180 (-712 .. -17)  12.5%     16           0  0.0059

One network plays both sides. Every observation is from the view of the side to move, so the value
of the next position counts with the opposite sign for the side that moved. The boards, the network
and the data are tensors on one device, and nothing is copied to the host during play.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

import c4env
from c4env.agents import Agent

LEARNING_RATE, GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, PARTS = 1e-3, 0.99, 0.95, 0.2, 0.01, 4, 4
REPORT_EVERY = 5.0  # seconds between two lines of figures


class MLP(nn.Module):
    """A network that outputs the columns' log-probabilities and the value for the side to move."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(84, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.policy = nn.Linear(width, 7)
        self.value = nn.Linear(width, 1)

    def forward(self, planes: Any, masks: Any) -> tuple[Any, Any]:
        """Return log-probabilities ``[M, 7]`` and values ``[M]`` of planes and masks ``[M, 7]``."""
        hidden = self.body(planes.float())
        logits = self.policy(hidden).masked_fill(masks == 0, -1e9)
        return logits.log_softmax(-1), self.value(hidden).squeeze(-1)


def train(
    out: str | Path,
    steps: int = 2_000_000,
    seed: int = 1,
    device: str = "cpu",
    boards: int = 256,
    *,
    length: int = 32,
    compile: bool = False,
) -> MLP:
    """Train for ``steps`` plies, counted over all boards, and write the weights to ``out``.

    A GPU needs thousands of boards to be fast. The network is updated after ``length`` plies on
    each board. ``compile`` is that of ``TensorEnv``. Every few seconds it prints a line of figures.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    envs = c4env.TensorEnv(boards, device, compile=compile)
    network: MLP = MLP().to(envs.device)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, eps=1e-5)

    def policy(observations: Any) -> tuple[Any, ...]:
        logs, value = network(*observations.values())
        # Gumbel-max trick: this argmax samples an action by the probabilities.
        action = (logs - torch.empty_like(logs).exponential_().log()).argmax(-1)
        return action, logs.gather(1, action[:, None])[:, 0], value

    envs.reset(seed=seed)
    updates = max(1, steps // (boards * length))
    begun = reported = time.monotonic()
    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - (update - 1) / updates)
        played = envs.rollout(policy, length)
        with torch.no_grad():
            _, ahead = network(*played.last.values())
        error, entropy = learn(network, optimizer, played, advantages_of(played, ahead))
        now = time.monotonic()
        if now - reported >= REPORT_EVERY or update == updates:
            reported, plies = now, update * boards * length
            print(figures(now - begun, plies, played, error, entropy), flush=True)
    torch.save(network.state_dict(), out)
    return network


def figures(seconds: float, plies: int, played: Any, error: Any, entropy: Any) -> str:
    """Return a line of figures; the length of games, value error and entropy are the latest."""
    length = played.terminations.numel() / max(1, int(played.terminations.sum()))
    return (
        f"{seconds:.0f} s: {plies:,} plies, {plies / seconds:,.0f} per second, "
        f"{length:.1f} per game; value error {error.item():.3f}, entropy {entropy.item():.2f}"
    )


def advantages_of(played: Any, ahead: Any) -> Any:
    """Return advantages ``[T, N]`` by GAE; ``ahead`` has the values ``[N]`` after the last ply."""
    _, values = played.extras
    advantages = torch.zeros_like(values)
    later = torch.zeros_like(ahead)
    for t in reversed(range(len(values))):
        left = GAMMA * (1 - played.terminations[t].float())
        # The next value and advantage belong to the other side, so both change sign.
        later = played.rewards[t] - left * ahead - values[t] - left * LAMBDA * later
        advantages[t], ahead = later, values[t]
    return advantages


def learn(network: MLP, optimizer: Any, played: Any, advantages: Any) -> tuple[Any, Any]:
    """Update the network on a rollout; return the last value error and entropy."""
    logs, values = played.extras
    arrays = (*played[:3], logs, advantages, advantages + values)
    data = [array.flatten(0, 1) for array in arrays]
    for _ in range(EPOCHS):
        for rows in torch.randperm(values.numel(), device=values.device).chunk(PARTS):
            planes, masks, actions, before, gain, returns = (array[rows] for array in data)
            logs, value = network(planes, masks)
            ratio = (logs.gather(1, actions[:, None])[:, 0] - before).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP))
            entropy = -(logs.exp() * logs).sum(-1).mean()
            error = (returns - value).square().mean()
            loss = 0.5 * error - clipped.mean() - ENTROPY * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()
    return error, entropy


class TorchPPO(Agent):
    """Plays the trained network's most probable column.

    It is asked board by board; in an environment of many boards ``opponent=network`` is faster.
    """

    deterministic = True

    def __init__(self, path: str) -> None:
        self._network = MLP()
        self._network.load_state_dict(torch.load(path, "cpu", weights_only=True))

    def choose(self, position: c4env.Position) -> int:
        """Return the most probable column."""
        seen = [torch.from_numpy(part)[None] for part in c4env.observe(position).values()]
        with torch.no_grad():
            return int(self._network(*seen)[0].argmax())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="file of the weights")
    parser.add_argument("--steps", type=int, default=2_000_000, help="plies (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or another PyTorch device")
    parser.add_argument("--boards", type=int, default=256, help="a GPU is quick with thousands")
    train(**vars(parser.parse_args()))
