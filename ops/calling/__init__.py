"""``receiver call``: a tool of any MCP server, called from a terminal."""
