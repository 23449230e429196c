"""Every metric, for people: ``python -m receiver.telemetry.reference > docs/reference/metrics.md``."""

from receiver.telemetry.instruments import SPECS, Spec

_HEAD = """\
# Metrics

Made by `python -m receiver.telemetry.reference`; don't edit it by hand.

API nodes serve `/metrics` on their own port, workers on `RECEIVER_METRICS_PORT`, if that is set, on all addresses of
the machine. `receiver dev` gives its first worker that port, and each further worker the next one. Of several API
processes behind one port (`RECEIVER_API_PROCESSES`), the first has the page on `RECEIVER_METRICS_PORT`, each further
one on the next port, and the common port has none.

The page names tools and queues and tells how busy they are, but no task, no session and no requestor. No token is asked
for: keep it inside, as a proxy does that hands on `/mcp` alone. An API node answers where it is asked by address, or by
a name that `RECEIVER_ALLOWED_HOSTS` allows; it answers no foreign web page.

Gauges of *the store* are read from Redis when a node is asked, at most once in 5 seconds, and every node says the same:
take their maximum, not their sum. While Redis is away they are not there; all others are. Everything else is counted by
each process for itself, from its start: sum it up. Labels have the values that are listed, and else the names of
tools, queues, methods and scripts, never what a client made up.

The usual `process_*` metrics (memory, CPU, open files, start time) are there, too.
"""

_STORE = ("mcp_tasks_active", "mcp_tasks_queue_size", "mcp_tasks_queue_oldest_seconds", "mcp_tasks_workers_up")
_TIERS = {"API": "API", "worker": "worker", "both": "API, worker"}


def render() -> str:
    """The page as Markdown."""
    rows = ("| " + " | ".join(_row(spec)) + " |" for spec in SPECS.values())
    table = ["| metric | type | labels | from | says |", "| --- | --- | --- | --- | --- |", *rows]
    return "\n".join([_HEAD, *table, "", *_values()]) + "\n"


def _row(spec: Spec) -> tuple[str, ...]:
    labels = ", ".join(f"`{name}`" for name in spec.label_names) or "-"
    tier = "the store" if spec.name in _STORE else _TIERS[spec.tier]
    return f"`{spec.name}`", spec.type, labels, tier, spec.says


def _values() -> list[str]:
    """The values of all labels that have a list of them."""
    lines = ["## Labels", ""]
    for spec in SPECS.values():
        for name, values in spec.labels:
            if values:
                lines.append(
                    f"- `{spec.name}` `{name}`: {', '.join(f'`{value}`' if value else 'empty' for value in values)}"
                )
    return lines


if __name__ == "__main__":
    print(render(), end="")
