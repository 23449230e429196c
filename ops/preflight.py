"""What has to be in order before a process starts.  What is not is a StartupError, the one line that says why."""

import asyncio
import socket

import structlog

from ops import report
from ops.listener import is_loopback
from receiver.loading import load_app
from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver
from receiver.settings import Settings, load_settings, unknown_variables
from receiver.store.checks import check_server
from receiver.store.client import connect
from receiver.telemetry.logs import configure_logs
from receiver.telemetry.provider import open_tracing


def read_settings(app: str | None, processes: int | None = None) -> tuple[str, Settings]:
    """The name of the app, and the settings; what the command line says wins over its variable."""
    if not report.is_supervised():
        _warn_of_unknown_variables()
    given = {"app": app, "api_processes": processes}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    if settings.app is None:
        raise StartupError("no app given: name it as MODULE:app, or set RECEIVER_APP")
    return settings.app, settings


def prepare(name: str, settings: Settings) -> Receiver:
    """The app, for an API process or a worker, when log lines go somewhere, and there is a store."""
    configure_logs(settings.log_format, settings.log_level)
    loaded = load_app(name)
    open_tracing(loaded.name)
    asyncio.run(_check_store(settings))
    return loaded


def check_exposure(app: Receiver, settings: Settings, listener: socket.socket) -> None:
    """Refuses to serve a network without authentication: everyone would have everyone's tasks (H-04).

    Raises StartupError, unless ``allow_anonymous`` says that it is meant so.
    """
    if is_loopback(listener) or settings.auth_tokens or settings.auth_issuer or app.authenticate:
        return
    address = listener.getsockname()[0]
    if not settings.allow_anonymous:
        raise StartupError(
            f"other machines can reach {address}, and nothing asks them who they are: set RECEIVER_AUTH_ISSUER or "
            "RECEIVER_AUTH_TOKENS, or RECEIVER_ALLOW_ANONYMOUS=1 if everyone may have everyone's tasks"
        )
    structlog.get_logger(__name__).warning("anonymous", detail=f"who reaches {address} may see and cancel all tasks")


async def _check_store(settings: Settings) -> None:
    url = settings.require_redis_url()
    try:
        redis = connect(url)
    except ValueError as error:
        raise StartupError(f"RECEIVER_REDIS_URL is not the URL of a Redis: {error}") from None
    try:
        if warning := await check_server(redis, url, settings.durability):
            structlog.get_logger(__name__).warning("redis_check", detail=warning)
    finally:
        await redis.aclose(close_connection_pool=True)


def _warn_of_unknown_variables() -> None:
    for name, nearest in unknown_variables().items():
        hint = f"; did you mean {nearest}?" if nearest else ""
        report.complain(f"{name} is no setting{hint}")
