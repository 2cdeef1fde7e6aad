"""The words that ranked search sees: names split at case and underscores, bodies as sets of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from laconic.index.schema import FILE
from laconic.records import Definition

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_BODY_WORDS: Final = 400  # distinct words of one body; beyond that it is data, not code
_DOC_WORDS: Final = 1500  # the same for a file without definitions: prose has more to say


class Words(NamedTuple):
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


def documents(
    path: str, lines: Sequence[str], definitions: Sequence[Definition], *, bare: bool = False
) -> list[Words]:
    """The words of every definition, each line counted once for the innermost; then those of the file itself.

    `bare`: the contents are data and say nothing about the code; only names and paths count.
    """
    where = split(path)
    owned = _owned(len(lines), definitions)
    rows = [
        Words(at, _body(lines, owned.get(at, ())), _names(item.name), where, split(item.signature), split(item.doc))
        for at, item in enumerate(definitions)
    ]
    limit = 0 if bare else _BODY_WORDS if definitions else _DOC_WORDS
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    rows.append(Words(FILE, _body(lines, owned.get(FILE, ()), limit), split(stem), where, "", ""))
    return rows


def _names(name: str) -> str:
    """The parts of a name, and the name as a whole when it has several: both are searched for."""
    parts = split(name)
    return f"{parts} {name}" if " " in parts else parts or name


def _owned(count: int, definitions: Sequence[Definition]) -> dict[int, list[int]]:
    """Line numbers from 0, by the innermost definition around them."""
    owner = [FILE] * count
    # Definitions come outer before inner, so the inner one writes last.
    for at, item in enumerate(definitions):
        start, end = max(item.span.start - 1, 0), min(item.span.end, count)
        owner[start:end] = [at] * max(end - start, 0)
    owned: dict[int, list[int]] = {}
    for number, at in enumerate(owner):
        owned.setdefault(at, []).append(number)
    return owned


def _body(lines: Sequence[str], numbers: Iterable[int], limit: int = _BODY_WORDS) -> str:
    if not limit:
        return ""
    words = _PARTS.findall("\n".join([lines[number] for number in numbers]).lower().replace("_", " "))
    return " ".join(list(dict.fromkeys(words))[:limit])
