"""An authorization server for tests: keys, tokens that it signed, and the documents that resource servers fetch."""

import base64
import json
import ssl
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from jwt.algorithms import get_default_algorithms

HOST = "127.0.0.1"
AUDIENCE = "https://mcp.example.com/mcp"
CURVES: Mapping[str, Any] = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}


def make_key(algorithm: str, *, rsa_bits: int = 2048) -> Any:
    """A private key."""
    if algorithm in CURVES:
        return ec.generate_private_key(CURVES[algorithm]())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm == "Ed448":
        return ed448.Ed448PrivateKey.generate()
    return rsa.generate_private_key(65537, rsa_bits)


def describe_key(key: Any, algorithm: str, **members: Any) -> dict[str, Any]:
    """The public half of a private key as a JWK; a member of None is left out."""
    described: dict[str, Any] = get_default_algorithms()[algorithm].to_jwk(key.public_key(), as_dict=True)
    return {name: value for name, value in {**described, **members}.items() if value is not None}


class Issuer:
    """Serves while it is open.  ``documents`` are what it answers with, by path; ``paths`` what it was asked for."""

    def __init__(self, path: str = "", *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.documents: dict[str, bytes] = {}
        self.paths: list[str] = []
        self.pause = threading.Event()  # it answers while this is set
        self.pause.set()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self._keys: dict[str, tuple[Any, str, dict[str, Any]]] = {}
        self.open()
        origin = f"{'https' if tls else 'http'}://{HOST}:{self._port}"
        self.url = origin + path
        self.jwks_url = f"{origin}/keys"
        self.write_metadata("/.well-known/oauth-authorization-server" + path)

    def open(self) -> None:
        """Begins to serve, at the same address as ever."""
        self._server = ThreadingHTTPServer((HOST, self._port), _handler_of(self))
        self._server.daemon_threads = True
        self._port = self._server.server_port
        if self._tls is not None:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Ends: whoever connects is refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def write_metadata(self, path: str, **members: object) -> None:
        """Puts its metadata there, with other members than its own."""
        metadata = {"issuer": self.url, "jwks_uri": self.jwks_url, **members}
        self.documents[path] = json.dumps(metadata).encode()

    def add_key(self, id: str, algorithm: str = "ES256", **members: Any) -> None:
        """A new key, which it publishes; ``members`` are those of the JWK."""
        self._keys[id] = (make_key(algorithm), algorithm, members)
        self._publish()

    def remove_key(self, id: str) -> None:
        """Withdraws a key."""
        del self._keys[id]
        self._publish()

    def private_key(self, id: str) -> Any:
        """The private half of a key."""
        return self._keys[id][0]

    def sign(
        self, id: str, *, algorithm: str | None = None, headers: Mapping[str, Any] | None = None, **claims: Any
    ) -> str:
        """A token that is good, but for what is given.  A header or a claim of None is left out."""
        key, own_algorithm, _ = self._keys[id]
        return sign(key, algorithm or own_algorithm, {"kid": id, **(headers or {})}, {"iss": self.url, **claims})

    def _publish(self) -> None:
        listed = [
            describe_key(key, algorithm, **{"kid": id, "use": "sig", **members})
            for id, (key, algorithm, members) in self._keys.items()
        ]
        self.documents["/keys"] = json.dumps({"keys": listed}).encode()


def sign(key: Any, algorithm: str, headers: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    """A token of one hour for alice."""
    now = int(time.time())
    usual = {"sub": "alice", "client_id": "cli", "aud": AUDIENCE, "iat": now, "exp": now + 3600}
    given = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    head = {name: value for name, value in headers.items() if value is not None}
    return jwt.encode(given, key, algorithm, headers=head)


def forge(header: object, claims: object, signature: bytes = b"") -> str:
    """A token that no library would make."""
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def _handler_of(issuer: Issuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.paths.append(self.path)
            issuer.pause.wait()
            document = issuer.documents.get(self.path)
            self.send_response(404 if document is None else 200)
            self.send_header("content-length", str(len(document or b"")))
            self.end_headers()
            self.wfile.write(document or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
