"""Lines of text that hold a phrase, an identifier or a pattern, each with the symbol around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from laconic.index.search.query import Query
from laconic.index.search.scope import Scope
from laconic.index.store import Store
from laconic.index.text import InFile, Question, TextFound, find
from laconic.records import Hit

_WORDS: Final = re.compile(r"\w+")
_PER_FILE: Final = 20  # lines kept of one file; the others are counted
_SECONDS: Final = 0.5  # for a phrase that was only guessed at; one that was asked for gets more
_CLASSES: Final = {
    **{"test": 0.9, "doc": 0.9, "config": 0.7, "data": 0.5},
    **{"generated": 0.5, "vendored": 0.5, "minified": 0.2},
}


def literal(store: Store, root: Path, text: str, scope: Scope, wanted: int) -> TextFound:
    """Lines with this very text, by its own case rule."""
    return find(store, root, Question(text, paths=scope.paths, per_file=max(_PER_FILE, wanted)))


def pattern(store: Store, root: Path, query: Query, scope: Scope) -> TextFound:
    """Lines that match a regular expression."""
    kept = max(_PER_FILE, query.wanted)
    asked = Question(query.regex, regex=True, ignore_case=query.ignore_case, paths=scope.paths, per_file=kept)
    return find(store, root, asked)


def spoken(store: Store, root: Path, text: str, scope: Scope) -> TextFound:
    """Lines with these words in a row, whatever signs stand between them: `a.b, c` for `a b c`."""
    words = _WORDS.findall(text)
    sign = r"[^\w\n]"  # one to four of them, not counted in braces: counts of many words multiply beyond the limit
    loose = f"{sign}{sign}?{sign}?{sign}?".join(map(re.escape, words))
    asked = Question(rf"\b{loose}\b", regex=True, ignore_case=True, paths=scope.paths, seconds=_SECONDS)
    return find(store, root, asked)


def as_hits(store: Store, found: TextFound, weight: float, testing: bool) -> Iterator[Hit]:
    """Hits in order: files of the code itself before tests, documents and what is generated."""
    for file in sorted(found.files, key=lambda file: (-_prior(file, testing), file.path)):
        for line in file.lines:
            symbol = store.symbol_at(file.file, line.number)
            yield Hit(
                path=file.path,
                line=line.number,
                kind="doc" if file.file_class == "doc" else "text",
                preview=line.text.strip(),
                symbol=symbol.qualified if symbol else "",
                span=symbol.span if symbol else None,
                score=weight * _prior(file, testing),
            )


def _prior(file: InFile, testing: bool) -> float:
    return 1.0 if testing and file.file_class == "test" else _CLASSES.get(file.file_class, 1.0)
