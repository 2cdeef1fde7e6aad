"""What comes before the dot of a name, read backwards from the text: `self`, `a.b`, `Foo()`, `items[]`."""

from __future__ import annotations

from typing import Final

_FAR: Final = 600  # bytes to look back at most
_PAIRS: Final = {b")"[0]: b"("[0], b"]"[0]: b"["[0], b"}"[0]: b"{"[0], b">"[0]: b"<"[0]}
_EMPTY: Final = {b")"[0]: "()", b"]"[0]: "[]", b"}"[0]: "{}", b">"[0]: "<>"}
_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$@")
_SPACE: Final = frozenset(b" \t\r\n\\")
_QUOTES: Final = frozenset(b"\"'`")


def before(data: bytes, start: int, last_end: int, chain: str) -> str:
    """The receiver of the name at `start`; the name before it ended at `last_end` and was written as `chain`."""
    at = _separator(data, start)
    if at < 0:
        return ""
    end = _skip_space(data, at)
    if end == last_end:
        return chain
    parts: list[str] = []
    floor = max(0, start - _FAR)
    while end > floor:
        if end == last_end:
            parts.append(chain)
            break
        end, part = _operand(data, end, floor)
        if not part:
            break
        parts.append(part)
        if part in {"()", "[]", "<>", "{}"} and end > floor and (data[end - 1] in _WORD or data[end - 1] in _PAIRS):
            continue  # what was called or indexed stands directly before
        at = _separator(data, end)
        if at < 0:
            at = _separator(data, _skip_space(data, end))  # the dot is at the end of the line above
        if at < 0:
            break
        parts.append(".")
        end = _skip_space(data, at)
    return "".join(reversed(parts)).lstrip(".") or "?"  # there is one, but it cannot be told


def _separator(data: bytes, start: int) -> int:
    """Where the separator before a name begins, or -1: `.`, `?.`, `!.`, `&.`, `::`, `->`, `?->`."""
    at = start
    two = data[max(0, at - 2) : at]
    if two in (b"::", b"->"):
        at -= 2
        if two == b"->" and data[at - 1 : at] == b"?":
            return at - 1
        return at
    if two.endswith(b".") and two != b"..":
        if two in (b"?.", b"!.", b"&."):
            return at - 2
        return at - 1
    return -1


def _skip_space(data: bytes, at: int) -> int:
    while at > 0 and data[at - 1] in _SPACE:
        at -= 1
    return at


def _operand(data: bytes, end: int, floor: int) -> tuple[int, str]:
    """One name, bracket pair or string that ends at `end`: where it begins, and how it is written in a receiver."""
    last = data[end - 1]
    if last in _WORD or last > 127:
        at = end
        while at > floor and (data[at - 1] in _WORD or data[at - 1] > 127):
            at -= 1
        return at, data[at:end].decode("utf-8", "replace")
    if last in _QUOTES:
        return floor, '""'
    opener = _PAIRS.get(last)
    if opener is None:
        return end, ""
    depth, at = 0, end
    while at > floor:
        at -= 1
        depth += (data[at] == last) - (data[at] == opener)
        if depth == 0:
            return at, _EMPTY[last]
    return end, ""
