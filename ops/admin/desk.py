"""What the console and its API work with: one set in a process."""

import asyncio

from ops.admin.actions import Actions
from ops.admin.consultation import Doctor
from ops.admin.jobs import Jobs
from ops.admin.redaction import load_redaction
from ops.admin.visits import Visits
from receiver.settings import Settings
from receiver.store.audit import AuditTrail
from receiver.store.census import Census
from receiver.store.client import Client, connect
from receiver.store.inspect import Inspector
from receiver.store.keys import Keys
from receiver.store.secret import load_secrets

CONNECTIONS = 16  # of its own, so that no operator takes one from requestors
PATIENCE_SECONDS = 3.0


class Desk:
    """Opens its connections with the first request."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.redis = connect(settings.require_redis_url(), connections=CONNECTIONS)
        self.client = Client(
            self.redis, Keys(settings.namespace), patience=PATIENCE_SECONDS, audit_events=settings.audit_events
        )
        self.inspector = Inspector(self.client)
        self.census = Census(self.client)
        self.trail = AuditTrail(self.client)
        self.redaction = load_redaction(settings.redact)
        self.jobs = Jobs()
        self.doctor = Doctor(self.client, settings.durability)
        self._visits: Visits | None = None
        self._opening = asyncio.Lock()

    async def open_visits(self) -> Visits:
        """What signs and reads the cookies.  Raises StartupError if the store can't be asked for its secret."""
        async with self._opening:
            if self._visits is None:
                self._visits = Visits(await load_secrets(self.redis, self.client.keys, self.settings.secrets))
            return self._visits

    def actions_of(self, who: str, address: str) -> Actions:
        """The acts of an operator, who sits at ``address``."""
        return Actions(self.client, who, address)

    async def close(self) -> None:
        """Ends what was opened."""
        await self.jobs.close()
        await self.redis.aclose(close_connection_pool=True)
