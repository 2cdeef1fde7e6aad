"""Which addresses are of this machine, and which of a private network: the one place where that is decided."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST: Final = re.compile(r"\w+://(?:[^/@]*@)?(?:\[([^\]]+)\]|([^/:]+))")
_PRIVATE: Final = re.compile(r"[^.]+|.*\.(?:localhost|local|lan|internal|home\.arpa)")


def is_loopback(host: str) -> bool:
    """Whether a name or an address can only mean this machine."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=64)  # asked for every request, about few addresses
def is_local(url: str) -> bool:
    """Whether a URL leads to this machine or into a private network."""
    found = _HOST.match(url)
    if found is None:
        return False
    host = (found[1] or found[2]).lower()
    try:
        address = ip_address(host)
    except ValueError:
        return _PRIVATE.fullmatch(host) is not None
    return is_loopback(host) or address.is_private or address.is_link_local
