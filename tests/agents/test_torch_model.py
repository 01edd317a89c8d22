"""Live models as agents: one board at a time, and many boards in one batch."""

import pickle
from unittest.mock import Mock

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents, batched, observe
from c4env.agents import Pool
from c4env.envs.vectorized.batch import bitboards
from c4env.errors import EngineFault
from c4env.evaluation.games.game import play_game
from c4env.evaluation.games.players import Here
from c4env.observation import LAYOUTS, Form
from tests.helpers.policies import first_legal

POSITIONS = [Position.parse(moves) for moves in ("", "4", "444444", "1111112222224", "4455")]


@batched
def rightmost(observation):
    return 6 - observation["action_mask"][:, ::-1].argmax(axis=1)


@batched
def by_height(observation):
    """Preferences: the column with the most of our discs."""
    return observation["observation"][..., 0].sum(axis=1) + np.arange(7) / 10


def test_a_function_of_many_boards_is_an_agent():
    agent = agents.make(rightmost)
    assert [agent.choose(p) for p in POSITIONS] == [p.legal_columns()[-1] for p in POSITIONS]
    assert agent.name == "rightmost"
    assert not agent.deterministic
    assert agent(observe(POSITIONS[0])) == 6
    assert agents.make(agent) is agent
    assert pickle.loads(pickle.dumps(agent)).choose(POSITIONS[2]) == 6


def test_a_function_that_gives_preferences_plays_the_best_legal_column():
    agent = agents.make(by_height)
    assert [agent.choose(p) for p in POSITIONS] == [6, 6, 6, 6, 4]
    many = agent.choose_many(bitboards(POSITIONS), np.zeros(5, np.int64))
    assert many.tolist() == [6, 6, 6, 6, 4]


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (np.full((1, 7), np.nan), "nan"),
        (np.zeros((1, 6)), r"\(1, 6\): expected \(1, 7\)"),
        (np.array([3]), "expected legal columns"),
        (np.array([7]), "expected legal columns"),
        (np.array([0.5]), "expected legal columns"),
    ],
)
def test_an_answer_that_is_none_is_a_fault(answer, match):
    agent = agents.make(batched(lambda observation: answer))
    with pytest.raises(EngineFault, match=match):
        agent.choose(POSITIONS[2])


class Recorder:
    """Has an attribute of every name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None

    def __call__(self, observation):
        return 3


@pytest.mark.parametrize("policy", [Recorder(), Mock(side_effect=Recorder())])
def test_an_object_with_every_attribute_is_no_model(policy):
    assert agents.make(policy).choose(Position()) == 3
    assert play_game((Here(policy), Here(first_legal)), ("one", "two")).moves == "4141414"


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs torch: the extra torch")


def network(torch, value=False):
    """Prefers columns to the right; its dropout would show in training mode."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(7.0))
            self.dropout = torch.nn.Dropout(0.9)
            self.sizes = []

        def forward(self, planes):
            assert planes.dtype == torch.float32
            assert planes.shape[1:] == (2, 6, 7)
            assert not self.training
            self.sizes.append(len(planes))
            logits = self.dropout(self.weight + 0 * planes.sum(dim=(1, 2, 3))[:, None])
            return (logits, logits.sum(dim=1)) if value else logits

    return Network()


@pytest.mark.parametrize("value", [False, True])
def test_a_module_plays_in_its_own_batches_while_it_is_trained(torch, value):
    module = network(torch, value).train()
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
    single = ConnectFourEnv(agents.make(module), seat=0)
    single.reset(seed=1)
    single.step(3)
    assert single.position == Position.parse("41")


@pytest.mark.parametrize("name", ["PPO", "A2C", "DQN", "MaskablePPO"])
@pytest.mark.parametrize("layout", LAYOUTS)
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
    envs = ConnectFourVectorEnv(4, opponent=model)
    envs.reset(seed=1)
    envs.step([3] * 4)
    pool = Pool({model: 1, "random": 1})
    ConnectFourVectorEnv(4, opponent=pool).reset(seed=1)
    assert pool.weights == {model: 1.0, "random": 1.0}
