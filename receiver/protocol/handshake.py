"""The wire of MCP up to 2025-11-25: what each revision has, what the server declares, and its renderings of a task.

A result is rendered to bytes, ready for ``jsonrpc.frame_result``.  An outcome was encoded when its run ended; the
task that it belongs to is spliced into those bytes here.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from receiver.protocol.task import Task

RELATED_TASK = "io.modelcontextprotocol/related-task"
IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response"


@dataclass(frozen=True, slots=True)
class Revision:
    """What a revision of the protocol has.

    2025-03-26 has batches as well.  They stay refused: no client has to send any, and no later revision has them.
    """

    version: str
    tasks: bool  # the capability, its methods, params.task and Tool.execution
    priming: bool  # a stream opens with an event that has an id and no data (H-09)
    icons: bool
    structured_output: bool  # Tool.outputSchema; structuredContent may go to anyone
    titles: bool
    resource_links: bool


LATEST = Revision(
    version="2025-11-25",
    tasks=True,
    priming=True,
    icons=True,
    structured_output=True,
    titles=True,
    resource_links=True,
)
_JUNE = replace(LATEST, version="2025-06-18", tasks=False, priming=False, icons=False)
_MARCH = replace(_JUNE, version="2025-03-26", structured_output=False, titles=False, resource_links=False)

REVISIONS = {revision.version: revision for revision in (LATEST, _JUNE, _MARCH)}
SUPPORTED_VERSIONS = tuple(REVISIONS)  # the newest first
PROTOCOL_VERSION = LATEST.version

_OWN_META = b'{"_meta":'
_LINK = b'"resource_link"'
_RELATED_KEY = orjson.dumps(RELATED_TASK)


def negotiate_version(asked: object) -> str:
    """The version to answer ``initialize`` with: the one asked for, or the latest that is supported (L-01)."""
    return asked if isinstance(asked, str) and asked in SUPPORTED_VERSIONS else PROTOCOL_VERSION


def server_capabilities(
    revision: Revision, *, tasks_list: bool, resources: bool = False, prompts: bool = False, completions: bool = False
) -> dict[str, Any]:
    """What the server declares (T-01, T-04, T-06).  ``tasks_list``: whether requestors can be told apart (T-88).

    The others: whether there are any.  A method of what is not declared is not there.
    """
    capabilities: dict[str, Any] = {"logging": {}, "tools": {"listChanged": True}}  # L-06, L-09
    if resources:
        capabilities["resources"] = {"subscribe": True, "listChanged": True}
    if prompts:
        capabilities["prompts"] = {"listChanged": True}
    if completions:
        capabilities["completions"] = {}
    if not revision.tasks:
        return capabilities
    tasks: dict[str, Any] = {"cancel": {}, "requests": {"tools": {"call": {}}}}  # T-104
    if tasks_list:
        tasks["list"] = {}  # T-05
    return capabilities | {"tasks": tasks}


def render_initialize(
    *,
    revision: Revision,
    capabilities: dict[str, Any],
    name: str,
    version: str,
    title: str | None = None,
    icons: Sequence[Mapping[str, Any]] | None = None,
    website_url: str | None = None,
    instructions: str | None = None,
) -> bytes:
    """The InitializeResult of a server called ``name``, in the revision that was agreed on."""
    info = {"name": name, "version": version, "title": title, "icons": icons, "websiteUrl": website_url}
    shown = {member: value for member, value in info.items() if value is not None}
    result: dict[str, Any] = {
        "protocolVersion": revision.version,
        "capabilities": capabilities,
        "serverInfo": render_definition(shown, revision),
    }
    if instructions is not None:
        result["instructions"] = instructions
    return orjson.dumps(result)


def render_definition(definition: Mapping[str, Any], revision: Revision) -> dict[str, Any]:
    """A Tool, Resource, ResourceTemplate, Prompt or Implementation, without the members that ``revision`` lacks."""
    known = {
        "execution": revision.tasks,  # T-103
        "icons": revision.icons,
        "outputSchema": revision.structured_output,
        "title": revision.titles,
        "websiteUrl": revision.icons,  # they came together
    }
    return {name: value for name, value in definition.items() if known.get(name, True)}


def adapt_result(payload: bytes, revision: Revision) -> bytes:
    """The result ``payload`` for ``revision``: a link becomes a text for clients that know no links.

    Links stand in the content of a CallToolResult, and in the messages of a GetPromptResult.
    """
    if revision.resource_links or _LINK not in payload:
        return payload
    result = orjson.loads(payload)
    if "content" in result:
        result["content"] = [_write_out_link(block) for block in result["content"]]
    for message in result.get("messages", ()):
        message["content"] = _write_out_link(message["content"])
    return orjson.dumps(result)


def render_task(task: Task) -> dict[str, Any]:
    """The Task object: all members each time (X-14), but no ``statusMessage`` where there is none."""
    rendered: dict[str, Any] = {"taskId": task.id, "status": task.status}
    if task.status_message is not None:
        rendered["statusMessage"] = task.status_message
    rendered["createdAt"] = render_time(task.created_at)  # T-41
    rendered["lastUpdatedAt"] = render_time(task.updated_at)  # T-42
    rendered["ttl"] = task.ttl  # T-44
    rendered["pollInterval"] = task.poll_interval  # T-46
    return rendered


def render_time(milliseconds: int) -> str:
    """A time since the epoch in ISO 8601, in UTC and to the millisecond."""
    seconds, fraction = divmod(milliseconds, 1000)
    return f"{_render_second(seconds)}.{fraction:03d}Z"


def render_created(task: Task, immediate: str | None) -> bytes:
    """The CreateTaskResult.  ``immediate`` is what the host may tell its model at once (T-15)."""
    meta: dict[str, Any] = {RELATED_TASK: {"taskId": task.id}}
    if immediate is not None:
        meta[IMMEDIATE_RESPONSE] = immediate
    return orjson.dumps({"task": render_task(task), "_meta": meta})


def render_flat_task(task: Task) -> bytes:
    """The result of ``tasks/get`` and ``tasks/cancel``, which names its task itself: no related-task (T-58)."""
    return orjson.dumps(render_task(task))


def render_task_list(tasks: Iterable[Task], next_cursor: str | None) -> bytes:
    """The result of ``tasks/list``.  ``next_cursor`` is None on the last page (T-64)."""
    result: dict[str, Any] = {"tasks": [render_task(task) for task in tasks]}
    if next_cursor is not None:
        result["nextCursor"] = next_cursor
    return orjson.dumps(result)


def splice_related_task(payload: bytes, task_id: str) -> bytes:
    """The result of ``tasks/result``: ``payload`` with related-task in its ``_meta`` (T-74, X-17).

    ``payload`` is what ``Outcome.of_result`` encoded, so that a ``_meta`` of its own is its first member.
    """
    member = b'%b:{"taskId":%b}' % (_RELATED_KEY, orjson.dumps(task_id))
    if payload.startswith(_OWN_META):
        return _splice_into_own(payload, member, task_id)
    if payload == b"{}":
        return b'{"_meta":{%b}}' % member
    return payload.replace(b"{", b'{"_meta":{%b},' % member, 1)


def _splice_into_own(payload: bytes, member: bytes, task_id: str) -> bytes:
    start = _OWN_META + b"{"
    if not payload.startswith(start) or payload.startswith(start + b"}") or _RELATED_KEY in payload:
        return _encode_again(payload, task_id)
    return payload.replace(start, start + member + b",", 1)


def _encode_again(payload: bytes, task_id: str) -> bytes:
    """``payload`` whose own ``_meta`` is empty, no object, or perhaps names a task: only ours counts, once."""
    result = orjson.loads(payload)
    own = result["_meta"] if isinstance(result["_meta"], dict) else {}
    result["_meta"] = own | {RELATED_TASK: {"taskId": task_id}}
    return orjson.dumps(result)


def _write_out_link(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] != "resource_link":
        return block
    return {"type": "text", "text": f"{block.get('title') or block['name']}: {block['uri']}"}


@lru_cache(maxsize=1024)
def _render_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
