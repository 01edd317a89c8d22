"""Search led by a policy and value function: what it asks, what it makes of the answers."""

import numpy as np
import pytest

from c4env import Position, agents, observe
from c4env.agents.sampling.descent import LEAF, PUCT_ROOT, complete_by_mixed_value, descend
from c4env.agents.sampling.puct import PUCT
from c4env.agents.sampling.tree import NODE, OPEN, SEARCH, tactical_status
from c4env.agents.solver import Solver
from c4env.errors import EngineFault, InvalidOption
from c4env.jit import config
from c4env.observation import position_from
from tests.helpers.policies import uniform
from tests.rules import reference


def edge(observations, masks):
    """Sure of the last column, and that it is lost."""
    logits = np.zeros(masks.shape, np.float32)
    logits[:, 6] = 8.0
    return logits, np.full(len(masks), -0.25, np.float32)


class Recorder:
    def __init__(self):
        self.asked = []

    def __call__(self, observations, masks):
        self.asked.append((observations, masks))
        return uniform(observations, masks)


def test_it_is_asked_about_positions_a_batch_at_a_time():
    recorder = Recorder()
    agent = PUCT(recorder, simulations=100, batch=6)
    agent.search(Position.parse("44"))
    sizes = [len(masks) for _, masks in recorder.asked]
    assert sizes[0] == 1  # only the root
    assert max(sizes) == 6
    assert sum(sizes) > 90
    seen = set()
    for observations, masks in recorder.asked:
        assert observations.dtype == masks.dtype == np.int8
        for planes, mask in zip(observations, masks, strict=True):
            position = position_from(planes)
            same = observe(position)
            assert np.array_equal(planes, same["observation"])
            assert np.array_equal(mask, same["action_mask"])
            seen.add(position)
    assert Position.parse("44") in seen
    assert len(seen) > 50


@pytest.mark.parametrize("reuse", [True, False])
def test_new_weights_start_a_new_search(reuse):
    class Network:
        favourite = 0

        def __call__(self, observations, masks):
            return 9.0 * np.eye(7)[np.full(len(masks), self.favourite)]

    network = Network()
    agent = PUCT(network, simulations=50, reuse=reuse)
    for network.favourite in (0, 6, 2):
        position = Position.parse("44")
        assert agent.choose(position) == network.favourite
        network.favourite = (network.favourite + 1) % 6
        later = position.play(6).play(6)  # which the tree has
        assert agent.search(later) == PUCT(network, simulations=50, reuse=reuse).search(later)


def wavering(observations, masks):
    """An opinion on every position, of no sense."""
    keys = observations.reshape(len(masks), -1) @ np.arange(1.0, 85.0)
    return 2 * np.sin(keys[:, None] * np.arange(1, 8)), 0.6 * np.cos(keys)


def test_the_improved_choice_is_the_best_by_policy_and_value():
    agent, other = (PUCT(wavering, simulations=60, choice=c) for c in ("improved", "visits"))
    differing = 0
    for moves in ("", "4", "44", "12", "261", "4351", "77123", "3434"):
        position = Position.parse(moves)
        seen = observe(position)
        planes, masks = seen["observation"][None], seen["action_mask"][None]
        result, most_tried = agent.search(position), other.search(position)
        logits, weight = wavering(planes, masks)[0][0], (50 + max(result.visits)) / 10
        tried = np.flatnonzero(result.visits)
        scores = {c: logits[c] + weight * (result.values[c] or 0.0) for c in tried}
        assert result.visits == most_tried.visits
        assert result.column == max(scores, key=scores.__getitem__)
        differing += result.column != most_tried.column
    assert differing


@pytest.mark.parametrize(("c", "heeded"), [(0, False), (1, True)])
def test_a_policy_counts_by_its_weight(c, heeded):
    def visits(function):
        return PUCT(function, simulations=60, c=c).search(Position.parse("44")).visits

    def without_policy(observations, masks):
        return np.zeros(masks.shape), wavering(observations, masks)[1]

    assert (visits(wavering) != visits(without_policy)) == heeded


def priors(agent, node):
    return np.array([agent._tree[child]["prior"] for child in agent._children(node)], np.float64)


def test_dirichlet_noise_is_mixed_only_into_the_root():
    plain, noisy = (
        PUCT(edge, simulations=9, batch=1, dirichlet_fraction=fraction, dirichlet_alpha=0.5)
        for fraction in (0.0, 0.25)
    )
    plain.search(Position())
    drawn = []
    for seed in range(300):
        noisy.reset(seed)
        noisy.search(Position())
        drawn.append((priors(noisy, 0) - 0.75 * priors(plain, 0)) / 0.25)
        for child in noisy._children(0):
            below = priors(noisy, child)
            assert len(below) == 0 or np.array_equal(
                below, priors(plain, 0)
            )  # only the policy's priors
    assert np.allclose(np.sum(drawn, axis=1), 1, atol=1e-5)
    assert np.min(drawn) > -1e-6
    assert np.mean(drawn, axis=0) == pytest.approx([1 / 7] * 7, abs=0.04)
    assert np.var(drawn, axis=0) == pytest.approx([6 / 49 / 4.5] * 7, abs=0.012)


def test_the_seed_repeats_the_noise():
    agent = PUCT(wavering, simulations=60, dirichlet_fraction=0.5, reuse=False)
    assert not agent.deterministic

    def visits(seed):
        agent.reset(seed)
        return [agent.search(Position.parse(moves)).visits for moves in ("", "44", "")]

    first = visits(1)
    assert visits(1) == first
    assert first[0] == first[2]  # a position's noise does not depend on those searched before
    assert visits(2) != first
    for bad in (-0.1, 1.1):
        with pytest.raises(InvalidOption, match="dirichlet_fraction="):
            PUCT(wavering, dirichlet_fraction=bad)


def forced(position):
    """Whether all moves but one lose to the next disc."""
    score, cells = tactical_status(position.mine, position.theirs)
    return score == OPEN and cells & (cells - 1) == 0


@pytest.mark.parametrize("reuse", [False, True])
def test_forced_moves_are_followed_without_a_question(reuse):
    count = 0
    for moves in reference.random_games(seed=922, count=12, least=12, most=25):
        root = Position.parse(moves)
        asked = {}
        for follow in (False, True):
            recorder = Recorder()
            result = PUCT(recorder, simulations=60, follow=follow, reuse=reuse).search(root)
            assert result.proven is not None or result.nodes == 60
            assert result.proven is not None or 60 <= sum(result.visits) <= 60 + follow
            planes = [planes for observations, _ in recorder.asked for planes in observations]
            asked[follow] = [forced(p) for p in map(position_from, planes) if p != root]
        count += sum(asked[0])
        assert not any(asked[1]), moves
    assert count > 50


@pytest.mark.parametrize(("follow", "value"), [(False, -0.25), (True, 0.25)])
def test_a_value_is_of_whoever_moves_where_it_was_asked(follow, value):
    def ahead(planes, masks):
        return np.eye(7)[[3] * len(masks)], np.full(len(masks), 0.25)

    # Column 4 threatens 3456, which has to be answered: it is the first player's turn again.
    agent = PUCT(ahead, simulations=1, follow=follow, policy="logits")
    result = agent.search(Position.parse("3161"))
    assert (result.column, result.value) == (3, value)
    assert result.depth == 1 + follow


def test_a_descent_ends_at_a_proven_node():
    position, tree = Position.parse("44"), np.zeros(3, NODE)
    search, leaf = np.zeros((), SEARCH)[()], np.zeros((), LEAF)[()]
    search["root"], search["exploration"] = (position.mine, position.theirs), 1.5
    tree[0] = (0.0, 2, 1, 1.0, -1, 1, OPEN)
    tree[1] = (1.0, 2, 2, 1.0, 3, 1, 5)
    tree[2] = (0.0, 1, 0, 1.0, 3, 0, OPEN)
    descend(tree, search, leaf, PUCT_ROOT)
    assert (leaf["depth"], leaf["path"][1]) == (1, 1)


@pytest.mark.parametrize("batch", [1, 5])
def test_with_an_exact_value_function_no_move_gives_anything_away(batch):
    solver = Solver(book=None, table_mb=4)

    def exact(observations, masks):
        values = [np.sign(solver.score(position_from(planes))) for planes in observations]
        return np.zeros(masks.shape), np.array(values, np.float64)

    agent = PUCT(exact, simulations=60, batch=batch)
    count = 4 if config.DISABLE_JIT else 60
    for moves in reference.random_games(seed=920, count=count, least=30, most=39):
        position = Position.parse(moves)
        score = solver.scores(position)[agent.choose(position)]
        assert np.sign(score) == solver.sign(position), moves


@pytest.mark.parametrize("batch", [1, 7])
def test_no_virtual_loss_is_left_behind(batch):
    """Every node's sums are those of its own answer and its children's: only the tree shows it."""
    agent = PUCT(edge, simulations=150, batch=batch)
    agent.search(Position())
    tree = agent._tree
    checked = 0
    for node in range(agent._search["used"][0]):
        children = agent._children(node)
        if tree[node]["proof"] != OPEN or not children:
            continue
        below = [tree[child] for child in children]
        assert all(child["proof"] == OPEN for child in below)
        assert tree[node]["visits"] == 1 + sum(child["visits"] for child in below)
        own = 0.25  # what edge gives, from the view of the side that moved here
        assert tree[node]["total"] == pytest.approx(own - sum(c["total"] for c in below))
        assert sum(child["prior"] for child in below) == pytest.approx(1.0)
        checked += 1
    assert checked >= 100
    assert (tree[: agent._search["used"][0]]["first"] >= 0).all()


@pytest.mark.parametrize("function", ["net.py:Net:weights=net.pt", "net.py:Net,weights=net.pt"])
def test_a_network_of_a_file_has_no_options(function):
    with pytest.raises(InvalidOption, match=r"is not a name; .* a network has no options"):
        agents.make(f"puct:{function},simulations=20")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n: (np.zeros((n, 6)), np.zeros(n)), r"shape \(1, 6\): expected \(1, 7\)"),
        (lambda n: np.zeros((n + 1, 7)), r"shape \(2, 7\): expected \(1, 7\)"),
        (lambda n: (np.zeros((n, 7)), np.zeros((n, 1))), r"shape \(1,\)"),
        (lambda n: (np.zeros((n, 7)), np.full(n, 3.0)), "from -1 to 1"),
        (lambda n: (np.zeros((n, 7)), np.full(n, np.nan)), r"the values \[nan\]"),
        (lambda n: (np.zeros((n, 7)), np.array(["1"] * n)), r"the values .*'1'"),
        (lambda n: np.full((n, 7), np.nan), "answered nan"),
        (lambda n: np.full((n, 7), np.inf), "logits .*inf"),
        (lambda n: np.full(n, 3), "expected logits, which a search needs"),
        (lambda n: np.full(n, 0.5), "expected legal columns"),
        (lambda n: None, "answered None"),
        (lambda n: ("abc", np.zeros(n)), r"answered \('abc'"),
    ],
)
def test_an_error_names_an_answer_that_no_search_can_use(answer, words):
    """The error is the same for every network, with or without a search."""
    agent = PUCT(lambda observations, masks: answer(len(masks)), simulations=5)
    with pytest.raises(EngineFault, match=f"<lambda> .*{words}"):
        agent.choose(Position())


def test_a_policy_of_zeros_counts_legal_columns_equally():
    """As of a network that is sure of a full column."""
    items = [
        PUCT(
            lambda planes, masks, row=row: np.tile(row, (len(masks), 1)), 60, policy=policy
        ).search(Position.parse("111111"))
        for row, policy in (
            (np.eye(7)[0], "probabilities"),
            (np.full(7, -np.inf), None),
            (np.zeros(7), None),
        )
    ]
    assert items[0] == items[1] == items[2]


def test_the_policy_is_completed_as_in_the_paper():
    """By the formulas of section 5 and appendix D, of a root with four children, two visited."""
    priors, visits, means = (0.4, 0.3, 0.2, 0.1), (3, 1, 0, 0), (0.5, -0.2, 0.0, 0.0)
    tree = np.zeros(5, NODE)
    tree[0]["first"], tree[0]["children"] = 1, 4
    for child, (prior, count, mean) in enumerate(zip(priors, visits, means, strict=True), 1):
        node = (child + 1, prior, count, mean * count, OPEN)
        for name, value in zip(("column", "prior", "visits", "total", "proof"), node, strict=True):
            tree[child][name] = value
    logits, values = np.zeros(7), np.zeros(7)
    complete_by_mixed_value(tree, 0.25, logits, values)
    mixed = (0.25 + 4 / (0.4 + 0.3) * (0.4 * 0.5 + 0.3 * -0.2)) / (1 + 4)
    assert values[2:6] == pytest.approx([0.5, -0.2, mixed, mixed])
    assert logits[2:6] == pytest.approx(np.log(priors) + (50 + 3) * 0.1 * values[2:6])
    assert np.isneginf(logits[[0, 1, 6]]).all()
