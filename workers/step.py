"""One call of a step: how later runs know it, and how its result is written and read."""

import asyncio
import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from receiver.protocol.errors import ToolError
from receiver.tools.content import ANYTHING, to_json
from receiver.tools.function import is_async
from receiver.tools.schema import adapter_of, signature_of
from workers.ending import Ending
from workers.threads import Threads


class Step:
    """``function`` called as step ``name``.  ``digest`` stands for its arguments; TypeError if they aren't JSON."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        threads: Threads,
    ) -> None:
        self.name = name
        self.digest = _digest(name, args, kwargs)
        self._function = function
        self._work = partial(function, *args, **kwargs)
        self._threads = threads
        self._adapter = _adapter_of(function)

    async def produce(self) -> bytes:
        """Calls it; returns the result as JSON.  Raises what it raises, and ToolError for a result that can't be."""
        value = self._fit(self._adapter.validate_python, await self._run())
        return to_json(value, self._adapter, f"step {self.name!r}")[1].encode()

    def read(self, text: str | bytes) -> Any:
        """The value of what ``produce`` returned."""
        return self._fit(self._adapter.validate_json, text)

    async def _run(self) -> Any:
        """Whatever it is, the event loop goes on meanwhile."""
        if is_async(self._function):
            return await self._work()
        running: asyncio.Future[Ending] = self._threads.run(f"step {self.name}", self._work)
        try:
            await asyncio.wait({running})
        finally:
            if not running.done():
                self._threads.abandon(running)
        value = running.result().unwrap()
        return await value if inspect.isawaitable(value) else value

    def _fit(self, validate: Callable[[Any], Any], value: Any) -> Any:
        try:
            return validate(value)
        except ValidationError as error:
            raise ToolError(f"What step {self.name!r} returned is not what its annotation says") from error


def _adapter_of(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """What reads and writes what ``function`` returns: by its annotation, or any JSON value where it has none."""
    annotation = signature_of(function).return_annotation
    return ANYTHING if annotation is inspect.Signature.empty else adapter_of(annotation)


def _digest(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    try:
        plain = to_json([_in_order(args), _in_order(kwargs)])[0]
    except ToolError as error:
        raise TypeError(
            f"the arguments of step {name!r} can't be written as JSON, by which later runs know them; "
            "let the function hold what is the same in every run"
        ) from error
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _in_order(value: Any) -> Any:
    """Sets have another order in every process."""
    if isinstance(value, set | frozenset):
        return sorted(map(_in_order, value), key=repr)
    if isinstance(value, dict):
        return {key: _in_order(item) for key, item in value.items()}
    return [*map(_in_order, value)] if isinstance(value, list | tuple) else value
