"""Lists of what an app has, in pages."""

from collections.abc import Iterable
from typing import Any, Protocol

import orjson

from receiver.dispatch import Answer
from receiver.methods.services import ServerCall, admission_of, session_of
from receiver.protocol.errors import InvalidCursor
from receiver.protocol.handshake import render_definition


class Listed(Protocol):
    """What stands in a list.  ``key`` tells it from all others there."""

    @property
    def key(self) -> str: ...

    def definition(self) -> dict[str, Any]: ...


async def list_page(call: ServerCall, member: str, listed: Iterable[Listed]) -> Answer:
    """A page of ``listed``, under the name ``member``."""
    services, revision, owner = call.services, session_of(call).revision, call.principal.owner
    items, start, cursor = list(listed), 0, call.params.get("cursor")
    if cursor is None:
        kind = call.method.partition("/")[0]
        await services.sessions.show_list(admission_of(call), kind, services.lists[kind])
    else:
        await services.sessions.touch(admission_of(call))
        start = _find_behind(items, services.cursors.decode(call.method, owner, cursor))
    end = start + services.settings.list_page_size
    result: dict[str, Any] = {member: [render_definition(item.definition(), revision) for item in items[start:end]]}
    if end < len(items):
        result["nextCursor"] = services.cursors.encode(call.method, owner, items[end - 1].key)
    return Answer(orjson.dumps(result))


def _find_behind(items: list[Listed], key: str) -> int:
    """Where the item behind that of ``key`` stands, which is perhaps not there any more."""
    for index, item in enumerate(items):
        if item.key == key:
            return index + 1
    raise InvalidCursor
