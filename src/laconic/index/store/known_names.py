"""All folded names of a checkout as one text: looking through it takes a fraction of reading them from the index."""

from __future__ import annotations

import sqlite3
import threading
from typing import Final

from laconic.index.schema import SHIFT

_MARK: Final = "\n"  # between two names, and at both ends


class KnownNames:
    """Read when first asked for, and again when the checkout has changed. Any thread may ask."""

    def __init__(self, connection: sqlite3.Connection, checkout: int) -> None:
        self._connection = connection
        self._checkout = checkout
        self._lock = threading.Lock()
        self._revision = -1
        self._text = ""

    def find_containing(self, folded: str, revision: int, most: int) -> list[str]:
        """Names that hold this text and more, sorted; `revision` is that of the checkout."""
        text = self._read(revision)
        found: list[str] = []
        at = text.find(folded)
        while at >= 0 and len(found) < most:
            start = text.rfind(_MARK, 0, at) + 1
            end = text.find(_MARK, at)
            if end - start > len(folded):
                found.append(text[start:end])
            at = text.find(folded, end)
        return found

    def _read(self, revision: int) -> str:
        with self._lock:
            if self._revision != revision:
                sql = f"""SELECT DISTINCT folded FROM main.symbols INDEXED BY symbols_folded WHERE EXISTS(SELECT 1
                    FROM main.manifest WHERE checkout = ? AND version = id >> {SHIFT}) ORDER BY folded"""
                names = [row[0] for row in self._connection.execute(sql, (self._checkout,))]
                self._text = _MARK + _MARK.join(names) + _MARK
                self._revision = revision
            return self._text
