"""A thing's kind is its type's or its mark's, and the form of a network's policy is declared."""

from types import SimpleNamespace

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents, batched, evaluation
from c4env.agents import Pool
from c4env.agents.making.as_agent import FunctionAgent
from c4env.agents.making.kinds import Kind, kind_of, kind_of_objects
from c4env.agents.making.networks.network import as_network
from c4env.envs.batch import bitboards
from c4env.errors import C4Error, EngineFault, InvalidAction, InvalidOption, OpponentFailed
from tests.helpers.policies import first_legal

RIGHT = np.arange(7.0)  # logits that prefer the columns to the right


def right(observations):
    return np.tile(RIGHT, (len(observations), 1))


def two(observations, masks):
    return right(observations)


def run(player):
    return evaluation.round_robin({"it": player, "other": first_legal}, openings=0)


class Everything:
    """An object with the attributes by which others would know models, modules and agents."""

    policy = observation_space = c4env_batched = None

    def __call__(self, observation):
        return first_legal(observation)

    predict = forward = choose = choose_many = obs_to_tensor = __call__


class Marked:
    @batched
    def __call__(self, observations, masks):
        return masks.argmax(axis=1)


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (agents.make("greedy"), Kind.AGENT),
        (type(agents.make("greedy")), Kind.CLASS),
        (Marked, Kind.CLASS),
        (Marked(), Kind.BATCHED),
        (batched(lambda seen: [3]), Kind.BATCHED),
        (first_legal, Kind.FUNCTION),
        (two, Kind.FUNCTION),
        (Everything(), Kind.FUNCTION),
        (SimpleNamespace(choose=first_legal, predict=first_legal), Kind.NOTHING),
        ("greedy", Kind.NOTHING),
        (None, Kind.NOTHING),
    ],
)
def test_the_kind_of_a_thing_comes_from_its_type_or_from_batched(thing, kind):
    assert kind_of(thing) is kind


def test_the_kinds_of_objects_and_of_libraries():
    for cls, kind in ((Pool, Kind.AGENT), (Marked, Kind.BATCHED), (Everything, Kind.FUNCTION)):
        assert kind_of_objects(cls) is kind
    torch = pytest.importorskip("torch", reason="needs torch: the extra torch")
    assert kind_of(torch.nn.Linear(2, 2)) is kind_of_objects(torch.nn.Linear) is Kind.MODULE
    assert kind_of(batched(torch.nn.Linear(2, 2))) is Kind.MODULE  # its type comes first
    library = pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
    model = library.PPO("MlpPolicy", ConnectFourEnv(), device="cpu")
    assert {kind_of(model), kind_of(model.policy), kind_of_objects(type(model))} == {Kind.MODEL}


def test_a_function_of_two_arguments_needs_batched():
    message = (
        r"'two': missing a required argument: .*expected a function of one observation; mark a "
        r"function of \(observations, masks\) by c4env\.batched; .*kaggle:FILE\.py; .*heuristic="
    )
    with pytest.raises(InvalidOption, match=message) as refused:
        agents.make(two)
    assert "\n" not in str(refused.value)
    # At the place of a network it needs none.
    assert agents.make("puct", function=two, simulations=8).choose(Position()) == 6


def test_a_second_parameter_with_a_default_is_not_filled():
    def agent(seen, masks=None):
        return 5 if masks is None else 0

    def net(seen, masks=None):
        assert masks is None
        return right(seen)

    assert isinstance(agents.make(agent), FunctionAgent)
    assert run(agent).games[0].moves.startswith("61")
    assert agents.make("puct", function=net, simulations=8).choose(Position()) == 6


ANSWERS = {
    "columns": lambda n: np.full(n, 6),
    "list": lambda n: [6] * n,
    "logits": lambda n: np.tile(RIGHT, (n, 1)),
    "logits, values": lambda n: (np.tile(RIGHT, (n, 1)), np.full(n, 0.5)),
}
FORMS = {
    "a dict": lambda answer: lambda seen: answer(len(seen["action_mask"])),
    "two": lambda answer: lambda planes, masks: answer(len(masks)),
}


@pytest.mark.parametrize(
    ("answer", "form"), [*((answer, "a dict") for answer in ANSWERS), ("logits, values", "two")]
)
def test_a_marked_function_may_answer_in_every_form(answer, form):
    marked = batched(FORMS[form](ANSWERS[answer]))
    assert agents.make(marked).choose(Position()) == 6
    if answer == "logits, values":
        result = agents.make("puct", function=marked, simulations=8).search(Position.parse("4"))
        assert (result.column, -0.5 in result.values) == (6, True)


@pytest.mark.parametrize("answer", ["logits", "columns", "list"])
def test_an_answer_for_many_boards_gets_an_error_that_names_batched(answer):
    message = "expected one column; a function that answers for many boards must be marked by c4env"
    with pytest.raises(InvalidAction, match=message):
        agents.make(FORMS["a dict"](ANSWERS[answer])).choose(Position())


@pytest.mark.parametrize(
    "fails",
    [
        lambda seen: seen["action_mask"].argmax(axis=1),  # NumPy's AxisError
        lambda seen: [0 for row in seen["observation"][0, 0, 0, 0]],
    ],
)
def test_a_function_that_lacks_the_axis_of_boards_gets_an_error_that_names_batched(fails):
    asked = []

    def once(seen):
        asked.append(seen)
        return fails(seen)

    with pytest.raises(IndexError, match=r"; a function .* must be marked by c4env\.batched$"):
        agents.make(once).choose(Position())
    assert len(asked) == 1  # a failed function is not asked again


@pytest.mark.parametrize(
    "unmarked", [first_legal, FORMS["a dict"](ANSWERS["logits, values"]), lambda seen: 3]
)
def test_a_function_of_one_observation_as_a_network_gets_an_error_that_names_batched(unmarked):
    with pytest.raises(EngineFault, match=r"mark a function of .* by c4env\.batched") as refused:
        agents.make("puct", function=unmarked).choose(Position())
    assert "\n" not in str(refused.value)


def test_a_network_whose_parameters_python_cannot_find_is_refused():
    with pytest.raises(InvalidOption, match=r"no signature found .*expected a network of obs"):
        as_network(max)


def test_a_dict_shows_the_declared_layout():
    @batched
    def net(seen):
        assert seen["observation"].shape == (1, 6, 7)
        return np.array([2])

    net.layout = "signed"
    assert agents.make(net).choose(Position()) == 2


def test_an_agent_has_the_options_that_it_was_made_with():
    for made, kind in ((agents.make("greedy"), "an agent"), (first_legal, "a function of one")):
        for options in ({"temperature": 1}, {"policy": "logits"}):
            with pytest.raises(
                InvalidOption, match=f"{kind}.*{next(iter(options))!r}; known: none"
            ):
                agents.make(made, **options)


# -- logits and probabilities --------------------------------------------------------------

SURE = np.array([0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.88])
POSITION = Position.parse("4")
FILE = """
import numpy as np
import c4env

SURE = np.array([0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.88])

@c4env.batched
def net(observations, masks): return np.tile(SURE, (len(masks), 1)), np.zeros(len(masks))

@c4env.batched
class Net:
    def __init__(self, column: int = 6): self.row = np.roll(SURE, column - 6)
    def __call__(self, seen): return np.tile(self.row, (len(seen["action_mask"]), 1))
"""


@batched
def sure(observations, masks):
    return np.tile(SURE, (len(masks), 1))


def drawn(agent, games=300):
    """The share of games in which the agent draws column 6."""
    seeds = np.arange(games) * 977
    return (agent.choose_many(bitboards([POSITION] * games), seeds) == 6).mean()


REFUSED = "each row of its policy is >= 0 and sums to 1.*policy=probabilities or policy=logits"


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: agents.make(sure, temperature=1).choose(POSITION), InvalidOption),
        (lambda: ConnectFourVectorEnv(3, opponent=sure).reset(seed=1), OpponentFailed),
    ],
)
def test_what_looks_like_probabilities_has_to_be_declared(ask, error):
    with pytest.raises(error, match=REFUSED) as refused:
        ask()
    assert "\n" not in str(refused.value)


def test_declared_probabilities_are_drawn_and_searched_as_probabilities():
    assert drawn(agents.make(sure, policy="probabilities", temperature=1)) == pytest.approx(
        0.88, abs=0.06
    )
    # As logits, the column has the probability e^0.88 / (e^0.88 + 6 e^0.02) = 0.28.
    assert drawn(agents.make(sure, policy="logits", temperature=1)) == pytest.approx(0.28, abs=0.08)
    for policy in ("probabilities", "logits"):
        assert agents.make(sure, policy=policy).choose(POSITION) == 6
        played = as_network(sure, policy).evaluate(bitboards([POSITION]))[0]
        assert np.allclose(np.exp(played), SURE) == (policy == "probabilities")
    visits = {
        policy: agents.make("puct", function=sure, policy=policy, simulations=200)
        .search(POSITION)
        .visits
        for policy in ("probabilities", "logits")
    }
    assert visits["probabilities"][6] > 150 > 60 > visits["logits"][6]
    agents.register("sure", sure, replace=True)
    assert drawn(agents.make("sure:policy=probabilities,temperature=1")) > 0.8


def test_a_file_has_the_option_in_its_spec(tmp_path):
    (tmp_path / "file.py").write_text(FILE)
    for name in ("net", "Net"):
        spec = f"{tmp_path / 'file.py'}:{name}"
        with pytest.raises(InvalidOption, match=REFUSED):
            agents.make(spec).choose(POSITION)
        assert drawn(agents.make(f"{spec}:policy=probabilities,temperature=1")) > 0.8
        assert agents.make(f"{spec}:policy=logits").choose(POSITION) == 6
        assert agents.make(f"puct:{spec},policy=probabilities,simulations=20").choose(POSITION) == 6
        with pytest.raises(InvalidOption, match="expected one of logits, probabilities"):
            agents.make(f"{spec}:policy=odds")
        assert " policy  logits or probabilities" in agents.describe(spec)
    turned = agents.make(f"{spec}:column=2,policy=probabilities")
    assert turned.choose(POSITION) == 2
    with pytest.raises(InvalidOption, match="unknown option 'row'; known: column, policy, temp"):
        agents.make(f"{spec}:row=2")


def test_batched_means_the_same_for_functions_of_tensors():
    torch = pytest.importorskip("torch", reason="needs torch: the extra torch")

    @batched
    class Module(torch.nn.Module):
        def forward(self, seen):
            assert seen["observation"].dtype == torch.float32
            return torch.arange(7) * seen["action_mask"]

    assert agents.make(Module()).choose(Position.parse("777777")) == 5


@pytest.mark.parametrize(
    "row",
    [
        [0.0] * 7, [1.0] * 7, RIGHT, -SURE, 0.5 * SURE, [-0.5, 1.5, 0, 0, 0, 0, 0], SURE + 0.1,
        [np.inf, 0, 0, 0, 0, 0, 0], [-np.inf, 1, 0, 0, 0, 0, 0],
    ],
)  # fmt: skip
def test_rows_that_are_not_probabilities_are_logits(row):
    agent = agents.make(batched(lambda planes, masks: np.tile(row, (len(masks), 1))))
    assert agent.choose(Position()) == np.argmax(row)


@pytest.mark.parametrize("kind", [np.float16, np.int8, bool])
def test_one_hot_rows_are_probabilities_in_every_dtype(kind):
    net = batched(lambda planes, masks: np.eye(7, dtype=kind)[[5] * len(masks)])
    with pytest.raises(InvalidOption, match=REFUSED):
        agents.make(net).choose(Position())
    for policy in ("logits", "probabilities"):
        assert agents.make(net, policy=policy).choose(Position()) == 5


def test_one_row_without_probabilities_means_that_all_rows_are_logits():
    answers = [np.array([SURE, RIGHT]), np.array([SURE, SURE])]
    rows = iter(answers)
    agent = agents.make(batched(lambda seen: next(rows)))
    for _ in answers:
        columns = agent.choose_many(np.zeros((2, 2), np.int64), np.zeros(2, np.int64))
        assert columns.tolist() == [6, 6]


@pytest.mark.parametrize(
    "row",
    [RIGHT, -SURE, 2 * SURE, 0.5 * SURE, np.zeros(7), [np.nan, 1, 0, 0, 0, 0, 0]],
)
def test_declared_probabilities_have_to_be_possible(row):
    net = batched(lambda planes, masks: np.tile(row, (len(masks), 1)))
    with pytest.raises(InvalidOption, match="returned the probabilities"):
        agents.make(net, policy="probabilities").choose(Position())


@pytest.mark.parametrize("share", [0.0, 0.88, np.nan, -1.0, 3.0])
def test_what_a_full_column_gets_is_ignored(share):
    """Also where the network masks its probabilities, so that they sum to less than 1."""
    row = np.append(SURE[:6], share)
    full = Position.parse("777777")
    net = batched(lambda planes, masks: np.tile(row, (len(masks), 1)))
    of_logits = batched(lambda planes, masks: np.tile([*np.zeros(6), share], (len(masks), 1)))
    for policy, kind in (("probabilities", net), ("logits", of_logits)):
        agent = agents.make(kind, policy=policy, temperature=1)
        columns = agent.choose_many(bitboards([full] * 50), np.arange(50))
        assert set(np.unique(columns)) == set(range(6))


def test_columns_have_no_policy():
    net = batched(lambda seen: np.full(len(seen["action_mask"]), 3))
    for policy in (None, "logits", "probabilities"):
        assert agents.make(net, policy=policy).choose(Position()) == 3
    for policy in ("odds", 3, True):
        with pytest.raises(InvalidOption, match=f"policy={policy!r}: expected one of logits, prob"):
            agents.make(net, policy=policy)
    with pytest.raises(InvalidOption, match="unknown option 'colour'; known: policy, temperature"):
        agents.make(net, colour=3)


def test_our_own_networks_give_logits():
    agent = agents.make("puct:learned,simulations=20")
    assert agents.make("puct:learned,simulations=20,policy=logits").search(POSITION) == (
        agent.search(POSITION)
    )
    with pytest.raises(InvalidOption, match="returned the probabilities"):
        agents.make("puct:learned,policy=probabilities").choose(POSITION)


def test_a_model_of_stable_baselines_gives_logits_by_its_type():
    library = pytest.importorskip("stable_baselines3")
    model = library.PPO("MlpPolicy", ConnectFourEnv(), device="cpu", seed=1)
    assert agents.make(model, policy="logits").choose(POSITION) in range(7)
    for make in (agents.make, lambda it, policy: agents.make("puct", function=it, policy=policy)):
        with pytest.raises(InvalidOption, match="PPO: policy='probabilities': expected logits"):
            make(model, policy="probabilities")


@pytest.mark.parametrize("thing", [7, "no", SimpleNamespace(), FunctionAgent, FunctionAgent(abs)])
def test_an_error_says_what_is_not_a_network(thing):
    with pytest.raises(C4Error):
        agents.make("puct", function=thing)
    with pytest.raises(C4Error, match="expected a network"):
        as_network(thing)
