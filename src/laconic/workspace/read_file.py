"""Read a file of a workspace as text, or say why not."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from laconic.errors import OutsideWorkspace, Unreadable

LIMIT: Final = 2_000_000  # bytes; larger files are data
# How answers show a byte of a name that is not UTF-8, a control character, and one that reorders what is seen.
_ESCAPE: Final = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})")
_HEAD: Final = 8192
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def inside(root: Path, path: str) -> Path:
    """The place of a path that stays inside the workspace, links resolved."""
    top = root.resolve()
    try:
        full = (top / path).resolve()
        if _ESCAPE.search(path) and not full.exists():
            full = (top / _ESCAPE.sub(_unescape, path)).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(f"{path!r} is not a usable path: {error}.", "Use a path as a search shows it.") from None
    if full != top and top not in full.parents:
        raise OutsideWorkspace(f"{path} is outside the workspace.", "Use a path below its top folder.")
    return full


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        return os.fsdecode(bytes([int(found[1], 16)]))
    return chr(int(found[2], 16))


def relative(root: Path, path: str) -> str:
    """A path as records write it: relative to the workspace, forward slashes."""
    place = inside(root, path).relative_to(root.resolve()).as_posix()
    return os.fsencode(place).decode("utf-8", "backslashreplace")


def read_bytes(root: Path, path: str, limit: int = LIMIT) -> bytes:
    """The bytes of a file that someone named: links are followed as long as they stay inside."""
    return read_listed(inside(root, path), path, limit)


def read_listed(full: Path | str, path: str, limit: int = LIMIT) -> bytes:
    """The bytes of a regular file within the limit; a link, a pipe or a device is never opened or waited for."""
    try:
        handle = os.open(full, _FLAGS)
    except FileNotFoundError:
        raise Unreadable(f"{path} does not exist.", "Search for its name.") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path} is not a regular file.", "Name a file.")
        if status.st_size > limit:
            raise Unreadable(f"{path} has {status.st_size:,} bytes, over the limit of {limit:,}.", "Search in it.")
        data = os.read(handle, status.st_size + 1)
        while len(data) < status.st_size and (more := os.read(handle, status.st_size - len(data))):
            data += more
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None
    finally:
        os.close(handle)
    return data


def is_binary(data: bytes) -> bool:
    """Whether bytes are no text: a NUL near the start that is not UTF-16."""
    return b"\0" in data[:_HEAD] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def as_text(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 shows as replacement characters."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def as_lines(data: bytes) -> list[str]:
    """Bytes as lines, as editors and parsers number them: only line feeds end a line."""
    lines = as_text(data).split("\n")
    if lines[-1]:
        return lines
    return lines[:-1]
