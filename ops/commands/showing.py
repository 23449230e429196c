"""``receiver tasks show``."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ops import report
from ops.admin.redaction import load_redaction
from ops.admin.view import show_dossier
from ops.commands.connection import REFUSED, Store
from ops.commands.listing import say
from ops.render import (
    make_pairs,
    make_table,
    open_console,
    print_json,
    shorten,
    show_age,
    show_duration,
    write,
    write_status,
    write_value,
)


async def show(store: Store, task_id: str, *, as_json: bool) -> int:
    """Prints all of one task."""
    redaction = load_redaction(store.settings.redact)
    dossier = await store.inspector.examine(task_id)
    if dossier is None:
        report.complain("there is no such task, or its time is over")
        return REFUSED
    shown = show_dossier(dossier, redaction)
    if as_json:
        print_json(shown)
    else:
        print_task(open_console(), shown)
    return 0


def print_task(console: Console, task: Mapping[str, Any]) -> None:
    """A task for people, part by part."""
    console.print(make_pairs(_identify(task)))
    _print_part(console, "Timeline", _draw_timeline(task["timeline"]))
    for name in ("params", "result", "error"):
        title = {"params": "Arguments", "result": "Result", "error": "Error"}[name]
        _print_part(console, title, None if task[name] is None else _draw_value(task[name]))
    _print_part(console, "Questions", _draw_questions(task["questions"]))
    steps = [(step["name"], f"{step['bytes']:,}") for step in task["steps"]]
    _print_part(console, "Steps", make_table(["NAME", "BYTES>"], steps) if steps else None)


def _identify(task: Mapping[str, Any]) -> dict[str, RenderableType | None]:
    now, principal = task["now_ms"], task["principal"]
    subject = principal.get("subject") if isinstance(principal, dict) else None
    attempts = f"{task['attempt'] or 0} of {task['max_attempts']}" if task["max_attempts"] else None
    texts = {
        "Why": task["why"],
        "Says": None if task["why"] or say(task) == "-" else say(task),
        "Tool": task["tool"],
        "Kind": None if task["kind"] == "task" else f"{task['kind']} ({task['method']})",
        "Owner": f"{task['owner']} ({subject})" if subject else task["owner"],
        "Session": task["session"],
        "Queue": task["queue"] if task["place"] is None else f"{task['queue']}, place {task['place'] + 1}",
        "Worker": task["worker"],
        "Attempts": attempts,
        "Expires": f"{shorten(task['expires_at'])} ({show_age(task['expires_at_ms'], now)})",
        "Ttl": show_duration(task["ttl"]),
        "Trace": task["trace_id"],
        "Heard by": f"{task['streams']} open streams" if task["streams"] else None,
        "Retry of": task["retry_of"],
        "Retried as": ", ".join(task["retries"]) or None,
    }
    head: dict[str, RenderableType | None] = {"Task": write(task["id"]), "Status": write_status(task["status"])}
    return head | {name: None if text is None else write(text) for name, text in texts.items()}


def _print_part(console: Console, title: str, body: RenderableType | None) -> None:
    if body is not None:
        console.print()
        console.print(Text(title, "bold"))
        console.print(Padding(body, (0, 0, 0, 2)))


def _draw_timeline(events: Sequence[Mapping[str, Any]]) -> RenderableType:
    first = events[0]["at_ms"]
    rows = [
        (event["at"], f"+{show_duration(event['at_ms'] - first)}", event["event"], event["detail"]) for event in events
    ]
    return make_table(["TIME", "AFTER>", "EVENT", "DETAIL"], rows, wrapped="DETAIL")


def _draw_questions(questions: Any) -> RenderableType | None:
    if questions is None:
        return None
    if not isinstance(questions, list):
        return _draw_value(questions)
    return Group(*(make_pairs(_draw_question(question)) for question in questions if isinstance(question, dict)))


def _draw_question(question: Mapping[str, Any]) -> dict[str, RenderableType | None]:
    request, answer, task = (question.get(name) for name in ("request", "answer", "client_task"))
    message = request.get("message") if isinstance(request, dict) else None
    return {
        "Question": write(f"{question.get('name')}: {question.get('state')}"),
        "Asks": _draw_value(request if message is None else message),
        "Answer": None if answer is None else _draw_value(answer),
        "Client's task": None if task is None else write(task),
    }


def _draw_value(value: Any) -> Text:
    return write(value) if isinstance(value, str) else write_value(value)
