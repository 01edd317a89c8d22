"""What the trainings share: their command line, and the folder that one process holds."""

import argparse

import pytest

from c4env.agents.selfplay.folder import claim_folder, run
from c4env.errors import InvalidOption, Unwritable
from tests.helpers.processes import start_python


def test_bad_input_is_one_line_and_an_interrupt_leaves_with_130(capsys):
    parser = argparse.ArgumentParser("script")
    parser.add_argument("--steps", type=int)

    def act(steps):
        if steps < 1:
            raise InvalidOption(f"steps={steps}: expected at least 1")
        raise KeyboardInterrupt

    assert run(act, parser, "--steps", "0") == 2
    assert capsys.readouterr().err == "script: steps=0: expected at least 1\n"
    assert run(act, parser, "--steps", "1") == 130


def test_a_folder_goes_on_with_the_same_settings_alone(tmp_path):
    for _ in range(2):
        with claim_folder(tmp_path / "new", "seed 1\n"):
            pass
    with pytest.raises(InvalidOption, match="a training with seed 1: expected seed 2"):
        claim_folder(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_bytes(b"\xff")
    with pytest.raises(InvalidOption, match="expected seed 2"):
        claim_folder(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_text("see")  # as a kill may leave it
    with claim_folder(tmp_path / "new", "seed 2\n"):
        assert (tmp_path / "new" / "settings.txt").read_text() == "seed 2\n"


def test_a_folder_takes_more_settings_and_keeps_them(tmp_path):
    for settings in ("seed 1\n", "seed 1\nboards 2\n"):
        with claim_folder(tmp_path, settings):
            pass
    with pytest.raises(InvalidOption, match=r"with seed 1 boards 2: expected seed 1 boards 3"):
        claim_folder(tmp_path, "seed 1\nboards 3\n").__enter__()


def test_a_folder_is_held_by_one_process_until_it_is_killed(tmp_path):
    script = (
        "import pathlib, sys, time\nfrom c4env.agents.selfplay.folder import claim_folder\n"
        "with claim_folder(pathlib.Path(sys.argv[1]), 'seed 1\\n'):\n"
        "    print('held', flush=True)\n    time.sleep(60)\n"
    )
    with start_python("-c", script, tmp_path) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with pytest.raises(Unwritable, match="is locked by another process"):
                claim_folder(tmp_path, "seed 1\n").__enter__()
        finally:
            process.kill()
    with claim_folder(tmp_path, "seed 1\n"):
        pass
