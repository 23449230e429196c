"""Consoles as processes, and what a browser or a script sends them."""

import re
import sys
from pathlib import Path
from typing import Any

import httpx2

from tests.processes import HOST, ROOT, Site, find_free_port, variables

VIEWER, OPERATOR = "viewer-token-0123456789", "operator-token-0123456789"
TOKENS = {VIEWER: "viewer", OPERATOR: "operator"}
STATIC: Path = ROOT / "ops" / "console" / "static"


class ConsoleSite(Site):
    """``receiver console``; ``settings`` are those of ``receiver.settings`` by name."""

    def __init__(self, redis_url: str, *, host: str = HOST, **settings: Any) -> None:
        port = find_free_port()
        command = [sys.executable, "-m", "ops.cli", "console", "--host", host, "--port", str(port)]
        super().__init__(command, port, path="/livez", env=variables(redis_url, settings))
        self.root = f"{self.url}/console"

    def visit(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A client that keeps cookies, as a browser does."""
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return httpx2.AsyncClient(base_url=self.root, headers=headers, timeout=20, trust_env=False, verify=False)


def csrf_of(page: httpx2.Response) -> str:
    """The token in the forms of a page."""
    found = re.search(r'name="csrf" value="([0-9a-f]*)"', page.text)
    assert found is not None, page.text
    return found[1]
