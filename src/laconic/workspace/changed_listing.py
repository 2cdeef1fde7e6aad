"""Whether files are still as an old listing of them shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from laconic.edits.source import SourceText, split
from laconic.errors import WorkspaceError
from laconic.reduce.passage import passage
from laconic.workspace.read_file import read_bytes, relative
from laconic.workspace.secrets import SecretFiles

_HEADER: Final = re.compile(r"\[(.+)#([0-9a-f]{6,64}) \d+ lines?\]")


def find_changed(root: Path, secrets: SecretFiles, lines: Sequence[str], about: str = "") -> list[str]:
    """The files of a listing that are no longer as it shows them.

    Our own listings name each file with its tag. `about` are words on any other one, of which the last may be its path.
    """
    tags: dict[str, str] = {}
    for line in lines:
        if header := _HEADER.fullmatch(line):
            tags[header[1]] = header[2]
    changed = []
    for path, tag in tags.items():
        now = _read_now(root, secrets, path)
        if now is None or now.tag != tag:
            changed.append(path)
    named = about.rsplit(" ", 1)[-1]
    if tags or not named:
        return changed
    now = _read_now(root, secrets, named)
    if now is not None and _differs(lines, now.lines):
        return [relative(root, named)]
    return []


def _read_now(root: Path, secrets: SecretFiles, path: str) -> SourceText | None:
    """A file as it is now; None for what cannot be read."""
    try:
        secrets.check(relative(root, path))
        return split(read_bytes(root, path))
    except (WorkspaceError, ValueError):
        return None


def _differs(listing: Sequence[str], now: Sequence[str]) -> bool:
    """Whether a numbered line of a listing is another one in the file."""
    rows = passage("\n".join(listing))
    for number, line in zip(rows.numbers, rows.lines, strict=False):
        if number > len(now) or (number > 0 and now[number - 1] != line):
            return True
    return False
