"""Directory listings: names grouped by folder, long listings without what no reader needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.reduce.text.parts import EDGE, NEAR, PLACE, RARE, TextPart

_LONG: Final = re.compile(
    r"^(?P<mode>[-dlbcps][rwxsStT-]{9})[.+@]?\s+\d+\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<size>[\d.,]+[KMGT]?)\s+"
    r"(?P<date>\w{3}\s+\d+\s+[\d:]+|\d{4}-\d\d-\d\d(?: [\d:.]+(?: [+-]\d+)?)?)\s+(?P<name>.+)$"
)
_WIDTH: Final = 160
ENTRY: Final = re.compile(  # as file servers list folders: `[FILE] a.txt  12 KB`
    r"^\[(?P<kind>FILE|DIR|LINK|file|dir|link)\]\s+(?P<name>\S(?:.*?\S)?)(?:\s{2,}(?P<size>[\d.]+ ?[KMGT]?i?B))?\s*$"
)


def listing_parts(lines: Sequence[str]) -> list[TextPart]:
    """Long listings as `size name`, plain paths below their folder."""
    long = 0
    for line in lines:
        long += _LONG.match(line) is not None
    if long * 2 > sum(bool(line.strip()) for line in lines):
        found: list[TextPart] = []
        for line in lines:
            if line.strip():
                found.append(_long_part(line))
        return found
    if any(line.startswith(("├", "└", "│", "|--", "`--")) for line in lines[:20]):
        made: list[TextPart] = []
        for line in lines:
            if line.strip():
                made.append(TextPart(_slim_tree(line), PLACE if len(lines) < 400 else RARE, what="entries"))
        return made
    return _by_folder(lines)


def _long_part(line: str) -> TextPart:
    found = _LONG.match(line)
    if found is None:
        return TextPart(line, EDGE if line.startswith("total ") else PLACE)
    kind = {"d": "/", "l": "", "-": "*" if "x" in found["mode"] else ""}.get(found["mode"][0], "")
    if found["name"].endswith(kind) or not kind:
        name = found["name"]
    else:
        name = found["name"] + kind
    if found["owner"] in {"root"}:
        owner = ""
    else:
        owner = f"{found['owner']} "
    return TextPart(
        f"{found['size']} {owner}{' '.join(found['date'].split())} {name}", NEAR, what="entries", whole=False
    )


def _slim_tree(line: str) -> str:
    """Branches drawn with lines become indentation."""
    body = re.sub(r"^[│|├└`+─\s-]*", "", line)
    depth = (len(line) - len(body)) // 4
    return " " * depth + body


def _name_entry(line: str) -> str:
    """An entry by its name, folders with a slash, sizes behind it."""
    found = ENTRY.match(line)
    if found is None:
        return line
    name = found["name"]
    if found["kind"].lower() == "dir":
        name += "/"
    if found["size"]:
        name += f" {found['size'].replace(' ', '')}"
    return name


def _by_folder(lines: Sequence[str]) -> list[TextPart]:
    """`dir/: a b c`, in the order in which folders first appear."""
    folders: dict[str, list[str]] = {}
    for line in lines:
        if line.strip():
            path = _name_entry(line.strip())
            cut = path.rstrip("/").rfind("/") + 1
            folders.setdefault(path[:cut], []).append(path[cut:])
    parts: list[TextPart] = []
    for folder, names in folders.items():
        head = -1
        if folder:
            parts.append(TextPart(folder, PLACE, 0))
            head = len(parts) - 1
        indent = ""
        if folder:
            indent = " "
        for row in _rows(names):
            parts.append(
                TextPart(text=indent + "  ".join(row), worth=NEAR, lines=len(row), what="entries", head=head)
            )
    return parts


def _rows(names: Sequence[str]) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    width = 0
    for name in names:
        if rows[-1] and width + len(name) > _WIDTH:
            rows.append([])
            width = 0
        rows[-1].append(name)
        width += len(name) + 2
    return rows
