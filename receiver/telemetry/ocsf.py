"""Events of the audit trail as OCSF 1.6 has them: class 6003, API Activity."""

from typing import Any

from receiver.telemetry.audit import Entry, Event

VERSION = "1.6.0"
PRODUCT = "mcp-task-receiver"

_CATEGORY, _CLASS = 6, 6003
_ACTIVITIES = {1: "Create", 2: "Read", 3: "Update", 4: "Delete", 99: "Other"}
_ACTIVITY_OF = {
    "tools/call": 1,
    "retry": 1,
    "resources/read": 2,
    "prompts/get": 2,
    "completion/complete": 2,
    "tasks/get": 2,
    "tasks/result": 2,
    "tasks/list": 2,
    "tasks/cancel": 3,
    "notifications/cancelled": 3,
    "answer": 3,
    "finish": 3,
    "cancel": 3,
    "purge": 4,
}
_SEVERITIES = {"success": (1, "Informational"), "failure": (2, "Low"), "denied": (3, "Medium")}
_STATUSES = {"success": (1, "Success"), "failure": (2, "Failure"), "denied": (2, "Failure")}
_UNKNOWN = (0, "Unknown")


def to_ocsf(entry: Entry, version: str) -> dict[str, Any]:
    """An entry as a JSON object; ``version`` is that of this server."""
    event = entry.event
    activity = _ACTIVITY_OF.get(event.operation, 99)
    severity, severity_name = _SEVERITIES.get(event.outcome, _UNKNOWN)
    status, status_name = _STATUSES.get(event.outcome, _UNKNOWN)
    rendered: dict[str, Any] = {
        "activity_id": activity,
        "activity_name": _ACTIVITIES[activity],
        "category_uid": _CATEGORY,
        "category_name": "Application Activity",
        "class_uid": _CLASS,
        "class_name": "API Activity",
        "type_uid": 100 * _CLASS + activity,
        "type_name": f"API Activity: {_ACTIVITIES[activity]}",
        "time": entry.time,
        "severity_id": severity,
        "severity": severity_name,
        "status_id": status,
        "status": status_name,
        "status_detail": event.detail or event.outcome,
        "message": " ".join(filter(None, (event.operation, event.task, event.outcome, event.detail))),
        "metadata": _render_metadata(entry, version),
        "actor": _render_actor(event),
        "api": _render_api(event),
        "src_endpoint": {"ip": event.address} if event.address else {"name": event.by or "unknown"},
        "unmapped": _render_rest(event),
    }
    if event.task:
        rendered["resources"] = [_render_task(event)]
    return rendered if entry.times == 1 else rendered | {"count": entry.times}


def _render_metadata(entry: Entry, version: str) -> dict[str, Any]:
    product = {"name": PRODUCT, "vendor_name": PRODUCT, "version": version}
    return {"version": VERSION, "uid": entry.id, "log_name": "audit", "product": product}


def _render_actor(event: Event) -> dict[str, Any]:
    """A user or, for what a worker did, the worker."""
    if event.by == "worker":
        return {"app_name": "worker", "app_uid": event.who or "unknown"}
    user = {"name": event.who or ("anonymous" if event.owner else "unknown")}
    if event.by == "client" and event.owner:
        user["uid"] = event.owner
    return {"user": user} if event.by == "client" else {"user": user, "app_name": event.by or "unknown"}


def _render_api(event: Event) -> dict[str, Any]:
    api: dict[str, Any] = {"operation": event.operation, "service": {"name": PRODUCT}}
    return api | {"request": {"uid": event.request}} if event.request else api


def _render_task(event: Event) -> dict[str, Any]:
    kind, _, name = event.label.partition(":")
    task: dict[str, Any] = {"uid": event.task, "type": kind or "task"}
    if name:
        task["name"] = name
    if event.owner and event.outcome != "denied":  # who is denied a task does not own it
        task["owner"] = {"uid": event.owner}
    return task


def _render_rest(event: Event) -> dict[str, Any]:
    """What OCSF has no place for."""
    rest: dict[str, Any] = {"by": event.by, "outcome": event.outcome}
    if event.digest:
        rest["arguments"] = {"sha256_prefix": event.digest, "size": int(event.size or 0)}
    return rest
