"""``receiver bench``: a load that costs its own machine little, against any server that speaks MCP 2025-11-25."""
