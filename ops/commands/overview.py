"""What operators see of the store as a whole: the options of ``receiver queue``, ``workers``, ``sessions`` and so on.

Each command imports what it needs when it runs.
"""

from typing import Annotated

import typer

from ops.commands import options

commands = typer.Typer(rich_markup_mode=None)


@commands.command()
def queue(json: options.Json = False, redis: options.Redis = None, namespace: options.Namespace = None) -> None:
    """Show the queues: what is ready, how long the oldest waits, what runs, what waits for a time, and who serves them.

    Exit codes: 0 shown, 1 there are none, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.queues import show_queues

    run(Place(redis, namespace), lambda store: show_queues(store, as_json=json))


@commands.command()
def workers(json: options.Json = False, redis: options.Redis = None, namespace: options.Namespace = None) -> None:
    """Show the workers: where they are, what they serve and run, when they were last heard, and their clocks.

    Exit codes: 0 one lives, 1 none does, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.presence import show_workers

    run(Place(redis, namespace), lambda store: show_workers(store, as_json=json))


@commands.command()
def sessions(
    owner: options.Owner = None,
    limit: options.Limit = 50,
    after: options.After = None,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Show the sessions of clients; the last to end come first.

    Exit codes: 0 shown, 1 there are none, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.presence import show_sessions

    run(Place(redis, namespace), lambda store: show_sessions(store, owner or "", limit, after, as_json=json))


@commands.command()
def waiters(
    limit: options.Limit = 50,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Show the API nodes, and the requests that wait at them for a result, those first that wait longest.

    Exit codes: 0 there is a node, 1 there is none, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.presence import show_waiters

    run(Place(redis, namespace), lambda store: show_waiters(store, limit, as_json=json))


@commands.command()
def top(
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="Over how many minutes run times are told.")] = 5,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and end.")] = False,
    json: options.JsonLines = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Show what each tool does, over 1, 5 and 60 minutes: rates, failures, run times.  New every two seconds.

    Exit codes: 0 shown, 2 bad options, 5 the store is away, 130 interrupted.
    """
    from ops.commands.connection import Place, run
    from ops.commands.throughput import show_throughput

    run(Place(redis, namespace), lambda store: show_throughput(store, minutes, once=once, as_json=json))


@commands.command()
def keys(
    task_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The task whose keys are meant.")] = None,
    json: options.Json = False,
    redis: options.Redis = None,
    namespace: options.Namespace = None,
) -> None:
    """Show what each key is, and the redis-cli command that shows it; with an ID, those of one task.

    Exit codes: 0 shown, 1 no such task, 2 bad options, 5 the store is away.
    """
    from ops.commands.keymap import show_keys, show_task_keys

    if task_id is None:
        raise typer.Exit(show_keys(namespace, as_json=json))
    from ops.commands.connection import Place, run

    run(Place(redis, namespace), lambda store: show_task_keys(store, task_id, as_json=json))


@commands.command()
def health(json: options.Json = False, redis: options.Redis = None, namespace: options.Namespace = None) -> None:
    """Say whether the store can take tasks, and whether a worker is alive to run them.

    Exit codes: 0 all is well, 1 it is not, 2 bad options, 5 the store is away.
    """
    from ops.commands.connection import Place, run
    from ops.commands.health import show_health

    run(Place(redis, namespace), lambda store: show_health(store, as_json=json))
