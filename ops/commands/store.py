"""The store that a command of an operator means."""

from ops.embedded import EmbeddedServer
from receiver.settings import Settings


def locate_store(settings: Settings) -> str:
    """The URL of the store that an operator means: the one that is set, or that of a `receiver dev` that runs here.

    Raises StartupError if there is neither.
    """
    server = EmbeddedServer(settings.data_dir)
    if settings.redis_url is None and server.is_ready():
        return server.url
    return settings.require_redis_url()
