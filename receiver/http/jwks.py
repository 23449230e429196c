"""The public keys of an issuer (RFC 7517): fetched when they are needed, kept while it is away."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson
import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

FETCH_SECONDS = 5.0  # for all of a fetch
REFRESH_SECONDS = 300.0  # how old keys may be before they are fetched again, behind the requests
RETRY_SECONDS = 10.0  # the same after a fetch that failed
COOL_DOWN_SECONDS = 10.0  # between two fetches that unknown keys call for
RETRY_COOL_DOWN_SECONDS = 1.0  # the same after a fetch that failed
MAX_DOCUMENT_BYTES = 262_144
MAX_KEYS = 100

RSA_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
CURVE_ALGORITHMS = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}
ALGORITHMS = frozenset({*RSA_ALGORITHMS, *CURVE_ALGORITHMS.values()})  # no `none`, and no secret that both sides share

log = structlog.get_logger(__name__)


class IssuerError(Exception):
    """An issuer's document can't be had, or says nothing that could be used."""


@dataclass(frozen=True)
class Key:
    """A public key, and the algorithms that it may be used with."""

    id: str | None
    algorithms: tuple[str, ...]
    material: Any


class IssuerKeys:
    """The keys of one issuer.  ``url`` is where its key set is; without, its metadata says so.

    A fetch blocks nobody but those who wait for it, and there is one at a time.
    """

    def __init__(self, issuer: str, url: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._url = url
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._document = b""
        self._fetch: asyncio.Task[None] | None = None
        self._stale_at = self._fetchable_at = clock()
        self._tls: ssl.SSLContext | None = None
        self.generation = 0  # rises with every change of the keys

    def find(self, id: str | None, algorithm: str) -> list[Key]:
        """The keys that may have signed: those with this id, or, for a token that names none, all of this algorithm."""
        return [key for key in self._keys if algorithm in key.algorithms and (id is None or id == key.id)]

    def has(self, id: str) -> bool:
        """Whether a key has this id."""
        return any(key.id == id for key in self._keys)

    def freshen(self) -> None:
        """Has old keys fetched again, behind the back of whoever asks for it."""
        if self._clock() >= self._stale_at:
            self._start()

    async def refresh(self) -> None:
        """Fetches the keys now; does nothing where that was done a moment ago, so that unknown keys cost little."""
        if self._fetch is None and self._clock() < self._fetchable_at:
            return
        await asyncio.wait({self._start()})  # whoever stops waiting does not stop the fetch

    async def close(self) -> None:
        """Ends a fetch that is on its way."""
        if self._fetch is not None:
            self._fetch.cancel()
            await asyncio.wait({self._fetch})

    def _start(self) -> "asyncio.Task[None]":
        if self._fetch is None:
            self._fetch = asyncio.create_task(self._run())
        return self._fetch

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS), self._connect() as client:
                document = await self._get_key_set(client)
            self._take(document)
            rest, cool_down = REFRESH_SECONDS, COOL_DOWN_SECONDS
        except Exception as error:  # whatever it is, the keys that are there stay in use
            rest, cool_down = RETRY_SECONDS, RETRY_COOL_DOWN_SECONDS
            reason = f"{type(error).__name__}: {error}"
            log.warning("issuer_keys_not_fetched", issuer=self._issuer, reason=reason, keys_kept=len(self._keys))
        finally:
            self._fetch = None
        self._stale_at, self._fetchable_at = self._clock() + rest, self._clock() + cool_down

    def _take(self, document: bytes) -> None:
        if document == self._document:
            return
        self._keys, self._document = read_keys(document), document
        self.generation += 1
        log.info("issuer_keys", issuer=self._issuer, ids=[key.id for key in self._keys])

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[httpx2.AsyncClient]:
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx2.create_ssl_context)  # reads all of the machine's certificates
        async with httpx2.AsyncClient(verify=self._tls, timeout=FETCH_SECONDS) as client:
            yield client

    async def _get_key_set(self, client: httpx2.AsyncClient) -> bytes:
        return await _get(client, self._url or await _discover(client, self._issuer))


def read_keys(document: bytes) -> tuple[Key, ...]:
    """The keys of a key set that can verify signatures.  Raises IssuerError if there are none."""
    listed = _read_object(document).get("keys")
    entries = listed[:MAX_KEYS] if isinstance(listed, list) else []
    keys = tuple(key for entry in entries if isinstance(entry, dict) and (key := _read_key(entry)))
    if not keys:
        raise IssuerError("the key set has no key that could be used")
    return keys


def _read_key(entry: Mapping[str, Any]) -> Key | None:
    """The key, or None: for encryption, with a secret in it, too short, or of a kind that is not known here."""
    try:
        if entry.get("use", "sig") != "sig" or "verify" not in entry.get("key_ops", ["verify"]) or "d" in entry:
            return None
        possible = RSA_ALGORITHMS if entry["kty"] == "RSA" else (CURVE_ALGORITHMS[entry["crv"]],)
        algorithms = tuple(name for name in possible if entry.get("alg", name) == name)
        key = PyJWK(dict(entry), algorithms[0])
        is_weak = key.Algorithm.check_key_length(key.key) is not None
        return None if is_weak else Key(entry.get("kid"), algorithms, key.key)
    except (PyJWTError, LookupError, TypeError, ValueError):
        return None


async def _discover(client: httpx2.AsyncClient, issuer: str) -> str:
    """Where the key set is, by the issuer's metadata (RFC 8414, OpenID Connect Discovery)."""
    faults = []
    for url in _metadata_urls(issuer):
        try:
            metadata = _read_object(await _get(client, url))
        except IssuerError as error:
            faults.append(str(error))
            continue
        if metadata.get("issuer") != issuer:  # RFC 8414, 3.3: somebody else's
            faults.append(f"{url} speaks of another issuer")
            continue
        found = str(metadata.get("jwks_uri"))
        if urlsplit(found).scheme in ("https", urlsplit(issuer).scheme):
            return found
        faults.append(f"{url} names no jwks_uri of https")
    raise IssuerError("; ".join(faults))


def _metadata_urls(issuer: str) -> list[str]:
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    inserted = [f"{origin}/.well-known/{name}{path}" for name in ("oauth-authorization-server", "openid-configuration")]
    return [*inserted, f"{origin}{path}/.well-known/openid-configuration"] if path else inserted


async def _get(client: httpx2.AsyncClient, url: str) -> bytes:
    """A document of limited size; compression could make more of it, and is not offered."""
    async with client.stream("GET", url, headers={"accept": "application/json", "accept-encoding": "identity"}) as got:
        if got.status_code != 200:
            raise IssuerError(f"{url} answers with HTTP {got.status_code}")
        document = bytearray()
        async for chunk in got.aiter_raw():
            document += chunk
            if len(document) > MAX_DOCUMENT_BYTES:
                raise IssuerError(f"{url} has more than {MAX_DOCUMENT_BYTES} bytes")
    return bytes(document)


def _read_object(document: bytes) -> dict[str, Any]:
    try:
        read = orjson.loads(document)
    except ValueError:
        raise IssuerError("the document is not JSON") from None
    if not isinstance(read, dict):
        raise IssuerError("the document is not a JSON object")
    return read
