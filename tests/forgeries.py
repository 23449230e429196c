"""Tokens that look like those of an issuer, each with one thing wrong."""

import time
from collections.abc import Callable

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.issuer import AUDIENCE, Issuer, describe_key, forge, make_key, sign

KEY = "first"  # the id of a key that each issuer of these tests has, for ES256
RSA_KEY = "rsa"  # and of one for RSA

CLAIMS = {"sub": "alice", "client_id": "cli", "aud": AUDIENCE, "exp": 4_000_000_000}


def now() -> int:
    return int(time.time())


def good_claims(issuer: Issuer) -> dict[str, object]:
    return {**CLAIMS, "iss": issuer.url}


def signed_with_the_public_key(issuer: Issuer, as_pem: bool) -> str:
    """Who mistakes an algorithm for another takes the public key for a shared secret."""
    public = issuer.private_key(RSA_KEY).public_key()
    form = PublicFormat.SubjectPublicKeyInfo if as_pem else PublicFormat.PKCS1
    secret = public.public_bytes(Encoding.PEM if as_pem else Encoding.DER, form)
    header = {"alg": "HS256", "kid": RSA_KEY, "typ": "JWT"}
    signing_input = forge(header, good_claims(issuer)).rpartition(".")[0]
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(signing_input.encode(), secret)
    return f"{signing_input}.{jwt.utils.base64url_encode(signature).decode()}"


def with_own_key(issuer: Issuer) -> str:
    """The token brings the key that verifies it."""
    key = make_key("ES256")
    described = describe_key(key, "ES256", kid="mine")
    return sign(key, "ES256", {"kid": "mine", "jwk": described, "jku": issuer.jwks_url}, {"iss": issuer.url})


def tampered(issuer: Issuer) -> str:
    """The signature belongs to the claims of bob."""
    header, _, signature = issuer.sign(KEY, sub="bob").split(".")
    return ".".join([header, issuer.sign(KEY, sub="alice").split(".")[1], signature])


def by_another_key(issuer: Issuer, **headers: object) -> str:
    return sign(make_key("ES256"), "ES256", headers, {"iss": issuer.url})


FORGERIES: dict[str, Callable[[Issuer], str]] = {
    "another audience": lambda issuer: issuer.sign(KEY, aud="https://other.example.com/mcp"),
    "an audience that begins alike": lambda issuer: issuer.sign(KEY, aud=f"{AUDIENCE}/other"),
    "an audience of other letters": lambda issuer: issuer.sign(KEY, aud=AUDIENCE.upper()),
    "other audiences": lambda issuer: issuer.sign(KEY, aud=["a", "b"]),
    "no audience": lambda issuer: issuer.sign(KEY, aud=None),
    "an empty audience": lambda issuer: issuer.sign(KEY, aud=[]),
    "an audience that is no string": lambda issuer: issuer.sign(KEY, aud=[AUDIENCE, 1]),
    "another issuer": lambda issuer: issuer.sign(KEY, iss="https://other.example.com"),
    "an issuer with a slash": lambda issuer: issuer.sign(KEY, iss=f"{issuer.url}/"),
    "no issuer": lambda issuer: issuer.sign(KEY, iss=None),
    "expired now": lambda issuer: issuer.sign(KEY, exp=now()),
    "expired long ago": lambda issuer: issuer.sign(KEY, exp=now() - 86_400),
    "no expiry": lambda issuer: issuer.sign(KEY, exp=None),
    "an expiry that is no number": lambda issuer: issuer.sign(KEY, exp="soon"),
    "an endless expiry": lambda issuer: issuer.sign(KEY, exp=float("inf")),
    "not valid yet": lambda issuer: issuer.sign(KEY, nbf=now() + 3600),
    "issued in the future": lambda issuer: issuer.sign(KEY, iat=now() + 3600),
    "no subject": lambda issuer: issuer.sign(KEY, sub=None),
    "an empty subject": lambda issuer: issuer.sign(KEY, sub=""),
    "a subject that is no string": lambda issuer: issuer.sign(KEY, sub=["alice"]),
    "a subject that is no text": lambda issuer: issuer.sign(KEY, sub="\ud800"),
    "a scope that is no text": lambda issuer: issuer.sign(KEY, scope="\udfff"),
    "scopes that are no strings": lambda issuer: issuer.sign(KEY, scope=[1]),
    "a client that is no string": lambda issuer: issuer.sign(KEY, client_id=7),
    "no algorithm": lambda issuer: forge({"typ": "JWT", "kid": KEY}, good_claims(issuer)),
    "alg none": lambda issuer: forge({"alg": "none", "kid": KEY}, good_claims(issuer)),
    "alg nOnE": lambda issuer: forge({"alg": "nOnE"}, good_claims(issuer)),
    "alg that is a list": lambda issuer: forge({"alg": ["ES256"], "kid": KEY}, good_claims(issuer), b"x"),
    "HS256 with the public key": lambda issuer: signed_with_the_public_key(issuer, as_pem=True),
    "HS256 with the public key's bytes": lambda issuer: signed_with_the_public_key(issuer, as_pem=False),
    "another key by this id": lambda issuer: by_another_key(issuer, kid=KEY),
    "another key without an id": lambda issuer: by_another_key(issuer),
    "an unknown id": lambda issuer: by_another_key(issuer, kid="../../etc/passwd"),
    "an id that is no string": lambda issuer: forge({"alg": "ES256", "kid": 1}, good_claims(issuer), b"x"),
    "another algorithm than the key's": lambda issuer: forge({"alg": "RS256", "kid": KEY}, good_claims(issuer), b"x"),
    "its own key": with_own_key,
    "no signature": lambda issuer: issuer.sign(KEY).rpartition(".")[0] + ".",
    "half a signature": lambda issuer: issuer.sign(KEY)[:-20],
    "other claims": tampered,
    "an unknown critical header": lambda issuer: issuer.sign(KEY, headers={"crit": ["exp"]}),
    "a detached payload": lambda issuer: forge({"alg": "ES256", "b64": False, "crit": ["b64"]}, {}, b"x"),
    "claims that are no object": lambda issuer: forge({"alg": "ES256", "kid": KEY}, ["iss"], b"x"),
    "a header that is no object": lambda issuer: forge([], good_claims(issuer), b"x"),
    "five parts": lambda issuer: issuer.sign(KEY) + ".x.y",
    "two parts": lambda issuer: issuer.sign(KEY).rpartition(".")[0],
    "one part": lambda _: "x",
    "dots": lambda _: "..",
    "other characters": lambda issuer: issuer.sign(KEY).replace(".", "~", 1),
    "too long": lambda issuer: issuer.sign(KEY, padding="x" * 20_000),
}
