"""Numbers on the command line that make no sense are refused where they are read."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """The type of an argument that counts something."""
    return _at_least(1, text)


def zero_or_more(text: str) -> int:
    """The type of an argument that counts something, or is 0 for no limit."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
    return number
