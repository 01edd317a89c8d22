"""PPO by self-play in one file of plain PyTorch, in the manner of CleanRL.

``python -m agents.training.torch_ppo model.pt``

One network plays both sides: every observation is from the view of the side to move, so
what follows a move is worth to the mover the negative of what it is worth to the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Agent, require_move
from agents.training import needs, run
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.observation import observe
from c4env.position import Position

with needs("torch", __name__):
    import torch
    from torch import nn

LEARNING_RATE, GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, PARTS = 1e-3, 0.99, 0.95, 0.2, 0.01, 4, 4


class Network(nn.Module):
    """Logits of the columns and the value for the side to move."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Flatten(), nn.Linear(84, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        )
        self.policy = nn.Linear(width, 7)
        self.value = nn.Linear(width, 1)

    def forward(self, planes: Any, masks: Any) -> tuple[Any, Any]:
        """For planes ``[M, 6, 7, 2]`` and masks ``[M, 7]``: a distribution, values ``[M]``."""
        hidden = self.body(planes.float())
        logits = self.policy(hidden).masked_fill(masks == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(hidden).squeeze(-1)


def train(
    out: str | Path, steps: int = 2_000_000, seed: int = 1, boards: int = 256, length: int = 32
) -> Network:
    """Train for some plies and write the network's weights."""
    torch.manual_seed(seed)
    # With same-step autoreset every step is a ply: no step is spent on starting again.
    envs = ConnectFourVectorEnv(boards, autoreset_mode="SameStep")
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, eps=1e-5)
    seen, _ = envs.reset(seed=seed)
    updates = max(1, steps // (boards * length))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        planes = torch.zeros(length, boards, 6, 7, 2, dtype=torch.int8)
        masks = torch.zeros(length, boards, 7, dtype=torch.int8)
        actions = torch.zeros(length, boards, dtype=torch.int64)
        logs, values, rewards, dones = (torch.zeros(length, boards) for _ in range(4))
        for t in range(length):
            planes[t] = torch.from_numpy(seen["observation"])
            masks[t] = torch.from_numpy(seen["action_mask"])
            with torch.no_grad():
                policy, values[t] = network(planes[t], masks[t])
            actions[t] = policy.sample()
            logs[t] = policy.log_prob(actions[t])
            seen, reward, ended, _, _ = envs.step(actions[t].numpy())
            rewards[t], dones[t] = torch.from_numpy(reward), torch.from_numpy(ended)
        with torch.no_grad():
            _, ahead = network(*(torch.from_numpy(seen[k]) for k in ("observation", "action_mask")))
        advantages = torch.zeros_like(rewards)
        later = torch.zeros(boards)
        for t in reversed(range(length)):
            left = GAMMA * (1 - dones[t])
            # The next value and advantage are those of the other side: both change sign.
            later = rewards[t] - left * ahead - values[t] - left * LAMBDA * later
            advantages[t], ahead = later, values[t]
        returns = (advantages + values).flatten()
        planes, masks, actions = planes.flatten(0, 1), masks.flatten(0, 1), actions.flatten()
        logs, advantages = logs.flatten(), advantages.flatten()
        for _ in range(EPOCHS):
            for at in torch.randperm(boards * length).chunk(PARTS):
                policy, value = network(planes[at], masks[at])
                ratio = (policy.log_prob(actions[at]) - logs[at]).exp()
                gain = (advantages[at] - advantages[at].mean()) / (advantages[at].std() + 1e-8)
                clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP))
                loss = (
                    -clipped.mean()
                    + 0.5 * (returns[at] - value).square().mean()
                    - ENTROPY * policy.entropy().mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
    torch.save(network.state_dict(), out)
    return network


class TorchPPO(Agent):
    """What was trained: ``c4 run agents.training.torch_ppo:TorchPPO:path=model.pt greedy``."""

    deterministic = True

    def __init__(self, path: str) -> None:
        self._network = Network()
        self._network.load_state_dict(torch.load(path, weights_only=True))

    def choose(self, position: Position) -> int:
        """The 0-based column that the policy likes best."""
        require_move(position)
        seen = observe(position)
        with torch.no_grad():
            given = (torch.from_numpy(np.asarray(values)[None]) for values in seen.values())
            return int(self._network(*given)[0].logits.argmax())


if __name__ == "__main__":
    run(train, __doc__)
