"""Answer questions about code, one file a tool."""
