"""The lifespan of the application in a worker process."""

import traceback
from contextlib import AsyncExitStack
from typing import Any

from receiver.protocol.errors import StartupError
from receiver.protocol.outcome import one_line
from receiver.receiver import Receiver


async def enter_lifespan(app: Receiver, stack: AsyncExitStack) -> Any:
    """What the lifespan yields, None without one; it ends with the stack.  Raises StartupError."""
    if app.lifespan is None:
        return None
    try:
        return await stack.enter_async_context(app.lifespan(app))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {one_line(str(error))} (in {place.filename}, line {place.lineno})"
        raise StartupError(f"the lifespan of {app.name!r} failed: {what}") from error
