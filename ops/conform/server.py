"""What is under test: a server with its fixture tools, as one check sees it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from ops.client.exchange import Exchange
from ops.client.session import REVISION, Answers
from ops.conform.check import NotApplicable
from ops.conform.fixtures import PREFIX
from ops.conform.session import LOOK_SECONDS, Session

CANCELLED_AT_ONCE = 20
FORM: Mapping[str, Any] = {"elicitation": {"form": {}}}
EVERYTHING: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}


@dataclass(frozen=True)
class Target:
    """Where a server is, who asks, and what it said of itself.

    ``tokens``: the second is another principal's.  ``names``: tools by role, where they are not ``conform_<role>``.
    ``offered``: what tools/list shows, by name.
    """

    urls: tuple[str, ...]
    tokens: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    initialized: Mapping[str, Any] = field(default_factory=dict)
    offered: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it declared."""
        return self.initialized.get("capabilities") or {}

    def at(self, *urls: str) -> "Target":
        """The same server, elsewhere."""
        return replace(self, urls=urls)


class Server:
    """A target for the time of one check.  What is opened and created here is closed and cancelled behind it."""

    def __init__(self, target: Target, http: httpx2.AsyncClient) -> None:
        self.target = target
        self.http = http
        self.exchanges: list[Exchange] = []
        self.tasks: list[tuple[Session, str]] = []
        self.waits: list[str] = []
        self._sessions: list[Session] = []

    async def open(
        self,
        capabilities: Mapping[str, Any] | None = None,
        *,
        version: str = REVISION,
        node: int = 0,
        user: int = 0,
        answers: Answers | None = None,
    ) -> Session:
        """An initialized session of a client with these capabilities; ``answers`` is what it says to the server."""
        session = self.session(user=user, answers=answers)
        await session.initialize(capabilities or {}, version, node)
        (await session.notify("notifications/initialized", node=node)).expect_status(202)
        return session

    def session(self, *, user: int | None = 0, answers: Answers | None = None) -> Session:
        """A session that has yet to begin."""
        if user is not None and user >= 1:
            self.require("token2")
        session = Session(self, user, answers or {})
        self._sessions.append(session)
        return session

    def tool(self, role: str) -> str:
        """The name of the tool with this role; NotApplicable if the server has none."""
        name = self.target.names.get(role, PREFIX + role)
        if name not in self.target.offered:
            raise NotApplicable(f"the server has no tool {name!r}: see docs/conform.md")
        return name

    def declares(self, capability: str) -> bool:
        """Whether it declared a capability, given with dots: ``tasks.list``."""
        found: Any = self.target.capabilities
        for name in capability.split("."):
            if not isinstance(found, Mapping) or found.get(name) in (None, False):
                return False
            found = found[name]
        return True

    def require(self, *needs: str) -> None:
        """NotApplicable unless all is there: ``url2``, ``token``, ``token2``, or capabilities with dots."""
        options = {"url2": len(self.target.urls) > 1, "token": self.target.tokens, "token2": self.target.tokens[1:]}
        for need in needs:
            if need in options and not options[need]:
                raise NotApplicable(f"it needs --{need}")
            if need not in options and not self.declares(need):
                raise NotApplicable(f"the server does not declare {need}")

    def keep(self, exchange: Exchange) -> None:
        """Notes what was sent, to be dropped behind the check."""
        self.exchanges.append(exchange)

    def url(self, node: int) -> str:
        """Where a node is; the first stands for the second where there is one alone."""
        return self.target.urls[min(node, len(self.target.urls) - 1)]

    def authorization(self, user: int | None) -> str | None:
        """The header of a user; None for nobody, and where there are no tokens."""
        return None if user is None or not self.target.tokens else f"Bearer {self.target.tokens[user]}"

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Says what is waited for, in case that it never comes."""
        self.waits.append(what)
        yield
        self.waits.remove(what)  # not after an exception: then it is what the report says

    async def poll(self, what: str, holds: Callable[[], Awaitable[bool]], pause: float = LOOK_SECONDS) -> None:
        """Asks again, with a pause of so many seconds, until something holds; ``what`` is waited for."""
        with self.waiting(what):
            while not await holds():  # noqa: ASYNC110 - what a server does is no event here
                await asyncio.sleep(pause)

    async def close(self) -> None:
        """Cancels the tasks, ends the sessions, and drops the streams."""
        can_cancel = self.declares("tasks.cancel")
        for exchange in list(self.exchanges):
            await exchange.drop()
        for begin in range(0, len(self.tasks) if can_cancel else 0, CANCELLED_AT_ONCE):
            some = self.tasks[begin : begin + CANCELLED_AT_ONCE]
            await asyncio.gather(*(session.cancel_task(id) for session, id in some))  # an error for what is finished
        for session in self._sessions:
            if session.id is not None:
                await session.send(verb="DELETE")
        for exchange in self.exchanges:
            await exchange.drop()
