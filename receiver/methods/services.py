"""What the handlers work with: one set in every API process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from receiver.dispatch import Call
from receiver.feed import Feeds
from receiver.methods.pacing import Pacer
from receiver.protocol.cursor import Cursors
from receiver.protocol.errors import InvalidRequest
from receiver.protocol.event_id import EventIds
from receiver.protocol.ttl import TtlBounds
from receiver.receiver import Receiver
from receiver.session import Session
from receiver.settings import Settings, parse_rate
from receiver.store.admission import Admission, RateLimit
from receiver.store.backlog import Backlog
from receiver.store.inputs import InputStore
from receiver.store.sessions import SessionStore
from receiver.store.subscriptions import SubscriptionStore
from receiver.store.tasks import TaskStore
from receiver.telemetry import audit


@dataclass(frozen=True)
class Services:
    """``identifies``: whether requestors can be told apart, without which there is no tasks/list (T-88).

    ``lists``: a digest of each list that clients are shown here, by its kind.
    """

    app: Receiver
    settings: Settings
    tasks: TaskStore
    sessions: SessionStore
    subscriptions: SubscriptionStore
    inputs: InputStore
    backlog: Backlog
    feeds: Feeds
    lists: Mapping[str, str]
    cursors: Cursors
    event_ids: EventIds
    identifies: bool
    pacer: Pacer = field(default_factory=Pacer)

    @cached_property
    def ttl_bounds(self) -> TtlBounds:
        """What this deployment grants."""
        return TtlBounds(self.settings.default_ttl, self.settings.min_ttl, self.settings.max_ttl)

    @cached_property
    def session_idle(self) -> int:
        """How long a silent session lives, in ms."""
        return round(self.settings.session_idle_seconds * 1000)

    @cached_property
    def rate_limit(self) -> RateLimit:
        """How many requests of a kind a requestor may make."""
        return RateLimit(*parse_rate(self.settings.rate_limit))


ServerCall = Call[Services]


def session_of(call: ServerCall) -> Session:
    """The session of a request; all but ``initialize`` have one."""
    if call.session is None:
        raise InvalidRequest("A session is needed: call initialize first")
    return call.session


def admission_of(call: ServerCall, arguments: bytes = b"") -> Admission:
    """The claim of a request to be served.  Anonymous requestors are told apart by their sessions.

    ``arguments``: of what is to be run, for the digest in the audit trail.
    """
    services, session = call.services, session_of(call)
    return Admission(
        owner=call.principal.owner,
        session=session.id,
        requestor=session.id if call.principal.is_anonymous else call.principal.owner,
        operation=call.method,
        session_idle=services.session_idle,
        limit=services.rate_limit,
        caller=audit.client(call.principal, call.method, call.id, call.address, arguments),
    )


def note(call: ServerCall, admission: Admission, outcome: audit.Outcome, detail: str, task: str = "") -> None:
    """Has the audit trail tell, within a second, what became of an admitted request."""
    if admission.caller is not None:
        call.services.backlog.note(audit.event_of(admission.caller, outcome, detail, task))
