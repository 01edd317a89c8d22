"""Programs that answer lines: what goes wrong is said, and none outlives its owner."""

import os
import signal
import time

import pytest

from c4env.agents.adapters.process import LONGEST_LINE, LineProcess
from c4env.errors import EngineFault, LateAnswer
from tests.helpers.engines import answering, lives, python, wait_for_the_end
from tests.helpers.processes import start_python

# Says its own process and that of a child.
FAMILY = """
import os, subprocess, sys, time
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
pids = [os.getpid()]
pids.append(subprocess.Popen(sleep).pid)
for line in sys.stdin:
    print(*pids, flush=True)
"""


def family(folder):
    return python(folder, FAMILY).split()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("raise KeyError(7)", "ended with exit code 1: KeyError: 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by signal SIGSEGV"),
        ("print('x' * (1 << 17), end='', flush=True); time.sleep(60)", f"more than {LONGEST_LINE}"),
        ("sys.stdout.close(); import os; os.close(1); time.sleep(60)", "closed its output"),
    ],
)
def test_how_a_program_ended_is_said(tmp_path, statements, words):
    process = LineProcess(answering(tmp_path, statements).split(), "it")
    with pytest.raises(EngineFault, match=rf"^it .*{words}"):
        process.ask("44", 30)


def test_what_was_not_asked_for_is_a_fault(tmp_path):
    process = LineProcess(answering(tmp_path, "print('4\\n5', flush=True)").split(), "it")
    assert process.ask("", 20) == "4"
    while process._answers.empty():  # the second line comes with the first, or just after it
        time.sleep(0.01)
    with pytest.raises(EngineFault, match=r"wrote '5.*' without a request"):
        process.ask("", 20)


def test_a_hang_ends_with_the_time_and_so_does_the_program(tmp_path):
    process = LineProcess(family(tmp_path), "it")
    pids = [int(pid) for pid in process.ask("", 20).split()]
    assert all(map(lives, pids))
    os.kill(pids[0], signal.SIGSTOP)
    with pytest.raises(LateAnswer, match=r"it gave no answer within 0.1 s"):
        process.ask("", 0.1)
    process.close()
    assert wait_for_the_end(pids) == []


def test_a_talker_on_stderr_neither_blocks_nor_gains_time(tmp_path):
    said = "sys.stderr.write('word ' * 100_000); print(4, flush=True)"
    process = LineProcess(answering(tmp_path, said).split(), "it")
    assert process.ask("", 30) == "4"
    process.close()
    process.close()
    endless = "\n    while True: sys.stderr.write('word\\n')"
    with pytest.raises(LateAnswer):
        LineProcess(answering(tmp_path, endless).split(), "it").ask("", 0.5)


OWNER = """
import sys, time
from c4env.agents.adapters.process import LineProcess
process = LineProcess(sys.argv[2:], "it")
print(process.ask("", 20), flush=True)
if sys.argv[1] == "kill":
    time.sleep(600)
raise SystemExit(1)
"""


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_no_program_outlives_a_process_that_dies(tmp_path, how):
    """A killed process kills nothing, but the program's input ends."""
    with start_python("-c", OWNER, how, *family(tmp_path)) as owner:
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert len(pids) == 2
        if how == "kill":
            owner.kill()
    assert wait_for_the_end(pids[:1]) == []
    if how == "kill":
        os.kill(pids[1], signal.SIGKILL)
    assert wait_for_the_end(pids) == []


def test_a_message_quotes_output_with_its_control_characters_escaped():
    assert str(EngineFault("é\x1b[2J\n")) == "é\\x1b[2J\\n"
