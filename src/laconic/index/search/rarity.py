"""How rare a word is: how many symbols of an index have it."""

from __future__ import annotations

import math

from laconic.index.store import Store


class Rarity:
    """Counts words of one index."""

    def __init__(self, store: Store) -> None:
        self._connection = store.connection
        self._counts: dict[str, int] = {}
        self.total = int(self._connection.execute("SELECT count(*) FROM symbols").fetchone()[0]) + 1

    def count(self, word: str, columns: str = "") -> int:
        """The symbols that have a word, anywhere or in these columns of the table of words."""
        where = f'{{{columns}}} : "{word}"' if columns else f'"{word}"'
        if where not in self._counts:
            sql = "SELECT count(*) FROM words WHERE words MATCH ?"
            self._counts[where] = int(self._connection.execute(sql, (where,)).fetchone()[0])
        return self._counts[where]

    def told(self, count: int) -> float:
        """What a word tells that so many have: the fewer, the more."""
        return math.log(1 + self.total / (count + 1))
