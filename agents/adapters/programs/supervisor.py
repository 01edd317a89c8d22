"""Run a command; end the command and its descendants when its owner closes a pipe or dies.

This is a script, ``python -I -S supervisor.py PIPE COMMAND...``. It imports nothing of the project,
so it starts fast. The owner is the process that starts the script. PIPE is the descriptor of the
read end of a pipe; only the owner has the write end, and nobody writes. The pipe closes when the
owner closes the write end or dies, even by ``kill -9``. The command talks to the owner directly;
this process only waits. The script's exit code is the command's exit code, or 128 plus the signal
that ended the command.

A signal to the process group reaches the command's children. On Linux, processes that left the
group are found too, because orphans become children of this process (a "subreaper"). If this
process is killed, the kernel kills the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def main(owner: int, command: list[str]) -> int:
    """Run the command until the command or its owner ends; return the exit code."""
    os.set_inheritable(owner, False)
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: 0
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signalled, signal_end = os.pipe()
    os.set_blocking(signal_end, False)
    signal.set_wakeup_fd(signal_end)  # set before the fork, to notice the end of every child
    signal.signal(signal.SIGCHLD, lambda *_: None)
    supervisor, child = os.getpid(), os.fork()
    if child == 0:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == supervisor:
            execute(command)
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # so that the command's streams end with the command
        os.dup2(nothing, stream)
    code = 128 + signal.SIGKILL
    while True:
        ready, _, _ = select.select([owner, signalled], [], [])
        if owner in ready:
            break
        os.read(signalled, 4096)
        ended = dict(iter(reap, (0, 0)))
        if child in ended:
            code = ended[child]
            break
    kill_all(child)
    return code if code >= 0 else 128 - code


def execute(command: list[str]) -> None:
    """Replace this process by the command; if that fails, print the reason and return."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these signals
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())


def reap(options: int = os.WNOHANG) -> tuple[int, int]:
    """Return the process id and exit code of a child that has ended; 0, 0 if no child has."""
    try:
        child, status = os.waitpid(-1, options)
    except ChildProcessError:
        return 0, 0
    return child, os.waitstatus_to_exitcode(status) if child else 0


def kill_all(group: int) -> None:
    """Kill a process group and all descendants of this process."""
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        for child in children():
            os.kill(child, signal.SIGKILL)  # still the child's id: only this process reaps it
        if reap(0) == (0, 0):
            return


def children() -> list[int]:
    """Return the ids of this process's children; an empty list except on Linux."""
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = file.read().rpartition(b")")[2].split()[1]
            except OSError:  # the process has just ended
                continue
            if int(parent) == os.getpid():
                found.append(int(entry))
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
