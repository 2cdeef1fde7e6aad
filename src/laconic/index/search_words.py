"""The words that search sees: names split at case and underscores, bodies as sets of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from laconic.index.schema import FILE
from laconic.records import Span

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_IDENTIFIER: Final = re.compile(r"\w+")
_BODY_WORDS: Final = 400  # distinct words of one body; beyond that it is data, not code
_DOC_WORDS: Final = 1500  # the same for a file without definitions: prose has more to say


class WordRow(NamedTuple):
    """One row of the `words` table, by the position of its definition."""

    position: int
    body: str
    name: str
    path: str
    signature: str
    doc: str


def fold(name: str) -> str:
    """A name in the form in which all naming styles meet."""
    return name.replace("_", "").replace("-", "").encode("utf-8", "replace").lower().decode()  # ASCII, as SQLite does


def split(text: str) -> str:
    """The words of a text in order: `getUserID_v2` is `get User ID v 2`."""
    return " ".join(_PARTS.findall(text))


class DescribedDefinition(Protocol):
    """What the words of a definition are made of."""

    @property
    def name(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def signature(self) -> str: ...
    @property
    def doc(self) -> str: ...


class FileWords(NamedTuple):
    """The words of one file."""

    identifiers: str  # all distinct identifiers, separated by spaces: what the trigrams are made of
    rows: list[WordRow]


def documents(
    path: str, lines: Sequence[str], definitions: Sequence[DescribedDefinition], *, bare: bool = False
) -> FileWords:
    """The words of every definition, each line counted once for the innermost; then those of the file itself.

    `bare`: the contents are data and say nothing about the code; only names and paths count.
    """
    owned: dict[int, dict[str, None]] = {}
    for at, start, end in _segments(len(lines), definitions):
        owned.setdefault(at, {}).update(dict.fromkeys(_IDENTIFIER.findall("\n".join(lines[start:end]))))
    where = split(path)
    rows = [
        WordRow(at, _body(owned.get(at)), _names(item.name), where, split(item.signature), split(item.doc))
        for at, item in enumerate(definitions)
    ]
    limit = _BODY_WORDS if definitions else _DOC_WORDS
    if bare:
        limit = 0
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    rows.append(WordRow(FILE, _body(owned.get(FILE), limit), split(stem), where, "", ""))
    identifiers: dict[str, None] = {}
    for found in owned.values():
        identifiers.update(found)
    return FileWords(" ".join(identifiers), rows)


def _names(name: str) -> str:
    """The parts of a name, and the name as a whole when it has several: both are searched for."""
    parts = split(name)
    if " " in parts:
        return f"{parts} {name}"
    return parts or name


def _segments(count: int, definitions: Sequence[DescribedDefinition]) -> Iterator[tuple[int, int, int]]:
    """Runs of lines from 0, end excluded, each with the position of the innermost definition around it."""
    cursor = 0
    around = [(FILE, count)]  # definitions that have begun, with their ends
    for at, item in enumerate(definitions):
        start = min(max(item.span.start - 1, cursor), count)
        while len(around) > 1 and around[-1][1] <= start:
            owner, end = around.pop()
            if end > cursor:
                yield owner, cursor, end
                cursor = end
        if start > cursor:
            yield around[-1][0], cursor, start
            cursor = start
        around.append((at, min(item.span.end, around[-1][1])))
    for owner, end in reversed(around):
        if end > cursor:
            yield owner, cursor, end
            cursor = end


def _body(identifiers: dict[str, None] | None, limit: int = _BODY_WORDS) -> str:
    if identifiers:
        return " ".join(map(_parts, list(identifiers)[:limit]))
    return ""


@lru_cache(maxsize=50_000)
def _parts(identifier: str) -> str:
    """The parts of one identifier; the same few are asked for again and again."""
    return " ".join(_PARTS.findall(identifier))
