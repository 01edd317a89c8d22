"""What the scripts share: their command line."""

from __future__ import annotations

from agents.training import run


def test_the_arguments_reach_the_training_and_its_mean_is_printed(capsys):
    asked = []

    def train(out, steps=5, seed=0):
        asked.append((out, steps, seed))
        return 0.5

    run(train, "doc", "mean", ["model"])
    run(train, "doc", argv=["model", "--steps", "7", "--seed", "3"])
    assert asked == [("model", 5, 1), ("model", 7, 3)]
    assert capsys.readouterr().out == "mean: +0.50\n"
