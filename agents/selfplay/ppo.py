"""PPO by self-play on any PyTorch device, in one file of plain PyTorch in the manner of CleanRL.

``python -m c4env.agents.selfplay.ppo model.pt --device cuda``

One network plays both sides. Every observation is from the view of the side to move, so the value
of the next position counts with the opposite sign for the side that moved. The boards, the network
and the data are tensors on one device, and nothing is copied to the host during play.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from c4env.agents.adapters.models import ModelAgent
from c4env.agents.selfplay.folder import needs, run
from c4env.arrays import Int8s
from c4env.bitboard import COLUMNS

with needs("torch", __name__):
    import torch
    from torch import nn

    from c4env.envs.vectorized.tensor import TensorEnv

LEARNING_RATE, GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, PARTS = 1e-3, 0.99, 0.95, 0.2, 0.01, 4, 4


class Network(nn.Module):
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
) -> Network:
    """Train for ``steps`` plies, counted over all boards, and write the weights to ``out``.

    A GPU needs thousands of boards to be fast. The network is updated after ``length`` plies on
    each board.
    """
    torch.manual_seed(seed)
    envs = TensorEnv(boards, device)
    network: Network = Network().to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, eps=1e-5)
    seen, _ = envs.reset()
    updates = max(1, steps // (boards * length))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        with torch.no_grad():
            plies = []
            for _ in range(length):
                planes, masks = seen.values()
                logs, value = network(planes, masks)
                # Gumbel-max trick: this argmax samples an action by the probabilities.
                action = (logs - torch.empty_like(logs).exponential_().log()).argmax(-1)
                seen, reward, ended, _, _ = envs.step(action)
                log = logs.gather(1, action[:, None])[:, 0]
                plies.append((planes, masks, action, log, value, reward, ended.float()))
            _, ahead = network(*seen.values())
        batch = [torch.stack(kind) for kind in zip(*plies, strict=True)]
        values, rewards, dones = batch[4:]
        advantages = torch.zeros_like(rewards)
        later = torch.zeros_like(ahead)
        for t in reversed(range(length)):
            left = GAMMA * (1 - dones[t])
            # The next value and advantage belong to the other side, so both change sign.
            later = rewards[t] - left * ahead - values[t] - left * LAMBDA * later
            advantages[t], ahead = later, values[t]
        given = [kind.flatten(0, 1) for kind in (*batch[:4], advantages, advantages + values)]
        for _ in range(EPOCHS):
            for at in torch.randperm(boards * length, device=device).chunk(PARTS):
                planes, masks, actions, before, gain, returns = (kind[at] for kind in given)
                logs, value = network(planes, masks)
                ratio = (logs.gather(1, actions[:, None])[:, 0] - before).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP))
                entropy = -(logs.exp() * logs).sum(-1)
                loss = (
                    -clipped.mean()
                    + 0.5 * (returns - value).square().mean()
                    - ENTROPY * entropy.mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
    torch.save(network.state_dict(), out)
    return network


class TorchPPO(ModelAgent):
    """An agent that plays the trained network, for example in
    ``c4 run c4env.agents.selfplay.ppo:TorchPPO:path=model.pt greedy``."""

    deterministic = True

    def __init__(self, path: str) -> None:
        super().__init__()
        self._network = Network()
        self._network.load_state_dict(torch.load(path, "cpu", weights_only=True))

    def preferences(self, planes: Int8s) -> Any:
        """Return the columns' log-probabilities ``[M, 7]``."""
        with torch.no_grad():
            return self._network(torch.from_numpy(planes), torch.ones(len(planes), COLUMNS))[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="file of the weights")
    parser.add_argument("--steps", type=int, default=2_000_000, help="plies (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or another PyTorch device")
    parser.add_argument("--boards", type=int, default=256, help="a GPU is quick with thousands")
    sys.exit(run(train, parser))
