"""The server of ``talk`` one release later: it has a tool more."""

from tests.apps.talk import app

__all__ = ["app"]


@app.tool
async def added() -> str:
    """What the release brings."""
    return "new"
