"""Settings: how lists are written, and what is said of what can't be meant."""

from typing import Any

import pytest
from pydantic import SecretStr

from receiver.protocol.errors import StartupError
from receiver.settings import Settings, load_settings

LISTS = ["auth_audience", "auth_scopes", "owner_claims", "allowed_hosts", "allowed_origins", "secrets"]


@pytest.fixture(autouse=True)
def issuer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECEIVER_AUTH_ISSUER", "https://issuer.example.com")


def read(settings: Settings, name: str) -> list[str]:
    parts = getattr(settings, name)
    return [part.get_secret_value() if isinstance(part, SecretStr) else part for part in parts]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("text", ["one", "one,two", " one , two,,", '["one"]'])
def test_lists_have_commas(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """In a variable and in an argument alike; JSON is not looked for."""
    if name == "auth_scopes" and "[" in text:
        text = "[one]"
    parts = [part for part in text.replace(" ", "").split(",") if part]
    monkeypatch.setenv(f"RECEIVER_{name.upper()}", text)
    assert read(load_settings(), name) == parts
    monkeypatch.setenv(f"RECEIVER_{name.upper()}", "environment")
    assert read(load_settings(**{name: text}), name) == parts
    assert read(load_settings(**{name: tuple(parts)}), name) == parts


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("text", ["", " , "])
def test_an_empty_list(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"RECEIVER_{name.upper()}", text)
    if name == "owner_claims":
        with pytest.raises(StartupError, match="RECEIVER_OWNER_CLAIMS: Tuple should have at least 1 item"):
            load_settings()
    else:
        assert read(load_settings(), name) == []


URL = "this is not a URL: https://host/path and no more"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"auth_issuer": "issuer.example.com"}, f"RECEIVER_AUTH_ISSUER: {URL}"),
        ({"auth_issuer": "ftp://issuer.example.com"}, f"RECEIVER_AUTH_ISSUER: {URL}"),
        ({"auth_issuer": "https://user@issuer.example.com/"}, f"RECEIVER_AUTH_ISSUER: {URL}"),
        ({"auth_issuer": "https://issuer.example.com/?x"}, f"RECEIVER_AUTH_ISSUER: {URL}"),
        ({"auth_jwks_url": "https://issuer.example.com/#x"}, f"RECEIVER_AUTH_JWKS_URL: {URL}"),
        ({"resource_url": 'https://issuer.example.com/"'}, f"RECEIVER_RESOURCE_URL: {URL}"),
        ({"resource_url": "https://issuer.example.com/\u00e9"}, f"RECEIVER_RESOURCE_URL: {URL}"),
        ({"resource_url": "https://issuer.example.com/\n"}, f"RECEIVER_RESOURCE_URL: {URL}"),
        (
            {"auth_scopes": 'a,b"'},
            "RECEIVER_AUTH_SCOPES: this is not a scope: visible ASCII, no quotes, no backslashes",
        ),
        (
            {"auth_scopes": "a b"},
            "RECEIVER_AUTH_SCOPES: this is not a scope: visible ASCII, no quotes, no backslashes",
        ),
        (
            {"auth_issuer": None, "auth_audience": "x"},
            "set RECEIVER_AUTH_ISSUER too, or neither RECEIVER_AUTH_AUDIENCE nor _JWKS_URL",
        ),
        (
            {"auth_issuer": None, "auth_jwks_url": "https://issuer.example.com/keys"},
            "set RECEIVER_AUTH_ISSUER too, or neither RECEIVER_AUTH_AUDIENCE nor _JWKS_URL",
        ),
    ],
)
def test_what_cannot_be_meant(values: dict[str, Any], said: str) -> None:
    with pytest.raises(StartupError) as caught:
        load_settings(**values)
    assert str(caught.value) == f"bad settings: {said}"


@pytest.mark.parametrize(
    "tokens",
    [
        {"canary token": {"subject": "alice"}},
        {"canary,token": {"subject": "alice"}},
        {"canary\u00e9": {"subject": "alice"}},
        {"canary": {"subject": ""}},
        {"canary": {"subjet": "alice"}},
        {"canary": "alice"},
        {"": {"subject": "alice"}},
    ],
)
def test_a_complaint_shows_no_token(tokens: dict[str, Any]) -> None:
    """A-10"""
    with pytest.raises(StartupError) as caught:
        load_settings(auth_tokens=tokens)
    assert str(caught.value).startswith("bad settings: RECEIVER_AUTH_TOKENS: ")
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(load_settings(auth_tokens={"canary": {"subject": "alice"}}))
