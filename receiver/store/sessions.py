"""Sessions: known to every node, bound to their principal, and no business of any task."""

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress

import orjson

from receiver.protocol.errors import Unavailable
from receiver.protocol.handshake import REVISIONS
from receiver.protocol.loglevel import LogLevel, rank_of
from receiver.session import Session, is_session_id
from receiver.store.admission import ANY_RATE, Admission
from receiver.store.client import Client
from receiver.store.tasks import new_nonce
from receiver.telemetry.audit import Caller

HASTE_SECONDS = 0.25
REMEMBERED = 10_000  # sessions of which this process knows by heart what does not change


class SessionStore:
    """``idle`` in ms ends a silent session; ``cap`` is how many an owner may have at the same time."""

    def __init__(self, client: Client, *, idle: int, cap: int) -> None:
        self._client = client
        self._hasty = client.with_patience(HASTE_SECONDS)
        self._idle = idle
        self._cap = cap
        self._remembered: OrderedDict[str, Session] = OrderedDict()

    async def start(self, session: Session, client_info: Mapping[str, object]) -> None:
        """Begins a session; beyond the cap, the one that was silent longest ends for it."""
        fields = ("protocol", session.revision.version, "capabilities", orjson.dumps(session.capabilities))
        head = (session.id, session.owner, self._idle, self._cap)
        await self._client.call("start_session", *head, *fields, "client", orjson.dumps(client_info))

    async def find(self, session_id: str, owner: str) -> Session | None:
        """What is known of a session of this owner.  Whether it still lives is asked by each request's own script."""
        known = self._remembered.get(session_id)
        if known is None and is_session_id(session_id):
            known = await self._read(session_id)
        if known is None or known.owner != owner:
            return None
        self._remember(known)
        return known

    async def confirm(self, session: Session) -> None:
        """Raises SessionEnded unless the session lives; to be asked this keeps it alive."""
        await self.touch(Admission(session.owner, session.id, "", "", self._idle, ANY_RATE))

    async def touch(self, admission: Admission) -> None:
        """Admits a request that needs nothing else of the store, and so goes on while the store is away."""
        with suppress(Unavailable):
            await self._hasty.admit(admission, "touch")

    async def show_list(self, admission: Admission, kind: str, digest: str) -> None:
        """Admits a request that is answered with a list, and so ``touch`` too; the session remembers the list."""
        with suppress(Unavailable):
            await self._hasty.admit(admission, "show_list", admission.session, kind, digest)

    async def end(self, session: Session) -> bool:
        """Ends a session; False if it had ended already."""
        self._remembered.pop(session.id, None)
        return bool(await self._client.call("end_session", session.id, session.owner, new_nonce()))

    async def set_log_level(self, admission: Admission, level: LogLevel) -> None:
        """Has messages below ``level`` left out from now on."""
        await self._client.admit(admission, "set_log_level", admission.session, level, rank_of(level))

    async def cancel_request(self, session: Session, request: bytes, caller: Caller | None = None) -> bool:
        """Ends the request with this id (JSON), if it is under way: no response will be sent (L-07)."""
        note = "" if caller is None else caller.to_note()
        return bool(await self._client.call("cancel_request", session.id, session.owner, request, note))

    async def _read(self, session_id: str) -> Session | None:
        owner, protocol, capabilities = await self._client.call("read_session", session_id)
        revision = REVISIONS.get((protocol or b"").decode())
        if owner is None or revision is None:
            return None
        return Session(session_id, owner.decode(), revision, orjson.loads(capabilities))

    def _remember(self, session: Session) -> None:
        self._remembered[session.id] = session
        self._remembered.move_to_end(session.id)
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
