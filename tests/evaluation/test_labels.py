import pytest

from c4env.evaluation.report.page import LABEL, labels
from c4env.evaluation.tables import width

SWEEP = [f"alphabeta:depth={d},heuristic={h}" for d in (2, 4, 6) for h in ("chain", "window")]


def test_a_sweep_shows_what_differs():
    short = labels(["random", *SWEEP, "greedy"])
    assert [short[name] for name in SWEEP[:3]] == [
        "depth=2,heuristic=chain", "depth=2,heuristic=window", "depth=4,heuristic=chain",
    ]  # fmt: skip
    assert (short["random"], short["greedy"]) == ("random", "greedy")
    assert [*labels(SWEEP[::2]).values()] == ["depth=2", "depth=4", "depth=6"]
    wide = [f"{name},order=historic" for name in SWEEP]
    assert labels(wide)[wide[0]] == "depth=2,heuristic=chain"
    assert labels([*wide, "alphabeta:depth=5"])[wide[3]] == "4,window,historic"
    engines = [f"exec:./engines/version-{n} --threads 4" for n in range(3)]
    assert [*labels(engines).values()] == ["version-0", "version-1", "version-2"]


@pytest.mark.parametrize("columns", [8, LABEL, 39])
def test_no_label_is_too_wide_and_no_two_are_alike(columns):
    names = [*(f"exec:./a/long/path/{i}/to/an/engine" for i in range(15)), "棋" * 30, "greedy"]
    names += [f"棋{'子' * n}:depth={n},order={'abc'[n]}" for n in range(3)]
    names += [*SWEEP, "depth=2,heuristic=chain"]  # a name that is the label of another
    short = labels(names, columns)
    assert list(short) == list(dict.fromkeys(names))
    assert len({*short.values()}) == len(short)
    assert max(map(width, short.values())) <= columns
    assert short["greedy"] == "greedy"
