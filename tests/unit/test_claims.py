"""From claims to a principal, and to the owner of tasks."""

from typing import Any

import pytest

from receiver.http.claims import TokenError, read_principal
from receiver.principal import Principal
from receiver.settings import OWNER_CLAIMS

CLAIMS = {"iss": "https://issuer", "sub": "alice", "client_id": "cli"}
ALICE = Principal("alice", "cli", "https://issuer")


def owner(owner_claims: tuple[str, ...] = OWNER_CLAIMS, **claims: Any) -> str:
    given = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return read_principal(given, owner_claims).owner


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({}, set()),
        ({"scope": ""}, set()),
        ({"scope": "a b  a"}, {"a", "b"}),
        ({"scope": ["a", "b c"]}, {"a", "b", "c"}),
        ({"scp": ["a"]}, {"a"}),
        ({"scp": "a b"}, {"a", "b"}),
        ({"scope": "a", "scp": ["b"]}, {"a", "b"}),
    ],
)
def test_scopes(claims: dict[str, Any], scopes: set[str]) -> None:
    principal = read_principal(CLAIMS | claims, OWNER_CLAIMS)
    assert principal.scopes == scopes
    assert principal.owner == ALICE.owner


def test_the_owner_is_issuer_client_and_subject() -> None:
    """T-85, A-12: no more and no less."""
    assert owner() == ALICE.owner
    assert owner(scope="x", exp=1, jti="x", tenant="x") == ALICE.owner
    assert len({owner(), owner(iss="https://other"), owner(client_id="other"), owner(sub="other")}) == 4


def test_azp_is_the_client_where_there_is_no_client_id() -> None:
    assert owner(client_id=None, azp="cli") == ALICE.owner
    assert owner(azp="other") == ALICE.owner


def test_a_subject_needs_no_client() -> None:
    assert owner(client_id=None) == Principal("alice", "", "https://issuer").owner
    assert owner(("iss", "sub"), client_id=None) == owner(("iss", "sub"))


def test_other_claims_may_make_the_owner() -> None:
    """A team, or one user in whatever client."""
    team = ("iss", "team")
    assert owner(team, team="x") == owner(team, team="x", sub="bob", client_id="other") != owner(team, team="y")
    assert owner(("iss", "sub")) == owner(("iss", "sub"), client_id="other") != owner(("iss", "sub"), sub="bob")
    assert owner(("sub", "iss")) != owner(("iss", "sub"))
    principal = read_principal(CLAIMS | {"team": "x"}, team)
    assert (principal.subject, principal.client, principal.issuer) == ("alice", "cli", "https://issuer")
    assert read_principal({"iss": "https://issuer", "team": "x"}, team).subject == ""


@pytest.mark.parametrize(
    ("owner_claims", "claims", "reason"),
    [
        (OWNER_CLAIMS, {"sub": None}, "without the claim sub"),
        (OWNER_CLAIMS, {"sub": ""}, "without the claim sub"),
        (OWNER_CLAIMS, {"sub": None, "client_id": None}, "without the claim client_id"),
        (("iss", "client_id"), {"client_id": None}, "without the claim client_id"),
        (("client_id",), {"client_id": ""}, "without the claim client_id"),
        (("iss", "team"), {}, "without the claim team"),
        (("iss", "team", "sub"), {}, "without the claim team"),
        (("iss", "team"), {"team": 7}, "with a claim team that is no string"),
        (("iss", "team"), {"team": ["x"]}, "with a claim team that is no string"),
    ],
)
def test_without_the_claims_of_the_owner_nobody_is_known(
    owner_claims: tuple[str, ...], claims: dict[str, Any], reason: str
) -> None:
    """T-85: or all who lack them would share their tasks."""
    with pytest.raises(TokenError, match=f"^{reason}$"):
        owner(owner_claims, **claims)
