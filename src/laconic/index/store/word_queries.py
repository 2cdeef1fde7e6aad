"""Questions to the full-text tables: which definitions hold which words, and how many files use a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from laconic.index.schema import SHIFT
from laconic.index.store.query_limits import limit_to, mark
from laconic.index.store.rows import Symbol
from laconic.index.store.store import Store

_COUNTS: Final = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.mention_counts USING fts5vocab('main', 'mentions', 'row')"


class WordMatch(NamedTuple):
    """A row of words, and the definition that it belongs to; None: what is outside all definitions of the file."""

    score: float  # of bm25, the more the better
    id: int
    path: str
    file_class: str
    symbol: Symbol | None


def match_words(
    store: Store, query: str, weights: Sequence[float], *, inside: str | None, kinds: Sequence[str], most: int
) -> list[WordMatch]:
    """The rows that bm25 likes best. They are joined with their symbols afterwards: a common word has many rows."""
    limit, parameters = limit_to(inside, f"(words.rowid >> {SHIFT})")
    if not limit:
        limit = (
            f" AND (words.rowid >> {SHIFT}) IN (SELECT id FROM files)"  # the others are dead, or not of this checkout
        )
    if kinds:
        limit += f" AND words.rowid IN (SELECT id FROM symbols WHERE kind IN ({mark(kinds)}))"
    sql = f"""SELECT best.score, best.id, files.path, files.class, symbols.* FROM (
        SELECT rowid AS id, bm25(words, {",".join(map(str, weights))}) AS score FROM words
        WHERE words MATCH ?{limit} ORDER BY score LIMIT {most}) AS best
        JOIN files ON files.id = best.id >> {SHIFT} LEFT JOIN symbols ON symbols.id = best.id"""
    found: list[WordMatch] = []
    for score, id, path, file_class, *rest in store.connection.execute(sql, (query, *parameters, *kinds)):
        symbol = None
        if rest[0] is not None:
            symbol = Symbol._make(rest)
        found.append(WordMatch(score=-score, id=id, path=path, file_class=file_class, symbol=symbol))
    return found


def count_rows_with_words(store: Store, query: str) -> int:
    """How many rows of words a query matches, dead ones included."""
    sql = "SELECT count(*) FROM words WHERE words MATCH ?"
    return int(store.connection.execute(sql, (query,)).fetchone()[0])


def find_rows_holding(store: Store, column: str, word: str, ids: str) -> Iterator[int]:
    """Which of these symbols (a JSON list of ids) have a word in a column."""
    # With the plus the index is read once, not once for each of them.
    sql = "SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
    for row in store.connection.execute(sql, (f'{column} : "{word}"', ids)):
        yield row[0]


def count_word_by_file(store: Store, word: str, most: int) -> dict[int, int]:
    """In how many definitions of each file a word stands; nothing for a word that stands in more than `most`."""
    sql = f"""SELECT rowid >> {SHIFT} AS file, count(*) FROM (
        SELECT rowid FROM words WHERE words MATCH ? LIMIT {most + 1})
        WHERE file IN (SELECT id FROM files) GROUP BY file"""
    found: dict[int, int] = {}
    for file, count in store.connection.execute(sql, (f'"{word}"',)):
        found[file] = count
    if sum(found.values()) > most:
        return {}
    return found


def count_files_using(store: Store, names: Iterable[str]) -> dict[str, int]:
    """In how many files each name is used, in whatever case."""
    store.connection.execute(_COUNTS)
    found: dict[str, int] = {}
    for name in set(names):
        sql = "SELECT doc FROM temp.mention_counts WHERE term = ?"
        row = store.connection.execute(sql, (name.lower(),)).fetchone()
        found[name] = 0
        if row:
            found[name] = int(row[0])
    return found
