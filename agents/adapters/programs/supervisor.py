"""Runs a command, and ends it with everything it started when its owner leaves or dies.

A script, started as ``python -I -S supervisor.py PIPE COMMAND...``: it imports nothing of the
project, so it starts at once. PIPE is the number of a descriptor, the read end of a pipe
whose other end only the owner has. Nothing is ever written to it; it ends when the owner
closes its end, or dies, be it by ``kill -9``. The command talks to the owner directly: this
process only waits. Its exit code is the command's, or 128 plus the signal that ended it.

A signal to the process group reaches the command's children too. On Linux what left the group
is found as well, because orphans become children of this process (a "subreaper"), and should
this process be killed itself, the kernel kills the command.
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
    """Wait for the command or the owner to end, whichever is first; the exit code."""
    os.set_inheritable(owner, False)
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: 0
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signalled, signal_end = os.pipe()
    os.set_blocking(signal_end, False)
    signal.set_wakeup_fd(signal_end)  # before the fork, so that no child ends unnoticed
    signal.signal(signal.SIGCHLD, lambda *_: None)
    supervisor, child = os.getpid(), os.fork()
    if child == 0:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == supervisor:
            execute(command)
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the owner must see the command's streams end with the command
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
    """Turn into the command; returns when that is impossible, having said why on stderr."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, which the command is not
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())


def reap(options: int = os.WNOHANG) -> tuple[int, int]:
    """A child that ended and its exit code; zeros when there is none."""
    try:
        child, status = os.waitpid(-1, options)
    except ChildProcessError:
        return 0, 0
    return child, os.waitstatus_to_exitcode(status) if child else 0


def kill_all(group: int) -> None:
    """Kill the group and all that descends from here, until nothing is left."""
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        for child in children():
            os.kill(child, signal.SIGKILL)  # a zombie at worst: nobody else waits for it
        if reap(0) == (0, 0):
            return


def children() -> list[int]:
    """Children of this process by the process file system; none where there is no such thing."""
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = file.read().rpartition(b")")[2].split()[1]
            except OSError:  # it has just ended
                continue
            if int(parent) == os.getpid():
                found.append(int(entry))
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
