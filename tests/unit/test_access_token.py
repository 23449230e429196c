"""JWTs of an issuer: which are taken, and for whom.  The issuer is a real server."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
from structlog.testing import capture_logs

from receiver.http import access_token
from receiver.http.access_token import AccessTokens
from receiver.http.claims import TokenError
from receiver.http.jwks import COOL_DOWN_SECONDS, REFRESH_SECONDS, IssuerKeys
from receiver.principal import Principal
from receiver.protocol.errors import StartupError
from receiver.settings import load_settings
from tests.forgeries import FORGERIES, KEY, RSA_KEY, by_another_key
from tests.issuer import AUDIENCE, Issuer, forge, sign


class World:
    """The tokens under test, their issuer, and the clocks of both sides."""

    def __init__(self, issuer: Issuer, **options: Any) -> None:
        self.issuer = issuer
        self.uptime = 1000.0
        self.now = time.time()
        keys = IssuerKeys(issuer.url, issuer.jwks_url, clock=lambda: self.uptime)
        options = {"audiences": [AUDIENCE], "clock": lambda: self.now, **options}
        self.tokens = AccessTokens(keys, issuer=issuer.url, **options)

    async def identify(self, token: str) -> Principal:
        return await self.tokens.identify(token.encode(), sha256(token.encode()).digest())

    async def takes(self, token: str) -> bool:
        """Whether it does; fails with the reason if it does not."""
        return isinstance(await self.identify(token), Principal)

    async def refuses(self, token: str) -> str:
        """Why it does."""
        with pytest.raises(TokenError) as caught:
            await self.identify(token)
        return str(caught.value)


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture(scope="module")
def shared_issuer() -> Iterator[Issuer]:
    """Its keys stay."""
    issuer = Issuer()
    issuer.add_key(KEY)
    issuer.add_key(RSA_KEY, "RS256")
    issuer.add_key("ed", "EdDSA")
    issuer.add_key("384", "ES384")
    yield issuer
    issuer.close()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    issuer.add_key(KEY)
    yield issuer
    issuer.close()


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_forgeries(shared_issuer: Issuer, forgery: Callable[[Issuer], str]) -> None:
    """A-04: and what is said of them quotes nothing."""
    world = World(shared_issuer)
    reason = await world.refuses(forgery(shared_issuer))
    assert not any(part in reason for part in ("alice", "mcp", "http", "passwd", "ES256", "kid"))
    assert (await world.identify(shared_issuer.sign(KEY))).subject == "alice"


@pytest.mark.parametrize(
    ("key", "options"),
    [
        (KEY, {}),
        ("384", {}),
        ("ed", {}),
        *((RSA_KEY, {"algorithm": name}) for name in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")),
        ("ed", {"headers": {"kid": None}}),
        (RSA_KEY, {"headers": {"kid": None}}),
        (KEY, {"headers": {"typ": "at+jwt"}}),
        (KEY, {"headers": {"typ": None}}),
        (KEY, {"headers": {"typ": "x"}}),
        (KEY, {"aud": ["https://other.example.com", AUDIENCE]}),
        (KEY, {"aud": "HTTPS://MCP.example.com/mcp"}),
        (KEY, {"exp": int(time.time()) + 3600.5}),
        (KEY, {"nbf": int(time.time()) + 20, "iat": int(time.time()) + 20}),  # the issuer's clock is ahead
        (KEY, {"iat": None}),
    ],
)
async def test_tokens_that_are_good(shared_issuer: Issuer, key: str, options: dict[str, Any]) -> None:
    """A-04"""
    principal = await World(shared_issuer).identify(shared_issuer.sign(key, **options))
    assert principal == Principal("alice", "cli", shared_issuer.url)


@pytest.mark.parametrize("given", ["HTTPS://Tools.Example.COM/mcp", "urn:Tools"])
async def test_an_audience_may_be_configured_as_one_likes(shared_issuer: Issuer, given: str) -> None:
    """A-11: the case of scheme and host does not matter; that of the rest does."""
    world = World(shared_issuer, audiences=[AUDIENCE, given])
    assert await world.takes(shared_issuer.sign(KEY, aud=given))
    assert await world.takes(shared_issuer.sign(KEY))
    assert await world.refuses(shared_issuer.sign(KEY, aud=given.swapcase())) == "for another audience"


async def test_a_token_ends_when_it_expires_though_it_was_known(shared_issuer: Issuer) -> None:
    """A-04, A-08: to the second, by the clock of the server."""
    world = World(shared_issuer)
    token = shared_issuer.sign(KEY, exp=int(world.now) + 600)
    principal = await world.identify(token)
    world.now += 599
    assert await world.identify(token) is principal
    world.now = int(world.now) + 1.0
    assert await world.refuses(token) == "expired"


async def test_a_known_token_costs_no_verification(shared_issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(shared_issuer)
    token = shared_issuer.sign(KEY)
    principal = await world.identify(token)
    monkeypatch.delattr(access_token, "jwt")
    assert await world.identify(token) is principal


async def test_the_tokens_used_last_are_remembered(shared_issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no more of them than that."""
    monkeypatch.setattr(access_token, "MAX_REMEMBERED", 2)
    world = World(shared_issuer)
    first, second, third = [shared_issuer.sign(KEY, sub=name) for name in ("a", "b", "c")]
    known = [await world.identify(token) for token in (first, second, first, third)]
    monkeypatch.delattr(access_token, "jwt")
    assert [await world.identify(first), await world.identify(third)] == [known[0], known[3]]
    assert await world.refuses(second) == "NameError"


async def test_a_new_key_is_known_at_its_first_token(issuer: Issuer) -> None:
    world = World(issuer)
    await world.identify(issuer.sign(KEY))
    issuer.add_key("second")
    issuer.remove_key(KEY)
    world.uptime += COOL_DOWN_SECONDS
    assert (await world.identify(issuer.sign("second", sub="bob"))).subject == "bob"


async def test_a_withdrawn_key_ends_the_tokens_that_were_known(issuer: Issuer) -> None:
    world = World(issuer)
    issuer.add_key("second")
    token = issuer.sign(KEY)
    await world.identify(token)
    issuer.remove_key(KEY)
    assert await world.takes(token)
    world.uptime += REFRESH_SECONDS
    assert await world.takes(token)  # has the keys fetched, and does not wait for them
    await world.tokens.keys.refresh()
    assert await world.refuses(token) == "signed by none of the issuer's keys"


async def test_another_key_in_place_of_the_one_without_an_id(issuer: Issuer) -> None:
    world = World(issuer)
    await world.identify(issuer.sign(KEY))
    issuer.remove_key(KEY)
    issuer.add_key("second", kid=None)
    world.uptime += COOL_DOWN_SECONDS
    assert await world.takes(issuer.sign("second", headers={"kid": None}))


async def test_unknown_keys_cost_the_issuer_little(issuer: Issuer) -> None:
    """A flood of tokens with made-up ids is one fetch, and known tokens go on."""
    world = World(issuer)
    token = issuer.sign(KEY)
    await world.identify(token)
    for number in range(50):
        await world.refuses(by_another_key(issuer, kid=str(number)))
    assert issuer.paths == ["/keys"]
    world.uptime += COOL_DOWN_SECONDS
    for number in range(50):
        await world.refuses(by_another_key(issuer, kid=str(number)))
    assert issuer.paths == ["/keys"] * 2
    assert await world.takes(token)


async def test_a_bad_signature_by_a_known_key_has_nothing_fetched(issuer: Issuer) -> None:
    world = World(issuer)
    await world.identify(issuer.sign(KEY))
    world.uptime += COOL_DOWN_SECONDS
    await world.refuses(by_another_key(issuer, kid=KEY))
    assert issuer.paths == ["/keys"]


async def test_an_algorithm_that_is_not_allowed_has_nothing_fetched(issuer: Issuer) -> None:
    world = World(issuer)
    await world.identify(issuer.sign(KEY))
    world.uptime += COOL_DOWN_SECONDS
    for algorithm in ("none", "HS256", "ES256K"):
        await world.refuses(forge({"alg": algorithm, "kid": "unknown"}, {}, b"x"))
    assert issuer.paths == ["/keys"]


async def test_the_key_is_the_one_that_is_named(issuer: Issuer) -> None:
    """Another one of the same issuer may be for something else."""
    issuer.add_key("second")
    token = sign(issuer.private_key("second"), "ES256", {"kid": KEY}, {"iss": issuer.url})
    assert await World(issuer).refuses(token) == "signed by none of the issuer's keys"


def test_without_an_issuer_no_client_is_loaded() -> None:
    """It takes a tenth of a second, and memory.  What verifies tokens is loaded in any case: redis-py does so."""
    script = "import sys, receiver.app; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "receiver" in loaded
    assert "httpx2" not in loaded


async def test_tokens_while_the_issuer_is_away(issuer: Issuer) -> None:
    """Those of known keys are taken, also for the first time."""
    world = World(issuer)
    await world.identify(issuer.sign(KEY))
    issuer.close()
    world.uptime += 10 * REFRESH_SECONDS
    assert (await world.identify(issuer.sign(KEY, sub="bob"))).subject == "bob"
    await world.tokens.keys.refresh()
    assert (await world.identify(issuer.sign(KEY, sub="carol"))).subject == "carol"
    assert await world.refuses(by_another_key(issuer, kid="second")) == "signed by none of the issuer's keys"


def test_without_an_audience_there_is_no_start() -> None:
    """A-04"""
    with pytest.raises(StartupError, match=r"^set RECEIVER_AUTH_AUDIENCE to what tokens for this server have"):
        AccessTokens.of(load_settings(auth_issuer="https://issuer.example.com"))


@pytest.mark.parametrize(
    "settings",
    [
        {"resource_url": "https://MCP.example.com/mcp"},
        {"auth_audience": f"a,{AUDIENCE}"},
        {"auth_audience": AUDIENCE, "resource_url": "https://other.example.com"},
    ],
)
async def test_the_audience_is_the_resource_unless_set(shared_issuer: Issuer, settings: dict[str, Any]) -> None:
    tokens = AccessTokens.of(load_settings(auth_issuer=shared_issuer.url, **settings))
    assert (await tokens.identify(shared_issuer.sign(KEY).encode(), b"1")).subject == "alice"
    token = shared_issuer.sign(KEY, aud="https://other.example.com").encode()
    with pytest.raises(TokenError, match="for another audience"):
        await tokens.identify(token, b"2")
