"""Where a request comes from: the Host and Origin that it names (H-03).

A web page can make its visitor's browser ask a server that only the visitor can reach, and even read the answer where
it rebinds its own name to that server's address.  The browser names the page in Origin and that name in Host.
"""

import functools
import re
from collections.abc import Collection, Mapping
from ipaddress import IPv6Address

from receiver.http.refusal import Refusal
from receiver.protocol.errors import StartupError

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
ALL = "*"

_AUTHORITY = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{0,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_LONGEST = 1024  # bytes of both together; a host name has 253 at most
_REMEMBERED = 1024  # pairs of Host and Origin

_MALFORMED = (400, "Host must be one host name or address, and a port where needed")  # RFC 9112, 3.2
_FOREIGN_HOST = (403, "This Host is not served here; RECEIVER_ALLOWED_HOSTS names those that are")
_FOREIGN_ORIGIN = (403, "This Origin may not ask here; RECEIVER_ALLOWED_ORIGINS names those that may")

Verdict = tuple[int, str] | None
Authority = tuple[str, str]  # host and port, without the default port of a scheme


class Origins:
    """Which hosts and origins are served.

    ``hosts`` are names with or without a port, and without one any port will do; without ``hosts`` every name will.
    ``origins`` may ask besides those that are on an allowed host.  ``trusts_any_host``: where every name will do, so
    does a page of that name; that is safe where requestors bring credentials that no browser adds by itself.
    Raises StartupError for what is neither.
    """

    def __init__(self, hosts: Collection[str], origins: Collection[str], *, trusts_any_host: bool) -> None:
        self._hosts = None if not hosts or ALL in hosts else frozenset(map(_read_host, hosts))
        self._origins = None if ALL in origins else frozenset(map(_read_origin, origins))
        self._trusts_any_host = trusts_any_host
        self._judge = functools.lru_cache(_REMEMBERED)(self._judge_anew)

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raises Refusal: 403 for a host or an origin that is not served, 400 for a Host that is none.

        Without Host (HTTP/1.0) it is no browser that asks.
        """
        host, origin = headers.get(b"host"), headers.get(b"origin")
        verdict = _MALFORMED if len(host or b"") + len(origin or b"") > _LONGEST else self._judge(host, origin)
        if verdict is not None:
            raise Refusal(*verdict)

    def _judge_anew(self, host: bytes | None, origin: bytes | None) -> Verdict:
        authority = None
        if host is not None:
            authority = _read_authority(host.decode("latin-1").lower())
            if authority is None:
                return _MALFORMED
            if self._hosts is not None and not self._is_listed(authority):
                return _FOREIGN_HOST
        if origin is None or self._may_ask(origin.decode("latin-1"), authority):
            return None
        return _FOREIGN_ORIGIN

    def _is_listed(self, host: Authority) -> bool:
        return self._hosts is not None and (host in self._hosts or (host[0], "") in self._hosts)

    def _may_ask(self, origin: str, host: Authority | None) -> bool:
        if self._origins is None:
            return True
        try:
            scheme, authority = _split_origin(origin)
        except ValueError:  # `null` too, as a sandboxed frame has it
            return False
        if _join_origin(scheme, authority) in self._origins or self._is_listed(authority):
            return True
        is_same = host is not None and authority == _without_default_port(scheme, host)
        return is_same and self._hosts is None and self._trusts_any_host


def _read_authority(text: str) -> Authority | None:
    """Host and port of lower-case ``text``."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    name, port = found[1], found[2] or ""
    if name.startswith("["):
        try:
            name = f"[{IPv6Address(name[1:-1])}]"
        except ValueError:
            return None
    return name, port


def _split_origin(origin: str) -> tuple[str, Authority]:
    """Scheme and authority; ValueError for what is no origin."""
    scheme, _, rest = origin.lower().partition("://")
    authority = _read_authority(rest)
    if authority is None:
        raise ValueError(f"{origin!r} is no origin")
    return scheme, _without_default_port(scheme, authority)


def _without_default_port(scheme: str, authority: Authority) -> Authority:
    name, port = authority
    return (name, "" if port == _DEFAULT_PORTS.get(scheme) else port)


def _join_origin(scheme: str, authority: Authority) -> str:
    return f"{scheme}://{':'.join(filter(None, authority))}"


def _read_host(given: str) -> Authority:
    authority = _read_authority(given.lower())
    if authority is None:
        raise StartupError(f"RECEIVER_ALLOWED_HOSTS: {given!r} is not a host name, with or without a port")
    return authority


def _read_origin(given: str) -> str:
    try:
        return _join_origin(*_split_origin(given))
    except ValueError:
        raise StartupError(f"RECEIVER_ALLOWED_ORIGINS: {given!r} is not an origin, like https://example.com") from None
