"""What a client is offered depends on which client it is. Loads nothing, so that it can be decided at once."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # where later versions of the protocol name the client


def has_resources(params: object, without: Sequence[str]) -> bool:
    """Whether to offer resources to the client that sends these parameters; `without` are patterns of names.

    Some clients put tools for resources into every prompt as soon as one server has any.
    """
    name = client_name(params)
    return not any(fnmatchcase(name, pattern) for pattern in without)


def client_name(params: object) -> str:
    """The name that the client gives itself in `initialize`, or in every request; empty when it gives none."""
    if not isinstance(params, dict):
        return ""
    meta = params.get("_meta")
    info = params.get("clientInfo")
    if info is None and isinstance(meta, dict):
        info = meta.get(_CLIENT_INFO)
    if not isinstance(info, dict):
        return ""
    return str(info.get("name", "")).lower()
