"""``receiver tasks``: the options of its commands; each imports what it needs when it runs."""

from typing import Annotated

import typer

from ops.commands import options

tasks = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Find tasks, and act on them.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The task.")]


@tasks.command("list")
def list_tasks(
    status: options.Status = None,
    tool: options.Tool = None,
    not_tool: options.NotTool = None,
    owner: options.Owner = None,
    since: options.Since = None,
    kind: options.Kind = None,
    limit: options.Limit = 50,
    after: options.After = None,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """List tasks, the newest first.

    Exit codes: 0 found some, 1 found none, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.listing import list_page

    words = _collect(status, tool, not_tool, owner, since, kind) | {"limit": str(limit), "after": after or ""}
    run(Place(redis, namespace), lambda store: list_page(store, words, as_json=json))


@tasks.command("show")
def show_task(
    task_id: Id, json: options.Json = False, redis: options.Redis = None, namespace: options.Namespace = None
) -> None:
    """Show all of a task: its timeline, arguments, result or error, questions, retries, and why it failed.

    Exit codes: 0 shown, 1 no such task, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.showing import show

    run(Place(redis, namespace), lambda store: show(store, task_id, as_json=json))


@tasks.command("watch")
def watch_tasks(
    task_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The task; without, all of a filter.")] = None,
    status: options.Status = None,
    tool: options.Tool = None,
    not_tool: options.NotTool = None,
    owner: options.Owner = None,
    kind: options.Kind = None,
    json: options.JsonLines = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Follow a task to its end, or the tasks of a filter until interrupted: a line for each change.

    Exit codes: 0 the task ended, 1 no such task, or its time is over, 2 bad options, 5 the store is away,
    130 interrupted.
    """
    from ops.commands.connection import Place, run
    from ops.commands.watching import watch_filter, watch_task

    words = _collect(status, tool, not_tool, owner, None, kind)
    if task_id is not None:
        run(Place(redis, namespace), lambda store: watch_task(store, task_id, as_json=json))
    run(Place(redis, namespace), lambda store: watch_filter(store, words, as_json=json))


@tasks.command("cancel")
def cancel_tasks(
    ids: options.Ids = None,
    status: options.Status = None,
    tool: options.Tool = None,
    not_tool: options.NotTool = None,
    owner: options.Owner = None,
    since: options.Since = None,
    most: options.Most = 1000,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Cancel unfinished tasks: those named, or those of a filter as it is now.

    Exit codes: 0 done, 1 nothing found, or refused, 2 bad options, 5 the store is away.
    """
    from ops.commands.acting import Order, act
    from ops.commands.connection import Place, run

    words = _collect(status, tool, not_tool, owner, since, None)
    order = Order("cancel", ids or [], words, most, yes=yes, dry_run=dry_run, as_json=json)
    run(Place(redis, namespace), lambda store: act(store, order))


@tasks.command("retry")
def retry_tasks(
    ids: options.Ids = None,
    status: options.Status = None,
    tool: options.Tool = None,
    not_tool: options.NotTool = None,
    owner: options.Owner = None,
    since: options.Since = None,
    most: options.Most = 1000,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    force: Annotated[bool, typer.Option("--force", help="Those too that may be run only once.")] = False,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Run finished tasks again, each as a new task of the same owner; the old one stays as it is.

    Refused for tasks that are not finished, for plain calls, and, unless forced, for tools with one attempt.

    Exit codes: 0 done, 1 nothing found, or refused, 2 bad options, 5 the store is away.
    """
    from ops.commands.acting import Order, act
    from ops.commands.connection import Place, run

    words = _collect(status, tool, not_tool, owner, since, None)
    order = Order("retry", ids or [], words, most, yes=yes, dry_run=dry_run, force=force, as_json=json)
    run(Place(redis, namespace), lambda store: act(store, order))


@tasks.command("purge")
def purge_tasks(
    ids: options.Ids = None,
    status: options.Status = None,
    tool: options.Tool = None,
    not_tool: options.NotTool = None,
    owner: options.Owner = None,
    since: options.Since = None,
    most: options.Most = 1000,
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Remove finished tasks: their requestors get "not found" before the ttl that they were granted.

    Exit codes: 0 done, 1 nothing found, or refused, 2 bad options, 5 the store is away.
    """
    from ops.commands.acting import Order, act
    from ops.commands.connection import Place, run

    words = _collect(status, tool, not_tool, owner, since, None)
    order = Order("purge", ids or [], words, most, yes=yes, dry_run=dry_run, as_json=json)
    run(Place(redis, namespace), lambda store: act(store, order))


def _collect(
    status: list[str] | None,
    tool: list[str] | None,
    not_tool: list[str] | None,
    owner: str | None,
    since: str | None,
    kind: str | None,
) -> dict[str, str | list[str]]:
    """A filter as the words of ``ops.admin.filters``."""
    words = {"status": status, "tool": tool, "not_tool": not_tool, "owner": owner, "since": since, "kind": kind}
    return {name: given for name, given in words.items() if given}
