"""The command line: ``receiver dev``, ``receiver serve``, ``receiver work``, and so on.

A command imports what it alone needs, when it needs it: a worker loads no web framework, a supervisor next to nothing,
and what can't start says so at once.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

import workers as _  # noqa: F401 - ours, before an app brings the current directory and maybe a folder of that name
from ops import report
from ops.commands.audit import audit
from ops.commands.overview import commands
from ops.commands.tasks import tasks
from receiver import __version__
from receiver.protocol.errors import StartupError

App = Annotated[str | None, typer.Argument(metavar="[MODULE:app]", help="The application; or set RECEIVER_APP.")]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")]

cli = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
cli.add_typer(tasks, name="tasks")
cli.add_typer(audit, name="audit")
cli.add_typer(commands)


def main() -> None:
    """The console script.  What makes a start impossible is one line, and exit code 2."""
    try:
        cli(prog_name="receiver")
    except StartupError as error:
        report.complain(str(error))
        sys.exit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"receiver {__version__}")
        raise typer.Exit


@cli.callback()
def receiver(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Make long-running MCP tools durable."""


@cli.command()
def dev(
    app: App = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Annotated[int, typer.Option(min=0, help="How many worker processes.")] = 1,
    reload: Annotated[bool, typer.Option("--reload", help="Start again when the app's files change.")] = False,
) -> None:
    """Run everything: API, workers, and a server of their own unless RECEIVER_REDIS_URL is set."""
    from ops.dev import run_dev
    from ops.listener import open_listener
    from ops.preflight import read_settings

    name, settings = read_settings(app)
    raise typer.Exit(run_dev(name, settings, open_listener(host, port), workers=workers, reload=reload))


@cli.command()
def serve(
    app: App = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many processes, one a core; else RECEIVER_API_PROCESSES, or 1.")
    ] = None,
    fd: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run the API alone, in one process or several behind one port."""
    from ops.listener import adopt, open_listener, url_of
    from ops.preflight import check_exposure, prepare, read_settings

    name, settings = read_settings(app, processes)
    if settings.api_processes > 1 and fd is None:
        from ops.processes import run_processes

        raise typer.Exit(run_processes(name, settings, host, port))
    served = prepare(name, settings)
    from ops.api import make_server, run_server

    # A supervisor keeps its socket over restarts.
    listener = open_listener(host, port) if fd is None else adopt(fd)
    check_exposure(served, settings, listener)
    server, listeners = make_server(served, settings, listener)
    if fd is None:
        typer.echo(f"Serving {settings.app} at {url_of(listener)}/mcp")
    run_server(server, listeners)


@cli.command()
def work(
    app: App = None,
    lanes: Annotated[str | None, typer.Option(help="The lanes to serve, separated by commas; all without.")] = None,
) -> None:
    """Run one worker alone."""
    from ops.preflight import prepare, read_settings

    name, settings = read_settings(app)
    served = prepare(name, settings)
    from workers.process import run_worker

    names = None if lanes is None else [name for name in map(str.strip, lanes.split(",")) if name]
    raise typer.Exit(run_worker(served, settings, lanes=names))


@cli.command()
def console(
    redis: Annotated[
        str | None, typer.Option(metavar="URL", help="The store; else RECEIVER_REDIS_URL, or that of `receiver dev`.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8010,
) -> None:
    """Run the web console alone: see tasks, queues and workers, and act on them if RECEIVER_CONSOLE_WRITE is on."""
    from ops.commands.console import run_console

    run_console(redis, host, port)


@cli.command()
def doctor(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Say what is wrong with a deployment, why that matters, and what to do; exit with 1 if anything is an error."""
    from ops.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json=json))


@cli.command()
def conform(
    url: Annotated[str | None, typer.Argument(metavar="URL", help="The MCP endpoint to check.")] = None,
    url2: Annotated[str | None, typer.Option(help="The same server, at another of its nodes.")] = None,
    token: Annotated[str | None, typer.Option(help="The bearer token to come with.")] = None,
    token2: Annotated[str | None, typer.Option(help="A token of another principal.")] = None,
    tool: Annotated[list[str] | None, typer.Option(metavar="ROLE=NAME", help="The name of a fixture tool.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="A row (T-31), a family (H), or a check's name.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one check may take.")] = 30.0,
    jobs: Annotated[int, typer.Option(min=1, help="Checks at the same time.")] = 8,
    strict: Annotated[bool, typer.Option("--strict", help="Fail for what a server only should do, too.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report there as JSON.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the checks, and run none.")] = False,
) -> None:
    """Check any MCP server over HTTP, clause by clause: see docs/conform.md."""
    from ops.conform.command import Options, list_checks, run_conform

    if listed:
        return list_checks(only or [])
    if url is None or (token2 is not None and token is None):
        raise StartupError("conform needs a URL" if url is None else "--token2 goes with --token")
    urls, tokens = [url, *([url2] if url2 else [])], [given for given in (token, token2) if given]
    raise typer.Exit(run_conform(Options(urls, tokens, tool or [], only or [], timeout, jobs, strict, json)))


@cli.command()
def call(
    words: Annotated[list[str] | None, typer.Argument(metavar="[URL] TOOL [NAME=VALUE]...")] = None,
    args: Annotated[str | None, typer.Option(metavar="JSON", help="Arguments as an object; - reads stdin.")] = None,
    task: Annotated[bool | None, typer.Option("--task/--no-task", help="As the tool allows, without.")] = None,
    ttl: Annotated[int | None, typer.Option(min=0, metavar="MS", help="How long the task is to be kept.")] = None,
    attach: Annotated[str | None, typer.Option(metavar="ID", help="Wait for a task that there is already.")] = None,
    token: Annotated[str | None, typer.Option(envvar="RECEIVER_TOKEN", help="The bearer token to come with.")] = None,
    answer: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="For a field that is asked.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    patience: Annotated[float, typer.Option(min=0, help="Seconds to try a lost server again.")] = 60.0,
) -> None:
    """Call a tool of any MCP server over HTTP, as a task where it can be one; without TOOL, list the tools.

    The URL is http://127.0.0.1:8000/mcp unless given.  NAME:=JSON gives a value as JSON.

    Exit codes: 0 completed, 1 the tool failed, 2 a call that can't be made, 3 cancelled, 4 the task expired or is not
    known, 5 the server can't be reached, 130 interrupted while the task goes on.
    """
    from ops.calling.command import Options, run_call

    options = Options(words or [], args, task, ttl, attach, token, answer or [], json, patience)
    raise typer.Exit(run_call(options))


@cli.command()
def bench(
    url: Annotated[str, typer.Argument(metavar="URL", help="The MCP endpoint to measure.")],
    token: Annotated[str, typer.Option(envvar="RECEIVER_TOKEN", help="The bearer token to come with.")] = "",
    tool: Annotated[str, typer.Option(help="The tool to call; else the first task tool that needs no more.")] = "",
    arguments: Annotated[str, typer.Option(metavar="JSON", help="Its arguments, as an object.")] = "{}",
    requestors: Annotated[str, typer.Option(metavar="N,N,...", help="How many at the same time.")] = "1,16,64",
    seconds: Annotated[float, typer.Option(min=0.1, help="How long each load lasts.")] = 5.0,
    load: Annotated[list[str] | None, typer.Option(help="create, get or run; all three without.")] = None,
    ttl: Annotated[int, typer.Option(min=1, metavar="MS", help="How long the tasks are to be kept.")] = 60_000,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Measure any MCP server with tasks, over HTTP: it creates real ones, as fast as the server lets it.

    create: a task; get: the state of a task; run: a task, and its result.

    Exit codes: 0 all went well, 1 there were errors, 2 it can't be measured.
    """
    from ops.bench.command import Options, run_bench

    options = Options(url, token, tool, arguments, requestors, seconds, load or [], ttl, json)
    raise typer.Exit(run_bench(options))


@cli.command()
def demo(fast: Annotated[bool, typer.Option("--fast", help="In seconds, not in a minute.")] = False) -> None:
    """Show the life of a task: progress, a question, a killed worker, a cancellation; nothing is left behind."""
    from ops.demo.tour import run_demo

    raise typer.Exit(run_demo(fast=fast))


if __name__ == "__main__":
    main()
