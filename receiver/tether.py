"""Ends a child process with its parent, also when the parent is killed: ``python tether.py PARENT_PID COMMAND...``.

Linux does so for a process that asks for it.  The child asks before it becomes the command: Python code that runs in
a child between fork and exec (``preexec_fn``) can deadlock, and a command that is not ours does not ask by itself.
Other systems have no such wish; there the command runs as it is.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def tether(command: Sequence[str]) -> list[str]:
    """``command``, so that it ends with this process: precisely, with the thread that starts it."""
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def end_with(parent: int) -> None:
    """Has this process, a child of ``parent``, end with it; ends it at once if that is too late."""
    if sys.platform == "linux":
        # SIGKILL, as everything here is made to survive it: a worker that is asked to stop would wait for its server.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def main(parent: int, command: list[str]) -> None:
    """Becomes ``command``."""
    end_with(parent)
    os.execvp(command[0], command)  # noqa: S606 - the command is ours


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
