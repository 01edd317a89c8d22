import numpy as np
import pytest

from c4env.agents.sampling.search import complete_by_mixed_value
from c4env.agents.sampling.tree import NODE, OPEN


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
