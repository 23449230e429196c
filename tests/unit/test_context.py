import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from receiver.context import Context, SyncContext
from receiver.principal import ANONYMOUS, Principal
from receiver.protocol.elicitation import Elicited, ElicitedLink
from receiver.protocol.loglevel import LogLevel


class Recording(Context):
    """A Context that keeps what it is told."""

    task_id = None
    run = 1
    attempt = 1
    state = None
    principal: Principal = ANONYMOUS
    cancelled = False

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    @property
    def sync(self) -> SyncContext:
        loop = asyncio.get_running_loop()
        return SyncContext(self, lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result())

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.told.append(("progress", done, total, message))

    async def status(self, message: str) -> None:
        self.told.append(("status", message))

    async def log(self, level: LogLevel, data: Any) -> None:
        if level not in ("info",):
            raise ValueError(level)
        self.told.append(("log", level, data))

    async def close_stream(self) -> None:
        self.told.append(("close_stream",))

    async def resource_updated(self, uri: str) -> None:
        self.told.append(("resource_updated", uri))

    async def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    async def sleep(self, seconds: float) -> None:
        self.told.append(("sleep", seconds))

    async def elicit(
        self, message: str, form: type[BaseModel] | Mapping[str, Any], *, as_task: bool = False
    ) -> Elicited:
        self.told.append(("elicit", message, form, as_task))
        return Elicited("accept", {"pages": 3})

    async def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> ElicitedLink:
        self.told.append(("elicit_url", message, url, as_task))
        return ElicitedLink("decline", elicitation_id="e1")

    async def elicitation_complete(self, elicitation_id: str) -> None:
        self.told.append(("elicitation_complete", elicitation_id))

    async def sample(
        self, messages: str | Sequence[Mapping[str, Any]], max_tokens: int, *, as_task: bool = False, **params: Any
    ) -> dict[str, Any]:
        self.told.append(("sample", messages, max_tokens, as_task, params))
        return {"model": "a model"}


async def test_a_plain_function_in_a_thread_does_what_an_async_one_does() -> None:
    context = Recording()
    sync = context.sync

    def work() -> None:
        sync.progress(1)
        sync.progress(2, total=3, message="half")
        sync.status("nearly")
        sync.log("info", {"n": 1})
        sync.close_stream()
        sync.resource_updated("test://a")
        assert sync.step("add", lambda one, other: one + other, 1, other=2) == 3
        sync.sleep(7)
        assert sync.elicit("How many?", {"type": "object"}) == Elicited("accept", {"pages": 3})
        sync.elicit("How many?", {"type": "object"}, as_task=True)
        assert sync.elicit_url("Here?", "https://a.example/") == ElicitedLink("decline", elicitation_id="e1")
        sync.elicitation_complete("e1")
        assert sync.sample("Write", 10, temperature=0, as_task=True) == {"model": "a model"}

    await asyncio.to_thread(work)
    assert context.told == [
        ("progress", 1, None, None),
        ("progress", 2, 3, "half"),
        ("status", "nearly"),
        ("log", "info", {"n": 1}),
        ("close_stream",),
        ("resource_updated", "test://a"),
        ("sleep", 7),
        ("elicit", "How many?", {"type": "object"}, False),
        ("elicit", "How many?", {"type": "object"}, True),
        ("elicit_url", "Here?", "https://a.example/", False),
        ("elicitation_complete", "e1"),
        ("sample", "Write", 10, True, {"temperature": 0}),
    ]


async def test_a_refusal_reaches_the_thread() -> None:
    sync = Recording().sync
    with pytest.raises(ValueError, match="debug"):
        await asyncio.to_thread(sync.log, "debug", None)


def test_a_context_is_made_by_a_worker_only() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Context()  # type: ignore[abstract]
