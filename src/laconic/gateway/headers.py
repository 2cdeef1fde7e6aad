"""Headers that pass through, and those that belong to one connection only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

Raw = list[tuple[bytes, bytes]]

_ONE_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OURS: Final = b"x-laconic"


def upward(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """What goes to the provider: everything but what is meant for us. The length is written anew."""
    given = list(raw)
    gone = _ONE_HOP | {b"host", b"content-length", b"expect"} | _named(given)
    found: list[tuple[str, str]] = []
    for name, value in given:
        if name.lower() not in gone and not name.lower().startswith(_OURS):
            found.append((name.decode("latin-1"), value.decode("latin-1")))
    return found


def downward(raw: Iterable[tuple[bytes, bytes]], notes: Mapping[str, str], *, rewritten: bool) -> Raw:
    """What goes to the client: the provider's headers and our notes; no length when the body is rewritten."""
    given = list(raw)
    gone = _ONE_HOP | _named(given) | ({b"content-length", b"content-encoding"} if rewritten else set())
    kept = []
    for name, value in given:
        if name.lower() not in gone:
            kept.append((name.lower(), value))
    return kept + [(f"x-laconic-{name}".encode(), _plain(value)) for name, value in notes.items()]


def readable(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """By name in lower case; of repeated ones the last."""
    found: dict[str, str] = {}
    for name, value in raw:
        found[name.decode("latin-1").lower()] = value.decode("latin-1")
    return found


def _named(raw: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    """Headers that `Connection` names are for this hop too."""
    values = []
    for name, value in raw:
        if name.lower() == b"connection":
            values.append(value)
    found: set[bytes] = set()
    for value in values:
        for word in value.split(b","):
            found.add(word.strip().lower())
    return found


def _plain(value: str) -> bytes:
    """Nothing that could end a header or start another."""
    return "".join(sign if " " <= sign <= "~" else "?" for sign in value).encode()
