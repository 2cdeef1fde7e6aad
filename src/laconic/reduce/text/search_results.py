"""Search results (`grep -n`, `rg`, with or without context): a path once per file, equal lines of a file together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from laconic.reduce.text.parts import KEY, NEAR, PLACE, RARE, TextPart, shorten

MATCH: Final = re.compile(r"^(?P<path>(?:[A-Za-z]:\\)?[^\s:][^:\n]{0,250}?)[:](?P<line>\d+):(?:\d+:)?(?P<text>.*)$")
CONTEXT: Final = re.compile(r"^(?P<path>[^\s:][^\n]{0,250}?\.\w+)-(?P<line>\d+)-(?P<text>.*)$")
PLAIN: Final = re.compile(r"^(?P<path>[\w@./+-]*[\w-]\.[A-Za-z]\w{0,7}):(?P<line>)(?P<text>\s*\S.*)$")  # no numbers
_BARE: Final = re.compile(r"^(?P<line>\d+)[:](?P<text>.*)$")
_DEFINES: Final = re.compile(
    r"^\s*(?:export\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|async\s+"
    r"|abstract\s+|final\s+|default\s+|unsafe\s+)*"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|impl|type|module|mod|const|let|var"
    r"|macro_rules!|namespace|record|sub)\s+\w"
)
_LONGEST: Final = 220
_SAME: Final = 120  # characters of line numbers that share one text


def search_parts(lines: Sequence[str]) -> list[TextPart]:
    """A heading per file and its hits below, definitions first in worth."""
    parts: list[TextPart] = []
    heads: dict[str, int] = {}
    hits: dict[str, dict[str, list[str]]] = {}
    order: list[str | tuple[str, str]] = []
    path = ""
    for line in lines:
        found = MATCH.match(line) or CONTEXT.match(line) or PLAIN.match(line)
        if found is None and path and (bare := _BARE.match(line)):
            _note(hits, order, path, bare["line"], bare["text"])
        elif found is None:
            if _is_heading(line, lines):
                path = line.strip()
            elif line.strip() and line.strip() != "--":
                order.append(line)
        else:
            path = found["path"]
            around = ""
            if found.re is CONTEXT:
                around = "-"
            _note(hits, order, path, found["line"] + around, found["text"])
    crowd = sum(len(texts) for texts in hits.values()) > 400
    for entry in order:
        if isinstance(entry, str):
            parts.append(TextPart(shorten(entry, 400), NEAR))
            continue
        path, text = entry
        if path not in heads:
            heads[path] = len(parts)
            parts.append(TextPart(path, PLACE, 0, again=path.rsplit("/", 1)[-1]))
        parts += _hit_parts(hits[path][text], text, heads[path], crowd)
    return _by_file(parts)


def _note(
    hits: dict[str, dict[str, list[str]]], order: list[str | tuple[str, str]], path: str, line: str, text: str
) -> None:
    texts = hits.setdefault(path, {})
    text = text.strip()
    if text not in texts:
        texts[text] = []
        order.append((path, text))
    texts[text].append(line)


def _is_heading(line: str, lines: Sequence[str]) -> bool:
    """A path alone, as `rg --heading` prints it."""
    return bool(re.match(r"^[\w@./\\-]+(?:/[\w@. -]+)*\.\w+$", line.strip())) and len(lines) > 1


def _hit_parts(numbers: Sequence[str], text: str, head: int, crowd: bool) -> list[TextPart]:
    if not text:
        return []
    if _DEFINES.match(text):
        worth = KEY
    elif crowd:
        worth = RARE
    else:
        worth = PLACE
    if not numbers[0]:
        times = ""
        if len(numbers) > 1:
            times = f"  [×{len(numbers)}]"
        return [
            TextPart(text=shorten(text, _LONGEST) + times, worth=worth, lines=len(numbers), what="hits", head=head)
        ]
    shown = ",".join(numbers)
    if len(shown) > _SAME:
        shown = f"{shown[:_SAME].rsplit(',', 1)[0]}…[{len(numbers):,} times]"
    if shown.endswith("-"):  # a line around a hit
        return [
            TextPart(
                text=f"{shown} {shorten(text, _LONGEST)}",
                worth=min(worth, RARE),
                lines=len(numbers),
                what="lines around",
                head=head,
            )
        ]
    return [
        TextPart(text=f"{shown}: {shorten(text, _LONGEST)}", worth=worth, lines=len(numbers), what="hits", head=head)
    ]


def _by_file(parts: list[TextPart]) -> list[TextPart]:
    """Hits moved below the heading of their file, when results of several files were interleaved."""
    members: dict[int, list[int]] = {}
    for index, part in enumerate(parts):
        members.setdefault(part.head if part.head >= 0 else index, []).append(index)
    order = []
    for head, group in members.items():
        order.extend(([head] if head not in group else []) + group)
    position = {}
    for new, old in enumerate(order):
        position[old] = new
    found: list[TextPart] = []
    for p in (parts[i] for i in order):
        found.append(replace(p, head=position[p.head] if p.head >= 0 else -1))
    return found
