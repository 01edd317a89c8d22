"""Learning libraries as they are, on our environments: the calls that they make."""

import pytest

from c4env import ConnectFourVectorEnv

torch = pytest.importorskip("torch", reason="needs torch: the extra torch")


def masked_policy(masks):
    """A column for each mask, as masked policies draw it."""
    logits = torch.zeros(masks.shape).masked_fill(torch.as_tensor(masks) == 0, float("-inf"))
    return torch.distributions.Categorical(logits=logits).sample().numpy()


@pytest.mark.parametrize("opponent", [None, "random"])
def test_a_masked_policy_can_sample_after_the_end(opponent):
    """With Gymnasium's default, a finished board is shown, and asked for, once more."""
    torch.manual_seed(1)
    envs = ConnectFourVectorEnv(8, opponent=opponent)
    observation, _ = envs.reset(seed=1)
    ended = 0
    for _ in range(60):
        observation, _, over, _, _ = envs.step(masked_policy(observation["action_mask"]))
        ended += over.sum()
    assert ended > 8
