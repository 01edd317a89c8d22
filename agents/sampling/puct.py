"""PUCT: AlphaZero's tree search with a policy and value function and with proofs.

    agents.make("puct:learned,simulations=200")

Source: Silver and others, "A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play", 2018.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import numpy as np

from c4env.agents.making.networks.network import Network, as_network, import_network
from c4env.agents.making.options import (
    Megabytes,
    Movetime,
    Policy,
    Range,
    Share,
    Simulations,
    validate_args,
)
from c4env.agents.sampling.descent import LEAF, PUCT_ROOT, complete_by_mixed_value, search
from c4env.agents.sampling.tree import OPEN, TreeAgent, TreeResult
from c4env.arrays import Float64s, Int64s
from c4env.geometry import IS_STANDARD
from c4env.position import Position
from c4env.rules import COLUMNS

LEARNED: Final = "learned"
UNIFORM: Final = "uniform"
SELFPLAY: Final = "selfplay:"


def uniform(observations: Any, masks: Any) -> tuple[Float64s, Float64s]:
    """Return equal logits for all columns, and values of 0."""
    return np.zeros(masks.shape), np.zeros(len(masks))


uniform.deterministic = True  # type: ignore[attr-defined]  # as a network declares it


def network_of(function: str | Callable[..., Any], policy: str | None) -> Network:
    """Return the network of a name, a path or a function, as :func:`as_network` does."""
    source: Any = function
    if function == LEARNED:
        from c4env.agents.learned import shipped

        source, policy = shipped(), policy or "logits"
    elif function == UNIFORM:
        source = uniform
    elif isinstance(function, str) and function.startswith(SELFPLAY):
        # By name, since self-play is built on this package.
        trained = importlib.import_module("c4env.agents.selfplay.convnet")
        source = trained.Evaluator.load(function.removeprefix(SELFPLAY))
        policy = policy or "logits"
    elif isinstance(function, str):
        who = f"puct: function={function!r}"
        names = f"{LEARNED}, {UNIFORM}, selfplay:DIR or FILE.py:NAME"
        source = import_network(function, who, names)
    return as_network(source, policy)


class PUCT(TreeAgent):
    """Plays by tree search with a policy and value function.

    Args:
        function: learned, uniform, selfplay:DIR or module:function. ``learned`` is the network that
            ships with the package, for 6x7x4. ``uniform``, the default on other boards, gives all
            columns equal priors and every undecided position the value 0, so that only proofs lead
            the search. ``selfplay:DIR`` is a network of ``c4env.agents.selfplay.train``. Any other
            function is your own network (:mod:`c4env.agents.making.networks.network`) or its import
            path. Your network counts as deterministic only if its attribute ``deterministic`` is
            True. If a network gives no values, every undecided position counts 0.
        simulations: simulations for each move (400 without a movetime).
        c: weight of the policy against values, which are -1 to 1.
        policy: logits or probabilities, what the function gives. None means logits, and a policy
            that looks like probabilities is refused. Full columns are ignored.
        batch: leaves to evaluate at a time. Smaller batches err less and take longer.
        choice: visits (the most visited column) or improved (the best by policy and value).
            Gumbel searches use the rule ``improved``.
        follow: follow forced moves without an evaluation. Where all moves but one lose at once, the
            search evaluates the position after that move. With this option the search errs less.
        root_temperature: a value above 1 flattens the policy at the root. Probabilities are raised
            to the power 1 / ``root_temperature``. With a network of self-play and 200 simulations,
            a flatter policy usually makes the search err less.
        dirichlet_fraction: share of Dirichlet noise in the policy at the root, as in AlphaZero's
            self-play: a game tries columns that the policy dislikes. :meth:`reset` seeds the noise.
        dirichlet_alpha: parameter of the Dirichlet distribution; smaller values favour few columns.
        reuse: keep the tree from move to move. See :class:`TreeAgent`.
        tree_mb: memory of the tree, at most.
    """

    default_simulations = 400

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self._network.deterministic and not (
            self.reuse or self.movetime or self.dirichlet_fraction
        )

    @validate_args
    def __init__(
        self,
        function: str | Callable[..., Any] = LEARNED if IS_STANDARD else UNIFORM,
        simulations: Simulations | None = None,
        movetime: Movetime | None = None,
        c: Annotated[float, Range(0, 100)] = 1.5,
        policy: Policy = None,
        batch: Annotated[int, Range(1, 1024)] = 8,
        choice: Literal["visits", "improved"] = "visits",
        follow: bool = False,
        root_temperature: Annotated[float, Range(0.01, 100)] = 1.0,
        dirichlet_fraction: Share = 0.0,
        dirichlet_alpha: Annotated[float, Range(0.01, 100)] = 1.0,
        reuse: bool = True,
        tree_mb: Megabytes = 128,
    ) -> None:
        super().__init__(simulations, movetime, reuse, tree_mb)
        self.c = c
        self.choice = choice
        self.follow = follow
        self.root_temperature = root_temperature
        self.dirichlet_fraction = dirichlet_fraction
        self.dirichlet_alpha = dirichlet_alpha
        self.slice = 4 * batch
        self._network = network_of(function, policy)
        self._may_change = not isinstance(function, str)
        self._root_answer = b""
        self._leaves = np.zeros(batch, LEAF)

    def search(self, position: Position) -> TreeResult:
        """Return what :meth:`TreeAgent.search` does, without the tree of older weights."""
        if not self._may_change:
            return super().search(position)
        if self._root is not None and self._answer(self._root) != self._root_answer:
            self._root = self._result = None
        kept, result = self._result, super().search(position)
        if result is not kept:
            self._root_answer = self._answer(position)
        return result

    def _answer(self, position: Position) -> bytes:
        """Return the network's answer for a position; another answer shows that it has learned."""
        boards = np.array([[position.mine, position.theirs]])
        return b"".join(part.tobytes() for part in self._network.evaluate(boards))

    def _prepare(self, position: Position) -> None:
        self._search["exploration"], self._search["follow"] = self.c, self.follow
        self._search["loss"] = 1.0
        if not self._tree[0]["children"]:
            self._grow(1)  # outside the budget: gives the root its priors
        self._expand_root(position)  # needed if the root is decided at once
        if self._tree[0]["proof"] != OPEN:
            return
        children = self._children(0)
        priors = self._tree["prior"][children.start : children.stop]
        if self.root_temperature != 1.0:
            priors[:] = (priors / priors.max()) ** (1.0 / self.root_temperature)
            priors /= priors.sum()
        if self.dirichlet_fraction:
            generator = np.random.default_rng(self._seed_at(position))
            noise = generator.dirichlet(np.full(len(priors), self.dirichlet_alpha))
            priors += self.dirichlet_fraction * (noise - priors)

    def _grow(self, most: int) -> int:
        self._search["left"] = most
        tree = self._tree[np.newaxis]
        search(tree, self._search, self._leaves, self._evaluate, PUCT_ROOT, most, logits=False)
        return most - int(self._search["left"][0])

    def _evaluate(self, boards: Int64s) -> tuple[Float64s, Float64s]:
        logits, values = self._network.evaluate(boards)
        most = logits.max(axis=1, keepdims=True)
        # Where each legal column has the logit -inf, all weights are 0: the columns count equally.
        return np.exp(logits - most.clip(min=np.finfo(np.float64).min)), values

    def _chosen(self) -> int:
        if self.choice == "visits" or self._tree[0]["proof"] != OPEN:
            return super()._chosen()
        root, scores, values = self._tree[0], np.empty(COLUMNS), np.empty(COLUMNS)
        complete_by_mixed_value(self._tree, -root["total"] / root["visits"], scores, values)
        visited = [child for child in self._children(0) if self._value(child) is not None]
        return max(visited, key=lambda child: float(scores[self._tree[child]["column"]]))
