"""Both kinds of steps: which parameters take which, how long they are, and their state."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

from c4env.agents.selfplay.optimiser import RATES, Optimiser  # noqa: E402  # it needs torch


class Small(torch.nn.Module):
    def __init__(self, layers=1):
        super().__init__()
        self.inner = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(layers))
        self.last = torch.nn.Linear(6, 2)

    def hidden(self):
        return [layer.weight for layer in self.inner]

    def forward(self, units):
        for layer in self.inner:
            units = torch.relu(layer(units))
        return self.last(units)


@pytest.fixture
def model():
    torch.manual_seed(1)
    return Small()


def step(optimiser, share=1.0, longest=None):
    units = torch.linspace(-1, 1, 48).sin().reshape(8, 6)
    optimiser.step((optimiser.network(units) - units[:, :2]).square().mean(), share, longest)


def change_of(parameter, optimiser, share):
    before = parameter.detach().clone()
    step(optimiser, share)
    return parameter.detach() - before


def test_a_matrix_within_moves_as_far_in_every_direction(model):
    change = change_of(model.hidden()[0], Optimiser(model), 0.5)
    lengths = torch.linalg.svdvals(change / (0.5 * RATES[0]))
    gradient = torch.linalg.svdvals(model.hidden()[0].grad)
    assert 0.6 < lengths[0] < 1.4
    assert gradient[0] / gradient[2] > 2 * lengths[0] / lengths[2]


def test_both_states_go_on_alike(model):
    one = Optimiser(model)
    step(one)
    again = Small()
    again.load_state_dict(model.state_dict())
    two = Optimiser(again)
    two.load_state_dict(copy.deepcopy(one.state_dict()))  # as from a file
    for _ in range(3):
        step(one)
        step(two)
    for ours, theirs in zip(model.parameters(), again.parameters(), strict=True):
        assert ours.equal(theirs)


def test_what_comes_to_a_network_is_fitted_after_a_refresh(model):
    optimiser = Optimiser(model)
    step(optimiser)
    new = torch.nn.Linear(6, 6)
    model.inner.append(new)
    before = [parameter.detach().clone() for parameter in new.parameters()]
    step(optimiser)
    assert all(now.equal(old) for now, old in zip(new.parameters(), before, strict=True))
    optimiser.refresh()
    step(optimiser)
    assert not any(now.equal(old) for now, old in zip(new.parameters(), before, strict=True))
