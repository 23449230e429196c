"""Options that several commands have."""

from typing import Annotated

import typer

Redis = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The Redis to look into; RECEIVER_REDIS_URL without, or that of a `receiver dev` in this folder.",
    ),
]
Namespace = Annotated[
    str | None, typer.Option(metavar="WORD", help="The first word of every key; RECEIVER_NAMESPACE without.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for scripts.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON lines, for scripts.")]

Status = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STATUS",
        help="working, input_required, completed, failed, cancelled; several with commas.",
        autocompletion=lambda: ["working", "input_required", "completed", "failed", "cancelled"],
    ),
]
Tool = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Of these tools alone; several with commas.")]
NotTool = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Not of these tools.")]
Owner = Annotated[str | None, typer.Option(metavar="OWNER", help="Of this owner alone, as `tasks show` names it.")]
Since = Annotated[
    str | None,
    typer.Option(metavar="AGE|TIME", help="Changed (of an --owner: created) since: 90s, 5m, 2h, 7d, or ISO 8601."),
]
Kind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND", help="task (unless given), call, or any.", autocompletion=lambda: ["task", "call", "any"]
    ),
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="How many at most.")]
After = Annotated[str | None, typer.Option(metavar="POSITION", help="Go on where an earlier page ended.")]

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="The tasks; or use a filter.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Name the tasks, and do nothing.")]
Most = Annotated[int, typer.Option("--max", metavar="N", min=1, max=10_000, help="How many tasks at most.")]
