"""Find what in a request stands for content that the provider keeps for an account: files, stores, items, containers.

What belongs to the client itself, such as the arguments of its tools, may have any names.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from laconic.errors import MalformedRequest
from laconic.wire.json_spans import value

_IDS: Final = frozenset(
    {
        *(
            "fileid",
            "fileids",
            "vectorstoreid",
            "vectorstoreids",
            "filesearchstorenames",
            "containerid",
            "connectorid",
        ),
        *("skillid", "datastore", "ragcorpora", "ragresources", "cachedcontent", "previousresponseid"),
    }
)
# Objects whose names are the client's, not the provider's.
_OWN: Final = frozenset(
    {
        *("input", "args", "arguments", "response", "metadata", "inputschema", "parameters", "parametersjsonschema"),
        *("schema", "jsonschema", "responseschema", "responsejsonschema", "properties"),
    }
)
_ANY: Final = re.compile(  # of any of these names, however it is written
    rb"(?i)file_?(?:id|uri|search)|vector_?store|item_?reference|container|connector|skill_?id|data_?store|rag_?"
    rb"|cached_?content|previous_?response|audio|\\u00"
)
_HOSTS: Final = (".googleapis.com", ".google.internal")


def plain_name(name: str) -> str:
    """A name as all spellings of it: servers take `maxTokens` and `max_tokens` for the same."""
    return name.lower().replace("_", "")


def find_reference(body: bytes) -> str:
    """Why a request must not go to an account that others share; empty where nothing in it refers to what it keeps."""
    if _ANY.search(body) is None:
        return ""
    try:
        left = [value(body)]
    except MalformedRequest:
        return ""  # the provider will not read it either
    while left:
        each = left.pop()
        if isinstance(each, list):
            left.extend(each)
        elif isinstance(each, dict):
            name = _find_name(each)
            if name:
                return f"{name[:100]!r} reaches what the provider keeps for the whole team. Send the content itself."
            left.extend(inner for key, inner in each.items() if not _is_own(key, inner))
    return ""


def _is_own(key: str, inner: object) -> bool:
    return isinstance(inner, dict) and plain_name(key) in _OWN


def _find_name(held: dict[str, Any]) -> str:
    """The first name in an object that refers to something kept."""
    if held.get("type") == "item_reference":
        return "item_reference"
    for key, inner in held.items():
        name = plain_name(key)
        if name in _IDS and inner:
            return key
        if name == "fileuri" and not _is_public(inner):
            return key
        if name == "container" and isinstance(inner, str) and inner:
            return key
        if name == "audio" and isinstance(inner, dict) and inner.get("id"):
            return key
    return ""


def _is_public(address: object) -> bool:
    """Whether anybody could read what is at an address."""
    try:
        parts = urlsplit(str(address))
        host = f".{parts.hostname or ''}"
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and not host.endswith(_HOSTS)
