"""What a call shows while it waits, on stderr: a progress bar on a terminal, lines elsewhere.

Nothing that a server says reaches the terminal with its control characters, or as markup.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from receiver.telemetry.logs import escape_text

LINE_LENGTH = 500  # characters of a line that is a message
STATUS_LENGTH = 60  # of one beside the bar
MOST = 1e15  # of anything
HELD_BACK = 1000  # lines, while something is asked


class Display:
    """``label`` stands beside the bar until the tool says something better."""

    def __init__(self, label: str) -> None:
        self.console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._columns = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self._bar = self._columns.add_task(one_line(label, STATUS_LENGTH), total=None)
        self._status = ""
        self._quiet = 0
        self._held: deque[str] = deque(maxlen=HELD_BACK)

    def __enter__(self) -> "Display":
        self._columns.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._columns.stop()

    def say(self, text: str) -> None:
        """A line; while something is asked it waits."""
        if self._quiet:
            self._held.append(text)
        else:
            self._print(text)

    def show_status(self, message: object) -> None:
        """What the task says of itself: beside the bar, or as a line where there is none."""
        if not isinstance(message, str) or message == self._status:
            return
        self._status = message
        self._columns.update(self._bar, description=one_line(message, STATUS_LENGTH))
        if not self.console.is_terminal:
            self.say(message)

    def show_progress(self, done: object, total: object, message: object) -> None:
        """How far the work is."""
        if _is_number(done):
            whole = total if _is_number(total) and total > 0 else None
            self._columns.update(self._bar, completed=done, total=whole)
        self.show_status(message)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Leaves the terminal to a question."""
        if not self._quiet:
            self._columns.stop()
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1
            if not self._quiet:
                while self._held:
                    self._print(self._held.popleft())
                self._columns.start()

    def _print(self, text: str) -> None:
        self.console.print(Text(one_line(text, LINE_LENGTH)), soft_wrap=True)


def one_line(text: str, length: int) -> str:
    """``text`` as a line that a terminal can be given."""
    line = escape_text(" ".join(text.split()))
    return line if len(line) <= length else f"{line[: length - 3]}..."


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a bar can show it: a server may send what is none, or too much for any arithmetic."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST
