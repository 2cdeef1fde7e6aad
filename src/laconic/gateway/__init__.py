"""The HTTP proxy in front of a model provider."""
