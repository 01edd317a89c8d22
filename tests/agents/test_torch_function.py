"""torch: functions and modules of PyTorch in our games."""

import copy

import numpy as np
import pytest

from c4env import Position, agents, observe
from c4env.errors import EngineFault, IllegalMove

FULL = Position.parse("444444")

SOURCE = """
from dataclasses import dataclass

import torch
from torch import nn

seen = []


def watch(batch):
    seen.append((batch.dtype, tuple(batch.shape), torch.is_grad_enabled(), batch.tolist()))
    return torch.tensor([[0, 1, 2, 9, 3, 4, 4.0]])


def flat(batch): return torch.arange(7)
def with_value(batch): return torch.arange(7.0)[None], torch.tensor([[0.5]])
def illegal_best(batch): return torch.tensor([-9.0, -8, -7, 100, -3, -3, -5])
def column(batch): return 2
def tensor_column(batch): return torch.tensor([5])
def drawn(batch): return int(torch.randint(0, 3, ()))
def lowest(batch): return torch.full((1, 7), -torch.inf, dtype=torch.bfloat16)


@dataclass
class Settings:
    width: int = 4


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(
            nn.Conv2d(2, Settings().width, 4), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(),
            nn.Linear(Settings().width * 12, 7),
        )

    layout = "planes_first"

    def forward(self, batch):
        return self.layers(batch)


network = Network()

def nothing(batch): return None
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    path = tmp_path_factory.mktemp("torch") / "model.py"
    path.write_text(SOURCE)
    return path


def test_a_function_sees_the_side_to_move_first(source):
    import torch

    agent = agents.make(f"torch:{source}:watch")
    position = Position.parse("4435")
    assert agent.choose(position) == 3
    # What it saw is in the file's own module, which only the agent knows.
    dtype, shape, grad, planes = agent.network.source.__globals__["seen"][-1]
    assert (dtype, shape, grad) == (torch.float32, (1, 6, 7, 2), False)
    assert (np.array(planes)[0] == observe(position)["observation"]).all()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *(("flat", 6), ("with_value", 6), ("illegal_best", 4)),
        *(("column", 2), ("tensor_column", 5), ("lowest", 0)),
    ],
)
def test_logits_and_columns_are_played(source, name, column):
    assert agents.make(f"torch:{source}:{name}").choose(FULL) == column


@pytest.mark.parametrize("what", ["with_value,temperature=9", "drawn"])
def test_a_seed_of_the_game_repeats_what_is_drawn(source, what):
    agent = agents.make(f"torch:{source}:{what}")

    def columns(seed):
        agent.reset(seed)
        return [agent.choose(Position()) for _ in range(20)]

    assert columns(1) == columns(1) != columns(2)


@pytest.mark.parametrize("name", ["network", "Network"])
def test_a_module_plays_in_evaluation_mode(source, name):
    agent = agents.make(f"torch:{source}:{name}")
    columns = {agent.choose(Position()) for _ in range(20)}  # else dropout would vary it
    assert len(columns) == 1
    twin = copy.deepcopy(agent)
    assert {twin.choose(Position())} == columns


def test_a_wrong_answer_is_a_fault(source):
    agent = agents.make(f"torch:{source}:nothing")
    with pytest.raises(EngineFault, match=r"answered None: .* or a column 0\.\.6"):
        agent.choose(FULL)
    with pytest.raises(IllegalMove):
        agent.choose(Position.parse("1212121"))
