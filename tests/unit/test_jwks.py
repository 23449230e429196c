"""The keys of an issuer: found, fetched, kept.  The issuer is a real server."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import get_default_algorithms
from structlog.testing import capture_logs

from receiver.http import jwks
from receiver.http.jwks import IssuerError, IssuerKeys, read_keys
from tests.issuer import HOST, Issuer, describe_key, make_key


class Clock:
    """Goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    issuer.add_key("first")
    yield issuer
    issuer.pause.set()
    issuer.close()


@pytest.fixture(autouse=True)
def logs() -> Iterator[list[Any]]:
    with capture_logs() as lines:
        yield lines


@pytest.fixture
def keys(issuer: Issuer, clock: Clock) -> IssuerKeys:
    return IssuerKeys(issuer.url, issuer.jwks_url, clock=clock)


def ids(keys: IssuerKeys) -> list[str | None]:
    return [key.id for key in keys.find(None, "ES256")]


async def until_asked(issuer: Issuer) -> None:
    """Returns when a fetch is on its way."""
    async with asyncio.timeout(20):
        while not issuer.paths:  # noqa: ASYNC110 - it runs in a thread and tells nobody
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", "/.well-known/oauth-authorization-server"),
        ("", "/.well-known/openid-configuration"),
        ("/tenant", "/.well-known/oauth-authorization-server/tenant"),
        ("/tenant", "/.well-known/openid-configuration/tenant"),
        ("/tenant", "/tenant/.well-known/openid-configuration"),
        ("/tenant/", "/tenant/.well-known/openid-configuration"),
    ],
)
async def test_the_key_set_is_found_by_the_metadata(path: str, place: str) -> None:
    """RFC 8414, 3.1 and 5; OpenID Connect Discovery, 4."""
    issuer = Issuer(path)
    issuer.add_key("first")
    issuer.documents = {"/keys": issuer.documents["/keys"]}
    issuer.write_metadata(place)
    keys = IssuerKeys(issuer.url, None)
    await keys.refresh()
    issuer.close()
    assert ids(keys) == ["first"]


@pytest.mark.parametrize(
    "members",
    [
        {"issuer": "https://other.example.com"},  # RFC 8414, 3.3
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": 7},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "//[/keys"},
    ],
)
async def test_metadata_that_is_not_believed(issuer: Issuer, logs: list[Any], members: dict[str, object]) -> None:
    issuer.write_metadata("/.well-known/oauth-authorization-server", **members)
    keys = IssuerKeys(issuer.url, None)
    await keys.refresh()
    assert ids(keys) == []
    assert [line["event"] for line in logs] == ["issuer_keys_not_fetched"]
    assert "/keys" not in issuer.paths


async def test_a_key_set_of_https_may_not_be_replaced_by_one_of_http(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, issuer: Issuer
) -> None:
    secure = Issuer(tls=_make_tls(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
    secure.write_metadata("/.well-known/oauth-authorization-server", jwks_uri=issuer.jwks_url)
    keys = IssuerKeys(secure.url, None)
    await keys.refresh()
    secure.close()
    assert (ids(keys), issuer.paths) == ([], [])


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_certificates_are_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_trusted: bool) -> None:
    secure = Issuer(tls=_make_tls(tmp_path))
    secure.add_key("first")
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
    keys = IssuerKeys(secure.url, None)
    await keys.refresh()
    secure.close()
    assert ids(keys) == (["first"] if is_trusted else [])


async def test_old_keys_are_fetched_again_behind_the_requests(keys: IssuerKeys, clock: Clock, issuer: Issuer) -> None:
    await keys.refresh()
    issuer.add_key("second")
    issuer.paths.clear()
    clock.now += jwks.REFRESH_SECONDS - 1
    keys.freshen()
    assert issuer.paths == []
    issuer.pause.clear()
    clock.now += 1
    keys.freshen()
    await until_asked(issuer)
    keys.freshen()  # one is on its way
    assert ids(keys) == ["first"]
    issuer.pause.set()
    await keys.refresh()
    assert ids(keys) == ["first", "second"]
    assert issuer.paths == ["/keys"]


async def test_fetches_for_unknown_keys_are_rare_and_shared(keys: IssuerKeys, clock: Clock, issuer: Issuer) -> None:
    """Tokens with made-up ids cost the issuer next to nothing."""
    await asyncio.gather(*(keys.refresh() for _ in range(100)))
    assert len(issuer.paths) == 1
    clock.now += jwks.COOL_DOWN_SECONDS - 0.1
    await keys.refresh()
    assert len(issuer.paths) == 1
    clock.now += 0.1
    await keys.refresh()
    assert len(issuer.paths) == 2


async def test_keys_stay_while_the_issuer_is_away(
    keys: IssuerKeys, clock: Clock, issuer: Issuer, logs: list[Any]
) -> None:
    await keys.refresh()
    issuer.close()
    for _ in range(3):
        clock.now += jwks.REFRESH_SECONDS
        await keys.refresh()
        assert ids(keys) == ["first"]
    assert [line["event"] for line in logs] == ["issuer_keys", *["issuer_keys_not_fetched"] * 3]
    issuer.add_key("second")
    issuer.open()
    clock.now += jwks.RETRY_SECONDS - 0.1
    keys.freshen()
    assert len(issuer.paths) == 1
    clock.now += 0.1
    keys.freshen()
    await keys.refresh()  # joins it
    assert ids(keys) == ["first", "second"]


async def test_an_issuer_that_was_away_at_first(keys: IssuerKeys, clock: Clock, issuer: Issuer) -> None:
    """Who brings a token has the keys fetched, as soon as a second after a fetch that failed."""
    issuer.close()
    await keys.refresh()
    issuer.open()
    await keys.refresh()
    assert ids(keys) == []
    clock.now += jwks.RETRY_COOL_DOWN_SECONDS
    await keys.refresh()
    assert ids(keys) == ["first"]


async def test_an_issuer_that_hangs(
    keys: IssuerKeys, clock: Clock, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keys.refresh()
    monkeypatch.setattr(jwks, "FETCH_SECONDS", 0.05)
    issuer.pause.clear()
    clock.now += jwks.REFRESH_SECONDS
    await keys.refresh()
    assert ids(keys) == ["first"]


async def test_who_stops_waiting_does_not_stop_the_fetch(keys: IssuerKeys, issuer: Issuer) -> None:
    issuer.pause.clear()
    waiting = asyncio.create_task(keys.refresh())
    await until_asked(issuer)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    issuer.pause.set()
    await keys.refresh()
    assert (ids(keys), issuer.paths) == (["first"], ["/keys"])


async def test_closing_ends_a_fetch(keys: IssuerKeys, issuer: Issuer) -> None:
    issuer.pause.clear()
    keys.freshen()
    await until_asked(issuer)
    await keys.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await keys.close()


async def test_the_generation_tells_of_changes(keys: IssuerKeys, clock: Clock, issuer: Issuer) -> None:
    seen = [keys.generation]
    for added, removed in [(None, None), (None, None), ("second", None), (None, "first")]:
        if added:
            issuer.add_key(added)
        if removed:
            issuer.remove_key(removed)
        clock.now += jwks.COOL_DOWN_SECONDS
        await keys.refresh()
        seen.append(keys.generation)
    assert seen == [0, 1, 1, 2, 3]
    assert not keys.has("first")
    assert keys.has("second")


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b'{"keys": {}}',
        b'{"keys": []}',
        b'{"keys": [{"kty": "oct", "k": "AAAA", "kid": "x"}]}',
        json.dumps({"keys": [describe_key(make_key("ES256"), "ES256")]}).encode() + b" " * jwks.MAX_DOCUMENT_BYTES,
        None,
    ],
)
async def test_a_document_that_is_no_key_set(
    keys: IssuerKeys, clock: Clock, issuer: Issuer, logs: list[Any], document: bytes | None
) -> None:
    """The keys of before stay."""
    await keys.refresh()
    clock.now += jwks.REFRESH_SECONDS
    issuer.documents = {} if document is None else {"/keys": document}
    await keys.refresh()
    assert ids(keys) == ["first"]
    assert [line["event"] for line in logs] == ["issuer_keys", "issuer_keys_not_fetched"]


EC, RSA, ED, ED448 = make_key("ES256"), make_key("RS256"), make_key("EdDSA"), make_key("Ed448")


@pytest.mark.parametrize(
    ("described", "algorithms"),
    [
        (describe_key(EC, "ES256"), ("ES256",)),
        (describe_key(EC, "ES256", use="sig", key_ops=["verify"], alg="ES256"), ("ES256",)),
        (describe_key(make_key("ES384"), "ES384"), ("ES384",)),
        (describe_key(make_key("ES512"), "ES512"), ("ES512",)),
        (describe_key(ED, "EdDSA"), ("EdDSA",)),
        (describe_key(ED448, "EdDSA"), ("EdDSA",)),
        (describe_key(RSA, "RS256"), jwks.RSA_ALGORITHMS),
        (describe_key(RSA, "RS256", alg="PS256"), ("PS256",)),
    ],
)
def test_what_a_key_may_verify(described: dict[str, Any], algorithms: tuple[str, ...]) -> None:
    (key,) = read_keys(json.dumps({"keys": [described]}).encode())
    assert (key.id, key.algorithms) == (None, algorithms)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "x",
        {},
        {"kty": "RSA"},
        {"kty": "EC", "crv": "P-256"},
        {"kty": "EC", "crv": ["P-256"]},
        {"kty": ["RSA"]},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "oct", "k": "c2VjcmV0", "crv": "P-256"},
        describe_key(EC, "ES256", use="enc"),
        describe_key(EC, "ES256", key_ops=["encrypt"]),
        describe_key(EC, "ES256", key_ops=7),
        {**describe_key(EC, "ES256"), **get_default_algorithms()["ES256"].to_jwk(EC, as_dict=True)},
        describe_key(EC, "ES256", alg="ES384"),
        describe_key(EC, "ES256", alg="none"),
        describe_key(EC, "ES256", alg="HS256"),
        describe_key(EC, "ES256", crv="secp256k1"),
        describe_key(EC, "ES256", kty="RSA"),
        describe_key(RSA, "RS256", alg="RSA-OAEP"),
        describe_key(RSA, "RS256", n="!"),
        describe_key(make_key("RS256", rsa_bits=1024), "RS256"),
    ],
)
def test_a_key_that_is_passed_over(entry: object) -> None:
    """The others are used all the same."""
    listed = {"keys": [entry, describe_key(ED, "EdDSA", kid="good")]}
    assert [key.id for key in read_keys(json.dumps(listed).encode())] == ["good"]
    with pytest.raises(IssuerError, match="no key that could be used"):
        read_keys(json.dumps({"keys": [entry]}).encode())


def test_no_more_keys_than_that() -> None:
    listed = {"keys": [describe_key(ED, "EdDSA", kid=str(number)) for number in range(jwks.MAX_KEYS + 1)]}
    assert len(read_keys(json.dumps(listed).encode())) == jwks.MAX_KEYS


def _make_tls(folder: Path) -> ssl.SSLContext:
    """What a server with a certificate of its own needs; the certificate is in ``folder`` too."""
    key, name = make_key("ES256"), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "issuer")])
    now = datetime.now()
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate").write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "certificate", folder / "key")
    return tls
