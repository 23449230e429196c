"""A task as operators are shown it: JSON-able, with stable names.

A time stands there twice, in ms (``created_at_ms``) and as ISO 8601 (``created_at``); all are of the store's clock.
What does not apply is None.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from ops.admin.filters import to_iso
from ops.admin.redaction import Redaction
from ops.admin.timeline import trace
from receiver.store.inspect import Dossier, Summary
from receiver.telemetry.traceparent import recall_trace

_TIMES = ("created_at", "updated_at", "started_at", "finished_at", "expires_at")
_TEXTS = ("kind", "tool", "method", "status", "status_message", "owner", "worker", "queue", "retry_of")
_NUMBERS = ("attempt", "max_attempts", "run")
_MORE_TEXTS = ("session", "protocol")
_MORE_NUMBERS = ("ttl", "poll_interval", "timeout", "losses", "deaths")


def show_summary(summary: Summary, redaction: Redaction) -> dict[str, Any]:
    """A task in a list."""
    return redaction.apply(_show_fields(summary.id, summary.fields))


def show_dossier(dossier: Dossier, redaction: Redaction) -> dict[str, Any]:
    """All of a task.

    ``timeline``: ``{at, at_ms, event, detail}``, oldest first.  ``params``, ``result`` and ``error`` are what the
    task was given and what came of it; ``why`` is one line that says why it failed.  ``questions``: ``{name, state,
    method, request, answer, client_task}``.  ``steps``: ``{name, bytes}``.  ``trace_id`` is that of the request which
    created it.  ``place`` is that in its queue, from 0.
    """
    fields = {name: value.decode(errors="replace") for name, value in dossier.record.items()}
    outcome, payload = fields.get("outcome"), _decode(dossier.record.get("payload"))
    shown = redaction.apply(
        _show_fields(dossier.id, fields)
        | {name: fields.get(name) for name in _MORE_TEXTS}
        | {name: _number(fields.get(name)) for name in _MORE_NUMBERS}
        | {"principal": _decode(dossier.record.get("principal")), "params": _decode(dossier.record.get("params"))}
        | {"result": payload if outcome == "result" else None, "error": payload if outcome == "error" else None}
        | {"questions": _show_questions(dossier.inputs)}
    )
    return shown | {
        "why": _explain(shown),
        "timeline": [
            _show_time("at", event.at) | {"event": event.name, "detail": event.detail} for event in trace(dossier)
        ],
        "steps": [{"name": name, "bytes": size} for name, size in sorted(dossier.steps.items())],
        "retries": list(dossier.retries),
        "trace_id": _find_trace(fields.get("trace", "")),
        "place": dossier.place,
        "streams": dossier.streams,
        **_show_time("now", dossier.now),
    }


def _find_trace(written: str) -> str | None:
    context = recall_trace(written)
    return f"{context.trace_id:032x}" if context.is_valid else None


def _show_fields(task_id: str, fields: Mapping[str, str]) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": task_id, **{name: fields.get(name) or None for name in _TEXTS}}
    for name in _TIMES:
        shown |= _show_time(name, _number(fields.get(name)))
    shown |= {name: _number(fields.get(name)) for name in _NUMBERS}
    progress = {"progress": fields.get("progress"), "progress_total": fields.get("progress_total")}
    shown |= {name: None if value is None else float(value) for name, value in progress.items()}
    return shown | {"progress_message": fields.get("progress_message"), "parked": fields.get("parked") == "1"}


def _show_time(name: str, ms: int | None) -> dict[str, Any]:
    return {name: None if ms is None else to_iso(ms), f"{name}_ms": ms}


def _show_questions(inputs: Mapping[str, bytes]) -> list[dict[str, Any]] | None:
    names = [field.removesuffix(":request") for field in inputs if field.endswith(":request")]
    return [_show_question(name, inputs) for name in sorted(names)] or None


def _show_question(name: str, inputs: Mapping[str, bytes]) -> dict[str, Any]:
    request = _decode(inputs.get(f"{name}:request"))
    texts = {
        part: inputs.get(f"{name}:{part}", b"").decode(errors="replace") or None for part in ("state", "method", "task")
    }
    return {
        "name": name,
        "state": texts["state"],
        "method": texts["method"],
        "request": request.get("params") if isinstance(request, dict) else request,
        "answer": _decode(inputs.get(f"{name}:answer")),
        "client_task": texts["task"],
    }


def _explain(shown: Mapping[str, Any]) -> str | None:
    """Why a task failed, or was cancelled: what its requestor is told, in one line."""
    if shown["status"] not in ("failed", "cancelled"):
        return None
    error, result = shown["error"], shown["result"]
    if isinstance(error, dict):
        return f"{error.get('message')} (code {error.get('code')})"
    blocks = result.get("content") if isinstance(result, dict) else None
    texts = [block.get("text") for block in blocks or [] if isinstance(block, dict)]
    said = " ".join(text for text in texts if isinstance(text, str))
    return said or shown["status_message"]


def _decode(value: bytes | None) -> Any:
    """A JSON value; what is none is shown as the text that it is."""
    if value is None or value == b"":
        return None
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value.decode(errors="replace")


def _number(text: str | None) -> int | None:
    return int(text) if text else None
