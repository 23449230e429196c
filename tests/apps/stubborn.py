"""Tools that nothing can stop but the end of their process, and one that behaves."""

import itertools
import os
import threading
from pathlib import Path

from receiver import Receiver

app = Receiver("stubborn")


@app.tool(isolate=True)
def spin(file: str) -> int:
    """Counts for ever in C, in a process of its own, whose id it writes into ``file``."""
    Path(file).write_text(str(os.getpid()))
    return sum(itertools.count())


@app.tool(timeout=0.2)
def hang() -> None:
    """Blocks a thread for ever."""
    threading.Event().wait()


@app.tool
def pid() -> int:
    """Says in which process it runs."""
    return os.getpid()
