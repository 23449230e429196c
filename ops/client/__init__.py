"""A raw client of any MCP server: what ``receiver conform`` checks with, and ``receiver call`` calls with."""
