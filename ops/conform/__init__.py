"""``receiver conform``: the rows of MCP 2025-11-25 that bind receivers and servers, as checks of any server."""
