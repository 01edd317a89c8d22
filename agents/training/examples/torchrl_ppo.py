"""PPO of TorchRL with action masks, against a random opponent.

``python -m c4env.agents.training.examples.torchrl_ppo model.pt``
"""

from __future__ import annotations

import sys
from pathlib import Path

from c4env.agents.training.command_line import needs, run
from c4env.envs.masked import MaskInObservation
from c4env.envs.single import ConnectFourEnv

with needs("torchrl", __name__):
    import torch
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymWrapper
    from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE


def environment() -> GymWrapper:
    """Make an environment whose observations hold the action mask for MaskedCategorical."""
    board = MaskInObservation(ConnectFourEnv(dtype="float32"), mask_dtype="bool")
    return GymWrapper(board, categorical_action_encoding=True)


def train(out: str | Path, steps: int = 50_000, seed: int = 1, *, frames: int = 1000) -> float:
    """Train for ``steps`` steps, write the actor's weights, return the last batch's mean reward."""
    torch.manual_seed(seed)
    env = environment()
    env.set_seed(seed)
    logits = TensorDictModule(
        MLP(in_features=84, out_features=7, num_cells=[256, 256]), ["observation"], ["logits"]
    )
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(in_features=84, out_features=1, num_cells=[256, 256]))
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=5e-4)
    mean = 0.0
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=steps,
        auto_register_policy_transforms=True,
    )
    for batch in collector:
        for _ in range(4):
            advantage(batch)
            for part in batch[torch.randperm(frames)].split(max(frames // 4, 1)):
                found = loss(part)
                total = found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                optimizer.step()
        after = batch["next"]
        mean = float(after["reward"].sum() / after["done"].sum().clamp(min=1))
    collector.shutdown()
    torch.save(logits.state_dict(), out)
    return mean


if __name__ == "__main__":
    sys.exit(run(train, __doc__, "mean return against random, in training"))
