"""Networks of users, and functions and modules of PyTorch, in one shape at every door."""

import pickle
import re
from functools import partial

import numpy as np
import pytest

from c4env import (
    ConnectFourEnv,
    ConnectFourVectorEnv,
    Position,
    agents,
    batched,
    evaluation,
    observe,
)
from c4env.agents import Pool
from c4env.agents.making.networks.network import as_network
from c4env.agents.selfplay.gumbel import GumbelSearch
from c4env.envs.batch import bitboards
from c4env.errors import EngineFault, InvalidOption
from c4env.evaluation.results.training_curve import CurveWriter, strength
from c4env.observation import LAYOUTS, Form
from tests.helpers.policies import first_legal, rightmost

POSITIONS = [Position.parse(moves) for moves in ("", "4", "444444", "1111112222224", "4455")]


def test_a_function_of_many_boards_is_an_agent():
    agent = agents.make(rightmost)
    assert [agent.choose(p) for p in POSITIONS] == [p.legal_columns()[-1] for p in POSITIONS]
    assert agent.name == "rightmost"
    assert not agent.deterministic
    assert agent(observe(POSITIONS[0])) == 6
    assert agents.make(agent) is agent
    assert pickle.loads(pickle.dumps(agent)).choose(POSITIONS[2]) == 6


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs torch: the extra torch")


def network(torch):
    """Prefers columns to the right; its dropout would show in training mode."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(7.0))
            self.dropout = torch.nn.Dropout(0.9)
            self.sizes = []

        def forward(self, planes):
            assert planes.dtype == torch.float32
            assert planes.shape[1:] == (6, 7, 2)
            assert not self.training
            assert not torch.is_grad_enabled()
            self.sizes.append(len(planes))
            return self.dropout(self.weight + 0 * planes.sum(dim=(1, 2, 3))[:, None])

    return Network()


def test_a_module_plays_in_its_own_batches_while_it_is_trained(torch):
    module = network(torch).train()
    agent = agents.make(module)
    assert [agent.choose(p) for p in POSITIONS] == [p.legal_columns()[-1] for p in POSITIONS]
    assert module.training, "as it was"
    module.sizes.clear()
    envs = ConnectFourVectorEnv(8, opponent=module, seat=0)
    envs.reset(seed=1)
    envs.step(np.full(8, 3))
    assert module.sizes == [8]
    assert envs.positions() == [Position.parse("47")] * 8
    with torch.no_grad():
        module.weight.neg_()  # learned something
    envs.step(np.full(8, 3))
    assert envs.positions() == [Position.parse("4741")] * 8


@pytest.mark.parametrize(
    ("name", "layout"),
    [("MaskablePPO", "flat"), ("PPO", "planes_first"), ("DQN", "tokens")],
)
def test_a_model_plays_what_it_predicts_in_training_and_from_its_file(name, layout, tmp_path):
    """The best legal column; a library without masks may predict a full one."""
    library = pytest.importorskip("sb3_contrib" if name == "MaskablePPO" else "stable_baselines3")
    env = ConnectFourEnv("random", layout=layout, dtype="float32")
    small = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 1}
    model = getattr(library, name)("MlpPolicy", env, **small)
    model.save(tmp_path / "model.zip")
    for source in (model, model.policy, f"sb3:{tmp_path / 'model.zip'}"):
        agent = agents.make(source)
        columns = [agent.choose(p) for p in POSITIONS]
        for column, seen in zip(columns, map(observe, POSITIONS), strict=True):
            mask = seen["action_mask"].astype(bool)
            masked = {"action_masks": mask} if name == "MaskablePPO" else {}
            given = Form(layout, "float32")(seen["observation"])
            best, _ = model.predict(given, deterministic=True, **masked)
            assert column == best or not mask[best]
            assert mask[column]
        many = agent.choose_many(bitboards(POSITIONS), np.zeros(5, np.int64))
        assert many.tolist() == columns


# -- one shape at every door ------------------------------------------------------------


@batched
def right_with_masks(observations, masks):
    """Logits and values of a function, the columns to the right ahead."""
    assert observations.shape[1:] == (6, 7, 2)
    assert observations.dtype == masks.dtype == np.int8
    return np.tile(np.arange(7.0), (len(masks), 1)), np.full(len(masks), 0.5)


@pytest.fixture(params=["function", "module", "module with masks"])
def net(request):
    if request.param == "function":
        return right_with_masks
    torch = pytest.importorskip("torch", reason="needs torch: the extra torch")

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(7.0, dtype=torch.float64))

        def forward(self, planes):
            assert planes.shape[1:] == (6, 7, 2)
            assert planes.dtype == self.weight.dtype
            logits = self.weight.expand(len(planes), 7)
            return logits, torch.full((len(planes), 1), 0.5)

    class WithMasks(Module):
        def forward(self, planes, masks):
            assert masks.shape == (len(planes), 7)
            return super().forward(planes)

    return WithMasks() if request.param.endswith("masks") else Module()


def test_a_network_is_used_unchanged_at_every_door(net, tmp_path, monkeypatch):
    position = Position.parse("4")
    assert agents.make(net).choose(position) == 6
    assert agents.make(net, temperature=0.01).choose(position) == 6
    result = agents.make("puct", function=net, simulations=8).search(position)
    assert result.column == 6
    assert -0.5 in result.values
    boards = bitboards([position] * 2)
    improved = GumbelSearch(as_network(net).evaluate, 4)(boards, np.zeros((2, 7)))
    assert improved.columns.tolist() == [6, 6]
    envs = ConnectFourVectorEnv(3, opponent=net, seat=0)
    envs.reset(seed=1)
    envs.step([3, 3, 3])
    assert envs.positions() == [Position.parse("47")] * 3
    env = ConnectFourEnv(net, seat=1)
    env.reset(seed=1)
    assert env.position == Position.parse("7")
    assert Pool({net: 1}).choose(position) == 6
    agents.register("my-net", net, replace=True)
    assert agents.make("my-net").choose(position) == 6
    played = evaluation.round_robin({"net": net, "edge": first_legal}, openings=0)
    assert played.games[0].moves.startswith("71")
    writer = CurveWriter(tmp_path, measure=partial(strength, questions=3, limit=1))
    assert writer.measure(net, 1).games == 8


def test_a_model_of_stable_baselines_leads_a_search():
    library = pytest.importorskip("stable_baselines3")
    model = library.PPO("MlpPolicy", ConnectFourEnv(), device="cpu", seed=1)
    result = agents.make("puct", function=model, simulations=20).search(Position.parse("44"))
    assert (result.value != 0, result.nodes) == (True, 20)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_network_gets_the_layout_that_it_declares(torch, layout):
    class Net(torch.nn.Module):
        def forward(self, seen):
            expected = Form(layout)(np.stack([observe(p)["observation"] for p in POSITIONS]))
            assert (seen.numpy() == expected).all()
            assert seen.dtype == (torch.int64 if layout == "tokens" else torch.float32)
            return torch.zeros(len(seen), 7)

    net = Net()
    net.layout = layout
    for model in (net, torch.nn.DataParallel(net)):
        many = agents.make(model).choose_many(bitboards(POSITIONS), np.zeros(5, np.int64))
        assert len(many) == 5
    net.layout = "rows"
    with pytest.raises(InvalidOption, match="layout='rows': expected one of"):
        agents.make(net)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*torch.jit:FutureWarning")
def test_modules_around_a_module_get_what_their_own_parameters_say(torch):
    class Inner(torch.nn.Module):
        def forward(self, planes):
            return planes.flatten(1)[:, :7]

    class WithMasks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = Inner()

        def forward(self, planes, masks):
            return self.module(planes) * 0 + torch.arange(7) * masks

    script = torch.jit.script
    for net in (WithMasks(), script(WithMasks()), torch.nn.DataParallel(WithMasks())):
        assert agents.make(net).choose(Position()) == 6
    for net in (Inner(), script(Inner()), torch.nn.DataParallel(Inner())):
        assert agents.make(net).choose(Position()) == 0


def test_each_part_of_a_module_keeps_its_own_mode(torch):
    linear = torch.nn.Linear(84, 7)
    parts = torch.nn.Flatten(), torch.nn.BatchNorm1d(84), torch.nn.Dropout(0.5), linear
    module = torch.nn.Sequential(*parts)
    seen = []
    linear.register_forward_hook(lambda *_: seen.append([p.training for p in module.modules()]))
    for learning in ([1], [2], [1, 2], []):
        for train in (True, False):
            module.train(train)
            for i in learning:
                module[i].train(not train)
            before = [part.training for part in module.modules()]
            for agent in (agents.make(module), agents.make("puct", function=module, simulations=3)):
                agent.choose(Position())
                assert [part.training for part in module.modules()] == before
    assert not np.any(seen)


def test_a_module_of_another_shape_is_told_of_layouts(torch):
    class TooMany(torch.nn.Module):
        def forward(self, planes, masks, hidden):
            raise AssertionError

    board = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(42, 7))
    for network, layout in (
        (torch.nn.Sequential(torch.nn.Conv2d(2, 7, (6, 7)), torch.nn.Flatten()), "planes_first"),
        (torch.nn.Linear(84, 7), "flat"),
        (board, "signed"),
        (torch.nn.Linear(5, 7), None),
    ):
        hint = f"; set its attribute layout to '{layout}'" if layout else ""
        with pytest.raises(EngineFault, match=rf"got observations \(1, 6, 7, 2\){hint}$"):
            agents.make(network).choose(Position())
        if layout:
            network.layout = layout
            assert agents.make(network).choose(Position()) in range(7)
    for make in (agents.make, lambda net: agents.make("puct", function=net)):
        with pytest.raises(InvalidOption, match=r"TooMany: .*expected a network of obs"):
            make(TooMany())


class Chooses:
    def choose(self, position):
        return 3


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (Chooses(), "expected its class Chooses to derive from c4env.agents.Agent"),
        (Chooses, r"expected an object of the class: Chooses\(\)"),
        (["greedy", "random"], r"of several, c4env\.agents\.Pool\("),
        ({"greedy": 1}, r"of several, c4env\.agents\.Pool\("),
        ({"body.weight": np.zeros((9, 9))}, r"^[^\n]{60,200}expected a network, not its weights: "),
        (7, "expected an agent, its spec name:key=value"),
    ],
)
def test_an_error_says_what_to_pass_as_an_agent(thing, said):
    with pytest.raises(InvalidOption, match=said):
        agents.make(thing)


FULL = Position.parse("444444")

SOURCE = """
import c4env
import torch
from torch import nn


@c4env.batched
def marked(planes, masks): return masks.cumsum(1)
def flat(batch): return torch.arange(7)
def with_value(batch): return torch.arange(7.0)[None], torch.tensor([[0.5]])
def illegal_best(batch): return torch.tensor([-9.0, -8, -7, 100, -3, -3, -5])
def column(batch): return 2
def tensor_column(batch): return torch.tensor([5])
def drawn(batch): return int(torch.randint(0, 3, ()))
def sure(batch): return torch.softmax(torch.tensor([[0, 0, 0, 0, 0, 0, 3.8]]), 1)
def lowest(batch): return torch.full((1, 7), -torch.inf, dtype=torch.bfloat16)


class Right(nn.Module):
    layout = "planes_first"

    def forward(self, batch):
        assert batch.shape[1:] == (2, 6, 7)
        return 100.0 * torch.arange(7).repeat(len(batch), 1)


right = Right()
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    path = tmp_path_factory.mktemp("torch") / "model.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *(("marked", 6), ("flat", 6), ("with_value", 6), ("illegal_best", 4)),
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


def test_a_transposed_answer_is_refused(torch):
    class Transposed(torch.nn.Module):
        def forward(self, observations):
            return torch.zeros(7, len(observations))

    assert agents.make(Transposed()).choose(Position()) == 0
    with pytest.raises(EngineFault, match=re.escape("returned shape (7, 2): expected (2, 7)")):
        agents.make(Transposed()).choose_many(bitboards(POSITIONS[:2]), np.arange(2))


def test_what_an_opponent_draws_leaves_the_learners_generator(torch, source):
    env = ConnectFourEnv(f"torch:{source}:drawn", seat=1)
    env.reset(seed=1)
    before = torch.get_rng_state()
    env.reset(seed=2)
    env.step(3)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_network_of_a_file_is_used_at_the_doors_of_specs(source):
    for spec in (f"{source}:right", f"torch:{source}:Right", f"puct:{source}:Right"):
        assert agents.make(spec).choose(Position()) == 6
    with pytest.raises(InvalidOption, match="policy=probabilities or policy=logits"):
        agents.make(f"torch:{source}:sure").choose(Position())
    assert agents.make(f"torch:{source}:sure,policy=probabilities").choose(Position()) == 6


def test_logits_of_jax_may_be_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16  # JAX's

    @batched
    def low(observations, masks):
        return np.tile(np.arange(7), (len(masks), 1)).astype(bfloat16)

    assert agents.make(low).choose(Position()) == 6
