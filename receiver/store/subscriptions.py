"""Which sessions want to know of which resources, and the word to them that one was updated."""

from receiver.protocol.errors import Refused
from receiver.protocol.messages import render_resource_updated
from receiver.store.admission import Admission
from receiver.store.client import Client
from receiver.store.tasks import new_nonce

START = b"0"
BATCH = 500  # sessions told by one call: others are waiting for the store


class SubscriptionStore:
    """The subscriptions of all sessions, each of which has ``limit`` at most; they end with their sessions."""

    def __init__(self, client: Client, *, limit: int) -> None:
        self._client = client
        self._limit = limit

    async def subscribe(self, admission: Admission, uri: str) -> None:
        """Has the session told of each update of ``uri``.  Raises Refused for one resource too many."""
        if not await self._client.admit(admission, "subscribe", admission.session, uri, self._limit):
            raise Refused("too_many_subscriptions", f"{self._limit} subscriptions are the limit; end some of them")

    async def unsubscribe(self, admission: Admission, uri: str) -> None:
        """Has the session told no more, also not of an update that it was not told of yet."""
        head = (admission.session, uri)
        await self._client.admit(admission, "unsubscribe", *head, render_resource_updated(uri))

    async def announce(self, uri: str) -> None:
        """Tells the sessions that subscribed to exactly ``uri`` that it was updated."""
        head = (uri, render_resource_updated(uri), new_nonce())
        following = START
        while (following := await self._client.call("announce", *head, following, BATCH)) != START:
            pass
