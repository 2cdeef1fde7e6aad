"""Numbers on the command line that make no sense are refused where they are read."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """The type of an argument that counts something."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number
