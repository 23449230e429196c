"""``receiver audit``: the options of its commands; each imports what it needs when it runs."""

from typing import Annotated

import typer

from ops.commands import options

audit = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Read the audit trail.")


@audit.callback()
def read_audit() -> None:
    """Read the audit trail: who did what, or was denied it."""


@audit.command("tail")
def tail_audit(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new events as they come.")] = False,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Of this task alone.")] = None,
    operation: Annotated[str | None, typer.Option(metavar="NAME", help="tools/call, finish, purge …")] = None,
    who: Annotated[str | None, typer.Option(metavar="NAME", help="Of this subject, worker or operator alone.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="OUTCOME",
            help="success, failure or denied.",
            autocompletion=lambda: ["success", "failure", "denied"],
        ),
    ] = None,
    limit: options.Limit = 50,
    before: Annotated[str | None, typer.Option(metavar="EVENT", help="Go on where an earlier page ended.")] = None,
    ocsf: Annotated[bool, typer.Option("--ocsf", help="Print JSON lines as OCSF API Activity, for a SIEM.")] = False,
    json: options.JsonLines = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Show the last events, the newest last; --follow goes on until interrupted.

    Exit codes: 0 shown some, 1 found none, 2 bad options, 5 the store is away, 130 interrupted.
    """
    from ops.commands.connection import Place, run
    from ops.commands.trail import Form, tail

    form: Form = "ocsf" if ocsf else "json" if json else "table"
    words = {"task": task, "operation": operation, "who": who, "outcome": outcome}
    wanted = {name: word for name, word in words.items() if word}
    run(Place(redis, namespace), lambda store: tail(store, wanted, limit, before, form, follow=follow))
