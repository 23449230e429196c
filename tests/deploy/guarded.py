"""A server as ``ops/deploy/redis`` makes one: its configuration, its users, and how it is started."""

from collections.abc import Sequence
from pathlib import Path

from redis import Redis

from tests.processes import HOST, ROOT, Child, find_free_port

DEPLOY = ROOT / "ops" / "deploy"
USERS = ("admin", "api", "console", "exporter", "operator", "replica", "sentinel", "worker")


class GuardedServer(Child):
    """It listens on loopback.  The password of each user of ``passwords`` is ``<user>-password``; others have none."""

    def __init__(self, binary: Path, folder: Path, *extra: str, passwords: Sequence[str] = USERS) -> None:
        self.port = find_free_port()
        folder.mkdir(parents=True, exist_ok=True)
        words = ["--port", str(self.port), "--bind", HOST, "--dir", str(folder), *extra]
        env = {f"{user.upper()}_PASSWORD": f"{user}-password" for user in passwords}
        env |= {"SERVER": str(binary), "COPIES": str(folder)}
        super().__init__(["sh", DEPLOY / "redis" / "start.sh", DEPLOY / "redis", *words], env=env)
        self.wait_for_log("Ready to accept connections")

    def url_of(self, user: str) -> str:
        """Where ``user`` connects."""
        return f"redis://{user}:{user}-password@{HOST}:{self.port}/0"

    def connect_as(self, user: str) -> Redis:
        """A blocking client."""
        return Redis.from_url(self.url_of(user), decode_responses=True)

    def list_denials(self) -> list[str]:
        """What was refused so far, each as ``user: reason object``.

        But for CLIENT SETINFO, by which a client says which library it is: servers before 7.2 don't have it, and would
        not take a file that permits it.
        """
        with self.connect_as("admin") as redis:
            denials = [f"{it['username']}: {it['reason']} {it['object']}" for it in redis.acl_log()]
        return [denial for denial in denials if not denial.endswith("client|setinfo")]
