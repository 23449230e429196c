"""``receiver console``: the console alone, for a store that is there."""

import asyncio
import signal
import sys
from types import FrameType

import uvicorn
from pydantic import SecretStr

from ops.commands.store import locate_store
from ops.console.app import PATH, make_console
from ops.console.mounting import serve_alone
from ops.listener import is_loopback, open_listener, url_of
from receiver.protocol.errors import StartupError
from receiver.settings import load_settings
from receiver.store.checks import check_server
from receiver.store.client import connect
from receiver.telemetry.logs import configure_logs

GRACE_SECONDS = 1  # live pages are cut, and connect again


def run_console(redis: str | None, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT.  Raises StartupError, also where other machines could look without a token."""
    settings = load_settings() if redis is None else load_settings(redis_url=redis)
    settings = settings.model_copy(update={"redis_url": SecretStr(locate_store(settings))})
    configure_logs(settings.log_format, settings.log_level)
    asyncio.run(_check_store(settings.require_redis_url()))
    listener = open_listener(host, port)
    console = make_console(settings, is_local=is_loopback(listener))
    if console is None:
        raise StartupError(
            f"other machines can reach {listener.getsockname()[0]}, and nothing asks them who they are: "
            "set RECEIVER_CONSOLE_TOKENS, or RECEIVER_AUTH_ISSUER"
        )
    config = uvicorn.Config(
        serve_alone(console),
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)  # uvicorn raises a signal once more when it has obeyed it
    print(f"The console is at {url_of(listener)}{PATH}/", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


async def _check_store(url: str) -> None:
    try:
        redis = connect(url)
    except ValueError as error:
        raise StartupError(f"this is not the URL of a Redis: {error}") from None
    try:
        await check_server(redis, url, None)
    finally:
        await redis.aclose(close_connection_pool=True)


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
