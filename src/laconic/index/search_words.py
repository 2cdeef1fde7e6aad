"""The words that search sees: names split at case and underscores, bodies as sets of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Final, NamedTuple, Protocol

from laconic.index.schema import FILE
from laconic.records import Span

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_IDENTIFIER: Final = re.compile(r"\w+")
_BLANKED: Final = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))
_BODY_WORDS: Final = 400  # distinct words of one body; beyond that it is data, not code
_DOC_WORDS: Final = 1500  # the same for a file without definitions: prose has more to say
_KNOWN_PARTS: Final = 50_000  # identifiers whose parts are remembered


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


class DefinitionWords(NamedTuple):
    """The words of one definition."""

    body: str
    name: str
    signature: str
    doc: str


class ContentWords(NamedTuple):
    """The words of one file, wherever it lies."""

    identifiers: str  # all distinct identifiers, separated by spaces: what the trigrams are made of
    definitions: list[DefinitionWords]
    rest: str  # of what stands outside all definitions


def describe_content(text: str, definitions: Sequence[DescribedDefinition]) -> ContentWords:
    """The words of every definition, each line counted once for the innermost; then those of the file itself."""
    starts = [0, *accumulate([len(line) + 1 for line in text.split("\n")])]
    find_words: Callable[[str], list[str]] = _IDENTIFIER.findall
    if text.isascii():  # two and a half times as fast
        text = text.encode().translate(_BLANKED).decode()
        find_words = str.split
    owned: dict[int, dict[str, None]] = {}
    everything: dict[str, None] = {}
    for at, start, end in _segments(len(starts) - 1, definitions):
        found = dict.fromkeys(find_words(text[starts[start] : starts[end]]))
        everything.update(found)
        if at in owned:
            owned[at].update(found)
        else:
            owned[at] = found
    rows: list[DefinitionWords] = []
    for at, item in enumerate(definitions):
        rows.append(DefinitionWords(_body(owned.get(at)), _names(item.name), split(item.signature), split(item.doc)))
    limit = _BODY_WORDS if definitions else _DOC_WORDS
    return ContentWords(" ".join(everything), rows, _body(owned.get(FILE), limit))


def place_words(path: str, words: ContentWords, *, bare: bool = False) -> list[WordRow]:
    """The rows of a file at a path; `bare`: its contents are data and say nothing of the code."""
    where = split(path)
    rows: list[WordRow] = []
    for at, (body, name, signature, doc) in enumerate(words.definitions):
        rows.append(WordRow(position=at, body=body, name=name, path=where, signature=signature, doc=doc))
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    rows.append(
        WordRow(position=FILE, body="" if bare else words.rest, name=split(stem), path=where, signature="", doc="")
    )
    return rows


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
    if not identifiers:
        return ""
    words: Iterable[str] = identifiers
    if len(identifiers) > limit:
        words = islice(identifiers, limit)
    return " ".join(map(_PARTS_OF.__getitem__, words))


class _PartsOf(dict[str, str]):
    """The parts of each identifier that was asked for: the same few are asked for again and again."""

    def __missing__(self, identifier: str) -> str:
        if identifier.isalpha() and identifier.islower() and identifier.isascii():
            parts = identifier
        else:
            parts = " ".join(_PARTS.findall(identifier))
        if len(self) >= _KNOWN_PARTS:
            self.clear()
        self[identifier] = parts
        return parts


_PARTS_OF: Final = _PartsOf()
