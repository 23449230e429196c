"""What happened to a task, in the order of time: from its record, its history and its questions."""

from dataclasses import dataclass

from receiver.protocol.lifecycle import TERMINAL
from receiver.store.inspect import Dossier, Event


@dataclass(frozen=True, slots=True)
class _Run:
    """What is known of a run: a history tells it of all but the newest, which the record tells."""

    number: str
    worker: str
    started_at: str


def trace(dossier: Dossier) -> list[Event]:
    """The events of a task, oldest first.

    ``created``, ``queued``, ``started`` (each run), what the history has (``lost``, ``retry``, ``handed_back``,
    ``parked``, ``asked``, ``accepted``, ``answered``, ``withdrawn``), and the status that it ended in.  Of a history
    that grew too long the oldest events are gone.
    """
    fields = {name: value.decode(errors="replace") for name, value in dossier.record.items()}
    created_at, queue, origin = int(fields["created_at"]), fields.get("queue", ""), fields.get("retry_of")
    events = [Event(created_at, "created", f"retry of {origin}" if origin else ""), Event(created_at, "queued", queue)]
    noted = {_read_run(event).number for event in dossier.history if event.name == "started"}
    # Of the first run, and of those whose start the history forgot, a later event tells; the newest is in the record.
    events += [_to_start(run) for run in _list_runs(dossier, fields) if run.number not in noted]
    events += [_to_start(_read_run(event)) if event.name == "started" else event for event in dossier.history]
    if fields.get("status") in TERMINAL and "finished_at" in fields:
        events.append(Event(int(fields["finished_at"]), fields["status"], ""))
    return sorted(events, key=lambda event: event.at)  # stable: what is listed first happened first


def _list_runs(dossier: Dossier, fields: dict[str, str]) -> list[_Run]:
    runs = [_read_run(event) for event in dossier.history]
    runs.append(_Run(fields.get("run", ""), fields.get("worker", ""), fields.get("started_at", "")))
    return list({run.number: run for run in reversed(runs) if run.number and run.started_at.isdigit()}.values())[::-1]


def _read_run(event: Event) -> _Run:
    about = dict(part.partition("=")[::2] for part in event.detail.split())
    return _Run(about.get("run", ""), about.get("worker", ""), about.get("started_at", ""))


def _to_start(run: _Run) -> Event:
    return Event(int(run.started_at or 0), "started", f"run={run.number} worker={run.worker}")
