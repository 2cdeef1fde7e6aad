"""One MCP server in front of others: their schemas in a line each, their results within a budget."""
