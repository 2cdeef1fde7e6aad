"""Short checks on single lines, for models that lose count: `40:k3` is line 40, if its text hashes to k3.

An anchor never moves an edit; it only refuses one whose number and text do not belong together.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def anchor(line: str) -> str:
    """Two characters of a line's text, leading white space included."""
    first, second = sha256(line.encode("utf-8", "surrogateescape")).digest()[:2]
    return _ALPHABET[first % 32] + _ALPHABET[second % 32]
