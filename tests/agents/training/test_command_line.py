"""What the training scripts share: their command line, and the folder that one process keeps."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

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


def test_help_has_the_text_of_the_script_and_of_every_argument(capsys):
    def train(out, steps=5, seed=1, *, boards=3): ...

    with pytest.raises(SystemExit):
        run(train, "First line.\n\n    a command 100%", argv=["--help"])
    shown = capsys.readouterr().out
    assert "First line.\n\n    a command 100%\n" in shown
    for words in ("out ", "--steps STEPS ", "--seed SEED "):
        assert f"  {words} " in shown
    assert "of weights and games (default 1)" in shown
    assert "--boards" not in shown


def test_an_interrupt_says_that_the_same_command_goes_on(capsys):
    def train(out):
        raise KeyboardInterrupt

    assert run(train, "doc", argv=["--out", "folder"], resumes=True) == 130
    assert "the same command goes on" in capsys.readouterr().err


SCRIPTS = {  # each, what it needs, and a good command without the options
    "training.alphazero": ("torch", "--out=new"),
    "training.examples.sb3_ppo": ("sb3_contrib", "new"),
    "training.selfplay": ("torch", "--out=new"),
    "training.examples.torch_ppo": ("torch", "new"),
}
EXTRAS = {
    "alphazero": "torch",
    "selfplay": "torch",
    "examples.sb3_ppo": "sb3",
    "examples.torch_ppo": "torch",
}
ALL = {*SCRIPTS}
FOLDERS = {"training.alphazero", "training.selfplay"}
STEPPED = ALL - FOLDERS
DEVICES = {"training.alphazero", "training.examples.torch_ppo"}
WRONG = [
    (ALL, "{} --seed -1", "--seed=-1: expected an integer between 0 and"),
    (ALL, "{} --seed 4294967296", "--seed=4294967296: expected an integer between 0 and"),
    (ALL, "{} --seed abc", "argument --seed: invalid int value: 'abc'"),
    (ALL, "{} --other 1", "unrecognized arguments: --other 1"),
    (ALL, "", "the following arguments are required"),
    (STEPPED, "{} --steps 0", "--steps=0: expected an integer between 1 and"),
    (STEPPED, "folder.png", "expected the name of a file that can be written"),
    (STEPPED, "file.png/new.png", "file.png"),
    (FOLDERS, "--out file.png", "File exists"),
    (FOLDERS, "--out /proc/none", "/proc/none"),
    (STEPPED, "/proc/none/new.png", "/proc/none"),
    ({"training.selfplay"}, "{} --minutes 0", "minutes=0.0: expected a number above 0"),
    ({"training.selfplay"}, "{} --minutes nan", "minutes=nan: expected a number above 0"),
    ({"training.alphazero"}, "{} --positions 0", "--positions=0: expected an integer between 1"),
    (DEVICES, "{} --device nowhere", "device='nowhere': "),
    (DEVICES, "{} --boards 0", "--boards=0: expected an integer between 1 and"),
]


@pytest.mark.parametrize(("script", "extra"), EXTRAS.items())
def test_a_script_names_the_extra_it_needs(script, extra, monkeypatch, capsys):
    needed, *_ = SCRIPTS[f"training.{script}"]
    for name in [needed, *(name for name in sys.modules if name.startswith(f"{needed}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    module = f"c4env.agents.training.{script}"
    monkeypatch.delitem(sys.modules, module, raising=False)  # runpy warns
    with pytest.raises(SystemExit) as left:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (2, "")
    assert f"pip install 'c4env[{extra}]'" in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.filterwarnings("ignore")  # the libraries' own
@pytest.mark.parametrize("script", SCRIPTS)
def test_bad_input_is_answered_in_a_line(script, tmp_path, monkeypatch, capsys):
    needed, *good = SCRIPTS[script]
    pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    Path("file.png").write_text("")
    cases = [(words, said) for scripts, words, said in WRONG if script in scripts]
    for words, said in cases:
        arguments = words.format(" ".join(good)).split()
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        with pytest.raises(SystemExit) as left:
            runpy.run_module(f"c4env.agents.{script}", run_name="__main__", alter_sys=True)
        printed = capsys.readouterr()
        assert left.value.code == 2, words
        assert printed.err.startswith(f"python -m c4env.agents.{script}: "), words
        assert said in printed.err
        assert "Errno" not in printed.err
        assert (printed.err.count("\n"), printed.out) == (1, ""), words
        assert sorted(os.listdir()) == ["file.png", "folder.png"], words


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
