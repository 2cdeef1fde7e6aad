"""Strip decoration from a text: colours, overwritten progress, padding, control characters. No word is lost."""

from __future__ import annotations

import re
from typing import Final

_ANSI: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_]|[()][0-9A-B])|\x9b[0-?]*[@-~]"
)
_CONTROL: Final = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\ufeff]")
_BACKSPACE: Final = re.compile(r"[^\x08\n]\x08")
_BLANKS: Final = re.compile(r"\n{3,}")
_READABLE: Final = re.compile(r"[\x20-\x7e\u00a1-\ufffc]{6,400}")
_SAMPLE: Final = 65_536


def clean(text: str) -> str:
    """The text as a terminal would have left it on the screen, without colour."""
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))
    while "\x08" in text:
        shorter = _BACKSPACE.sub("", text)
        if shorter == text:
            text = text.replace("\x08", "")
        else:
            text = shorter
    text = _CONTROL.sub("", text)
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return _BLANKS.sub("\n\n", text).strip("\n")


def _overwritten(line: str) -> str:
    """What stays of a line whose writer returned to its start: the last thing written."""
    if "\r" not in line:
        return line
    return next((piece for piece in reversed(line.split("\r")) if piece.strip()), "")


def is_binary(text: str) -> bool:
    """More than a quarter of a sample is not text."""
    sample = text[:_SAMPLE]
    odd = 0
    for mark in ("\x00", "\ufffd"):
        odd += sample.count(mark)
    if not odd:
        return False
    painted = _ANSI.sub("", sample)
    return (len(_CONTROL.findall(painted)) + painted.count("\ufffd")) * 4 > len(painted)


def printable(text: str) -> list[str]:
    """The readable stretches inside binary data."""
    return _READABLE.findall(text)
