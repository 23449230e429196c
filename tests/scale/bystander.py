"""Another client, in a process of its own, who asks for a task every now and then and writes down how long it took.

In its own process, since a loop that reads ten thousand streams would be slow to notice an answer.
"""

import asyncio
import sys
import time

from ops.bench.requestor import Requestor, Target, Unexpected
from tests.processes import Child

PAUSE_SECONDS = 0.02
BEGUN = "asking"


class Bystander(Child):
    """One who asks the node at ``url``, as who has ``token``, for a task of ``tool``, until it is killed."""

    def __init__(self, url: str, token: str, tool: str) -> None:
        super().__init__([sys.executable, "-m", "tests.scale.bystander", url, token, tool])
        self.wait_for_log(BEGUN)

    def since(self, begun: float) -> list[float]:
        """How many seconds each answer took that was asked for since a moment of ``time.time``."""
        *lines, _ = self.log.split("\n")
        pairs = [line.split() for line in lines if line != BEGUN]
        return [float(took) for at, took in pairs if float(at) >= begun]


async def _ask(url: str, token: str, tool: str) -> None:
    """Asks for ever; a store that is away is no answer."""
    requestor = await Requestor.open(Target(f"{url}/mcp", tool, {}, token))
    await requestor.create()
    print(BEGUN)
    while True:
        begun, clock = time.time(), time.perf_counter()
        try:
            await requestor.get()
            print(f"{begun:.6f} {time.perf_counter() - clock:.6f}")
        except Unexpected:
            pass
        await asyncio.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    asyncio.run(_ask(*sys.argv[1:]))
