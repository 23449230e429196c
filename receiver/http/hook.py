"""The function of a Receiver's author that says who asks."""

import asyncio
import inspect
import traceback
from collections.abc import Mapping

import structlog

from receiver.principal import Authenticate, Principal

log = structlog.get_logger(__name__)


class Hook:
    """Calls ``authenticate``: on the event loop if it is async, in a thread if not."""

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate
        self._is_async = any(map(inspect.iscoroutinefunction, (authenticate, type(authenticate).__call__)))

    async def identify(self, headers: Mapping[bytes, bytes]) -> Principal | None:
        """The principal of a request; None where the function says so, fails, or returns nobody in particular."""
        readable = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        try:
            found = await self._call(readable)
        except Exception as error:
            # Its text, and its traceback with it, may quote the credentials.
            where = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            log.error("authenticate_failed", error=type(error).__name__, at=where[-3:])
            return None
        if found is None or (isinstance(found, Principal) and not found.is_anonymous):
            return found
        # One that is nobody would be the same for all who are: they would list each other's tasks (T-88).
        log.error("authenticate_failed", error="it has to return a Principal that is somebody, or None")
        return None

    async def _call(self, headers: Mapping[str, str]) -> object:
        if self._is_async:
            return await self._authenticate(headers)  # type: ignore[misc] # as its kind says
        found = await asyncio.to_thread(self._authenticate, headers)
        return await found if inspect.isawaitable(found) else found
