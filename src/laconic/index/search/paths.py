"""Files by path: whole, in part, as words, or as a glob."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from laconic.index.search.query import Query
from laconic.index.search.scope import Scope, matcher
from laconic.index.store import Store
from laconic.index.words import split

_MANY: Final = 500
_CLASSES: Final[Mapping[str, float]] = {"test": 0.97, "generated": 0.8, "vendored": 0.7, "minified": 0.6, "data": 0.9}
_DOTTED: Final = re.compile(r"\.[A-Za-z0-9]{1,8}$")


class Placed(NamedTuple):
    """A file, and how well its path fits (1: this very path)."""

    fit: float
    file: int
    path: str
    lines: int


def by_path(store: Store, query: Query, scope: Scope) -> list[Placed]:
    """Files whose path holds all words of the query in order, best first."""
    text = query.bare if query.place else query.text
    if any(char in text for char in "*?[{") and not re.search(r"\s", text):
        return _globbed(store, text, scope)
    words = [word.lower() for word in split(text).split()]
    if not words or len(words) > 12:
        return []
    conditions = " AND ".join("path LIKE ?" for _ in words)
    limit, more = scope.limit("id")
    sql = f"SELECT id, path, class, lines FROM files WHERE {conditions}{limit} LIMIT {_MANY}"
    rows = store.connection.execute(sql, (*(f"%{word}%" for word in words), *more))
    asked = text.strip().removeprefix("./").removeprefix("/")
    found = []
    for number, path, file_class, lines in rows:
        if fit := _fit(asked, words, path):
            found.append(Placed(fit * _CLASSES.get(file_class, 1.0), number, path, lines))
    return sorted(found, key=lambda place: (-place.fit, len(place.path), place.path))


def wants_path(query: Query) -> bool:
    """Whether the query can only mean a file: it has a slash, or ends like a file name."""
    text = query.text
    return ("/" in text.strip("/") and " " not in text) or bool(_DOTTED.search(text)) or query.place is not None


def nearest(store: Store, globs: Sequence[str], count: int = 3) -> list[str]:
    """Files that are written almost like the ones that were asked for."""
    wanted = [glob.rsplit("/", 1)[-1].strip("*.") for glob in globs]
    wanted = [name for name in wanted if len(name) > 2]
    if not wanted:
        return []
    by_name: dict[str, str] = {}
    for (path,) in store.connection.execute("SELECT path FROM files ORDER BY path"):
        by_name.setdefault(path.rsplit("/", 1)[-1].lower(), path)
    close = [by_name[name] for want in wanted for name in get_close_matches(want.lower(), by_name, count, 0.6)]
    return list(dict.fromkeys(close))[:count]


def _fit(asked: str, words: list[str], path: str) -> float:
    if path == asked:
        return 1.0
    if path.endswith("/" + asked):
        return 0.97
    if "/" in asked and f"/{path.rsplit('.', 1)[0]}".endswith("/" + asked):
        return 0.95
    parts = [word.lower() for word in split(path).split()]
    whole = 0.1 * len(words) / len(parts)
    if parts[-len(words) :] == words:
        return 0.85 + whole
    stem = [word.lower() for word in split(path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).split()]
    if stem == words:
        return 0.8 + whole
    bare = [word.lower() for word in split(path.rsplit(".", 1)[0]).split()]
    if bare[-len(words) :] == words:
        return 0.75 + whole
    if _within(words, parts) and words[-1] in parts[-3:]:
        return 0.4 + whole
    return 0.0


def _within(words: list[str], parts: list[str]) -> bool:
    """Whether the words stand in the parts in this order, others between them."""
    left = iter(parts)
    return all(word in left for word in words)


def _globbed(store: Store, glob: str, scope: Scope) -> list[Placed]:
    fits = matcher((glob,))
    limit, more = scope.limit("id")
    rows = store.connection.execute(f"SELECT id, path, lines FROM files WHERE 1{limit} ORDER BY path", more)
    return [Placed(0.9, number, path, lines) for number, path, lines in rows if fits(path)]
