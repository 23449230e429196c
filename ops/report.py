"""How a process says why it can't start: on stderr, or to the ``receiver dev`` that started it.

Several children of ``receiver dev`` may fail for one reason.  They tell it through a pipe, so that it is shown once.
"""

import os
import sys

VARIABLE = "_RECEIVER_REPORT_FD"  # without the prefix RECEIVER_, since it is no setting
_FD = os.environ.pop(VARIABLE, None)  # not for what a tool may start


def is_supervised() -> bool:
    """Whether a ``receiver dev`` started this process."""
    return _FD is not None


def complain(message: str) -> None:
    """Shows ``message`` as one line, or leaves that to the supervisor."""
    line = f"receiver: {' '.join(message.split())}\n"
    if _FD is None:
        print(line, end="", file=sys.stderr, flush=True)
    else:
        os.write(int(_FD), line.encode())


class Reports:
    """The supervisor's end of the pipe."""

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._shown: set[str] = set()

    def show(self) -> None:
        """Prints what came in; a line that was printed before is not printed again."""
        try:
            lines = os.read(self._read_end, 65536).decode(errors="replace").splitlines()
        except BlockingIOError:
            return
        for line in dict.fromkeys(lines):
            if line not in self._shown:
                print(line, file=sys.stderr, flush=True)
        self._shown.update(lines)

    def forget(self) -> None:
        """Lets lines that were shown be shown again."""
        self._shown.clear()
