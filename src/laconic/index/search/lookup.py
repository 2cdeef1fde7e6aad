"""Find definitions by name, files by path and lines by text; suggest the nearest names and paths when there are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path
from typing import Final, NamedTuple

from laconic.index.file_class_weights import weigh_classes
from laconic.index.search.query import Query, Scope, compile_globs
from laconic.index.search_words import fold, split
from laconic.index.store import Store, Symbol
from laconic.index.store.file_queries import find_files_with_words, read_lengths, read_paths
from laconic.index.store.symbol_queries import (
    PlacedSymbol,
    find_symbols_containing,
    find_symbols_like,
    find_symbols_named,
    read_names,
)
from laconic.index.symbol_kinds import weigh_kinds
from laconic.index.text_search import MatchingFile, TextMatches, TextQuery, find
from laconic.records import Hit

_MOST_SYMBOLS: Final = 400  # rows that one lookup may bring
_SYMBOL_KINDS: Final = weigh_kinds("name")
_SYMBOL_CLASSES: Final = weigh_classes("name")
_MOST_FILES: Final = 500
_FILE_CLASSES: Final = weigh_classes("path")
_DOTTED: Final = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_WORDS: Final = re.compile(r"\w+")
_NUMBERS: Final = re.compile(r"\d+")
_PER_FILE: Final = 20  # lines kept of one file; the others are counted
_SECONDS: Final = 0.5  # for a phrase that was only guessed at; one that was asked for gets more
_TEXT_CLASSES: Final = weigh_classes("text")


class NamedSymbol(NamedTuple):
    """A definition, how well its name fits (1: exactly), and where it stands."""

    fit: float
    path: str
    file_class: str
    symbol: Symbol


def find_by_name(store: Store, query: Query, scope: Scope) -> list[NamedSymbol]:
    """Definitions that are called what the query says, best first."""
    if query.qualified:
        return _find_qualified(store, query, scope)
    found: dict[int, NamedSymbol] = {}
    for name in query.names:
        for row in _place(find_symbols_named(store, name, scope.ids, scope.kinds, _MOST_SYMBOLS)):
            found.setdefault(row.symbol.id, row._replace(fit=_score_symbol(row, query)))
    return sorted(found.values(), key=_symbol_order)


def find_containing(store: Store, query: Query, scope: Scope) -> list[NamedSymbol]:
    """Definitions whose name holds the query, in any naming style; the shortest first."""
    needle = fold(query.bare)
    if len(needle) < 3:
        return []
    rows = _place(find_symbols_containing(store, needle, scope.ids, scope.kinds, _MOST_SYMBOLS))
    numbers = _NUMBERS.findall(query.bare)
    fits = []
    for row in rows:
        if _has_numbers(row.symbol.name, numbers):
            fits.append(row._replace(fit=_score_symbol(row, query) * len(needle) / len(row.symbol.folded)))
    return sorted(fits, key=_symbol_order)


def _has_numbers(name: str, numbers: Sequence[str]) -> bool:
    """Whether a name holds these numbers in a row: `part_12` does not hold `1_2`. The last may go on."""
    if not numbers:
        return True
    own = _NUMBERS.findall(name)
    for start in range(len(own) - len(numbers) + 1):
        some = own[start : start + len(numbers)]
        if some[:-1] == [*numbers[:-1]] and some[-1].startswith(numbers[-1]):
            return True
    return False


def find_by_glob(store: Store, pattern: str, scope: Scope) -> list[NamedSymbol]:
    """Definitions whose name matches `get_*`."""
    rows = _place(find_symbols_like(store, pattern, scope.ids, scope.kinds, _MOST_SYMBOLS))
    return sorted(rows, key=_symbol_order)


def suggest_names(store: Store, text: str, count: int = 5) -> list[str]:
    """Names that are written almost like this one, or share most of its parts; nearest first."""
    wanted = fold(re.sub(r"\W+", "", text.split("(", maxsplit=1)[0]))[:60]
    if len(wanted) < 2:
        return []
    grams = _grams(wanted)
    close: list[tuple[float, str]] = []
    low, high = len(wanted) // 2, len(wanted) * 2 + 2
    for folded, name in read_names(store, low, high):
        shared = len(grams & _grams(folded))
        likeness = 2 * shared / (len(grams) + max(len(folded) - 1, 1))
        if likeness > 0.3:
            close.append((likeness, name))
    close.sort(reverse=True)
    finest = sorted(
        ((SequenceMatcher(None, wanted, fold(name)).ratio(), name) for _, name in close[:60]), reverse=True
    )
    return list(dict.fromkeys(name for ratio, name in finest if ratio > 0.5))[:count]


def _find_qualified(store: Store, query: Query, scope: Scope) -> list[NamedSymbol]:
    *owners, last = query.qualified
    found: list[NamedSymbol] = []
    for row in _place(find_symbols_named(store, fold(last), scope.ids, scope.kinds, _MOST_SYMBOLS)):
        around = fold(f"{row.path.rsplit('.', 1)[0]}.{row.symbol.qualified}")
        inside = 0
        for owner in owners:
            inside += fold(owner) in re.split(r"[^a-z0-9]+", around)
        if inside:
            found.append(row._replace(fit=_score_symbol(row, query) * (0.5 + 0.5 * inside / len(owners))))
    return sorted(found, key=_symbol_order)


def _place(rows: Sequence[PlacedSymbol]) -> list[NamedSymbol]:
    found: list[NamedSymbol] = []
    for row in rows:
        found.append(NamedSymbol(1.0, *row))
    return found


def _score_symbol(row: NamedSymbol, query: Query) -> float:
    """How likely a definition of this name is the one that is meant."""
    symbol = row.symbol
    fit = _SYMBOL_KINDS.get(symbol.kind, 0.7)
    if query.kinds:
        fit *= 1.0 if symbol.kind in query.kinds else 0.6
    if symbol.name not in (query.text, query.bare):
        fit *= 0.97
    if symbol.parent is not None:
        fit *= 0.97
    if row.file_class == "test" or symbol.test:
        fit *= 1.0 if query.testing else _SYMBOL_CLASSES["test"]
    else:
        fit *= _SYMBOL_CLASSES.get(row.file_class, 1.0)
    if len(symbol.span) == 1 and symbol.kind not in {"function", "method", "constant"}:
        fit *= 0.95  # a mere declaration, or a forward one
    return fit


def _symbol_order(row: NamedSymbol) -> tuple[float, int, str, int]:
    return (-row.fit, row.path.count("/"), row.path, row.symbol.line)


def _grams(text: str) -> set[str]:
    found: set[str] = set()
    for at in range(len(text) - 1):
        found.add(text[at : at + 2])
    return found


def symbol_hit(path: str, symbol: Symbol, score: float) -> Hit:
    """A definition as a hit."""
    return Hit(
        path=path,
        line=symbol.line,
        kind="def",
        name=symbol.name,
        preview=symbol.signature,
        symbol=symbol.qualified,
        span=symbol.span,
        score=score,
    )


class FileMatch(NamedTuple):
    """A file, and how well its path fits (1: this very path)."""

    fit: float
    file: int
    path: str
    lines: int


def find_by_path(store: Store, query: Query, scope: Scope) -> list[FileMatch]:
    """Files whose path holds all words of the query in order, best first."""
    text = query.text
    if query.place:
        text = query.bare
    if any(char in text for char in "*?[{") and not re.search(r"\s", text):
        return _find_path_glob(store, text, scope)
    words = []
    for word in split(text).split():
        words.append(word.lower())
    if not words or len(words) > 12:
        return []
    rows = find_files_with_words(store, words, scope.ids, _MOST_FILES)
    asked = text.strip().removeprefix("./").removeprefix("/")
    found = []
    for number, path, file_class, lines in rows:
        if fit := _score_path(asked, words, path):
            found.append(FileMatch(fit * _FILE_CLASSES.get(file_class, 1.0), number, path, lines))
    return sorted(found, key=lambda place: (-place.fit, len(place.path), place.path))


def is_path_query(query: Query) -> bool:
    """Whether the query can only mean a file: it has a slash, or ends like a file name."""
    text = query.text
    return ("/" in text.strip("/") and " " not in text) or bool(_DOTTED.search(text)) or query.place is not None


def suggest_paths(store: Store, asked: Sequence[str], count: int = 3) -> list[str]:
    """Files with the name that was asked for, the likest path first; else those that are written almost like it."""
    by_name: dict[str, list[str]] = {}
    for path in read_paths(store):
        by_name.setdefault(path.rsplit("/", 1)[-1].lower(), []).append(path)
    found: dict[str, None] = {}
    for path in asked:
        name = path.rsplit("/", 1)[-1].strip("*.").lower()
        if len(name) < 3:
            continue
        same = sorted(by_name.get(name, ()), key=lambda known: -SequenceMatcher(None, known, path).ratio())
        found |= dict.fromkeys(same)
        if not same:
            found |= dict.fromkeys(by_name[near][0] for near in get_close_matches(name, by_name, count, 0.6))
    return list(found)[:count]


def _score_path(asked: str, words: list[str], path: str) -> float:
    if path == asked:
        return 1.0
    if path.endswith("/" + asked):
        return 0.97
    if "/" in asked and f"/{path.rsplit('.', 1)[0]}".endswith("/" + asked):
        return 0.95
    parts = []
    for word in split(path).split():
        parts.append(word.lower())
    whole = 0.1 * len(words) / len(parts)
    if parts[-len(words) :] == words:
        return 0.85 + whole
    stem = []
    for word in split(path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).split():
        stem.append(word.lower())
    if stem == words:
        return 0.8 + whole
    bare = []
    for word in split(path.rsplit(".", 1)[0]).split():
        bare.append(word.lower())
    if bare[-len(words) :] == words:
        return 0.75 + whole
    if _has_in_order(words, parts) and words[-1] in parts[-3:]:
        return 0.4 + whole
    return 0.0


def _has_in_order(words: list[str], parts: list[str]) -> bool:
    """Whether the words stand in the parts in this order, others between them."""
    left = iter(parts)
    return all(word in left for word in words)


def _find_path_glob(store: Store, glob: str, scope: Scope) -> list[FileMatch]:
    fits = compile_globs((glob,))
    found: list[FileMatch] = []
    for number, path, lines in read_lengths(store, scope.ids):
        if fits(path):
            found.append(FileMatch(0.9, number, path, lines))
    return found


def find_text(store: Store, root: Path, text: str, scope: Scope, wanted: int) -> TextMatches:
    """Lines with this very text, by its own case rule."""
    return find(store, root, TextQuery(text, paths=scope.paths, per_file=max(_PER_FILE, wanted)))


def find_regex(store: Store, root: Path, query: Query, scope: Scope) -> TextMatches:
    """Lines that match a regular expression."""
    kept = max(_PER_FILE, query.wanted)
    asked = TextQuery(text=query.regex, regex=True, ignore_case=query.ignore_case, paths=scope.paths, per_file=kept)
    return find(store, root, asked)


def find_phrase(store: Store, root: Path, text: str, scope: Scope) -> TextMatches:
    """Lines with these words in a row, whatever signs stand between them: `a.b, c` for `a b c`."""
    words = _WORDS.findall(text)
    sign = r"[^\w\n]"  # one to four of them, not counted in braces: counts of many words multiply beyond the limit
    loose = f"{sign}{sign}?{sign}?{sign}?".join(map(re.escape, words))
    asked = TextQuery(text=rf"\b{loose}\b", regex=True, ignore_case=True, paths=scope.paths, seconds=_SECONDS)
    return find(store, root, asked)


_VALUES: Final = frozenset({"variable", "constant"})


def text_hits(store: Store, found: TextMatches, weight: float, testing: bool) -> Iterator[Hit]:
    """Hits in order: files of the code itself before tests, documents and what is generated."""
    for file in sorted(found.files, key=lambda file: (-_text_prior(file, testing), file.path)):
        for line in file.lines:
            symbol = store.symbol_at(file.file, line.number)
            if symbol is not None and symbol.parent is None and symbol.kind in _VALUES:
                symbol = None  # a line of the module that gives a value: it says its own name
            yield Hit(
                path=file.path,
                line=line.number,
                kind="doc" if file.file_class == "doc" else "text",
                preview=line.text.strip(),
                symbol=symbol.qualified if symbol else "",
                span=symbol.span if symbol else None,
                score=weight * _text_prior(file, testing),
            )


def _text_prior(file: MatchingFile, testing: bool) -> float:
    if testing and file.file_class == "test":
        return 1.0
    return _TEXT_CLASSES.get(file.file_class, 1.0)
