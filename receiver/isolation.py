"""How a tool is kept apart from all others: in a process of its own, which can be killed and bounded."""

import re
from dataclasses import dataclass

UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?(KiB|MiB|GiB)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Isolation:
    """``memory``: what a run may allocate beyond what its process has when it begins: bytes, or text like ``"512MiB"``.

    None for no bound of ours.  It bounds the address space, and needs Linux.  TypeError and ValueError for what is no
    amount of memory.
    """

    memory: int | str | None = None

    def __post_init__(self) -> None:
        if self.memory_bytes is not None and self.memory_bytes < 1:
            raise ValueError(f"memory is a byte or more, not {self.memory!r}")

    @property
    def memory_bytes(self) -> int | None:
        """The bound in bytes."""
        if isinstance(self.memory, str):
            written = WRITTEN.fullmatch(self.memory)
            if written is None:
                raise ValueError(f"{self.memory!r} is not an amount of memory; write it like 64MiB or 1.5GiB")
            return round(float(written[1]) * UNITS[written[2]])
        if self.memory is not None and (isinstance(self.memory, bool) or not isinstance(self.memory, int)):
            raise TypeError(f"memory is a number of bytes or a string, not {self.memory!r}")
        return self.memory
