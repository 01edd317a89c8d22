"""What the training scripts share: their command line, and the folder that one process keeps."""

from __future__ import annotations

import pytest

from c4env.agents.errors import InvalidValue
from c4env.agents.training.command_line import claimed, run
from c4env.errors import FileInUse
from tests.helpers.processes import start_python


def test_the_arguments_reach_the_training_and_its_mean_is_printed(capsys, tmp_path):
    asked = []

    def train(out, steps=5, seed=1, *, boards=3):
        asked.append((out, steps, seed, boards))
        return 0.5

    model = tmp_path / "new" / "model"
    assert run(train, "doc", "mean", [str(model)]) == 0
    assert run(train, "doc", argv=[str(model), "--steps", "7", "--seed", "3"]) == 0
    assert asked == [(model, 5, 1, 3), (model, 7, 3, 3)]
    assert capsys.readouterr().out == "mean: +0.50\n"


def test_a_folder_goes_on_with_the_same_settings_alone(tmp_path):
    for _ in range(2):
        with claimed(tmp_path / "new", "seed 1\n"):
            pass
    with pytest.raises(InvalidValue, match="a training with seed 1: expected seed 2"):
        claimed(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_bytes(b"\xff")
    with pytest.raises(InvalidValue, match="expected seed 2"):
        claimed(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_text("see")  # as a kill may leave it
    with claimed(tmp_path / "new", "seed 2\n"):
        assert (tmp_path / "new" / "settings.txt").read_text() == "seed 2\n"


def test_a_folder_is_held_by_one_process_until_it_is_killed(tmp_path):
    script = (
        "import pathlib, sys, time\nfrom c4env.agents.training.command_line import claimed\n"
        "with claimed(pathlib.Path(sys.argv[1]), 'seed 1\\n'):\n"
        "    print('held', flush=True)\n    time.sleep(60)\n"
    )
    with start_python("-c", script, tmp_path) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with pytest.raises(FileInUse, match="is locked by another process"):
                claimed(tmp_path, "seed 1\n").__enter__()
        finally:
            process.kill()
    with claimed(tmp_path, "seed 1\n"):
        pass
