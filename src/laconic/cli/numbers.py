"""Numbers on the command line that make no sense are refused where they are read."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """The type of an argument that counts something."""
    return _read_number(text, 1, "a whole number above 0")


def zero_or_more(text: str) -> int:
    """The type of an argument that counts something, or is 0 for no limit."""
    return _read_number(text, 0, "0 or a whole number above 0")


def _read_number(text: str, least: int, wanted: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return number
