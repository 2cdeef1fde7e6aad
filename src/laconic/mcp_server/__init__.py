"""The code plane as an MCP server."""
