"""What each class of file is worth in the rankings, one row a class, and in which order classes are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple


class ClassWorth(NamedTuple):
    """A class of file, for what is found in it by name, for its path, for a line of text, for words, and for a task."""

    name: float
    path: float
    text: float
    words: float
    task: float


_CLASSES: Final[Mapping[str, ClassWorth]] = {
    "source": ClassWorth(1.0, 1.0, 1.0, 1.0, 1.0),
    "test": ClassWorth(0.8, 0.97, 0.9, 0.35, 0.2),
    "doc": ClassWorth(0.8, 1.0, 0.9, 0.3, 0.3),
    "config": ClassWorth(0.8, 1.0, 0.7, 0.4, 0.3),
    "data": ClassWorth(0.6, 0.9, 0.5, 0.2, 0.2),
    "generated": ClassWorth(0.6, 0.8, 0.5, 0.3, 0.3),
    "vendored": ClassWorth(0.5, 0.7, 0.5, 0.3, 0.3),
    "minified": ClassWorth(0.3, 0.6, 0.2, 0.1, 0.1),
}
READ_FIRST: Final[Mapping[str, int]] = {"source": 0, "test": 1}  # the order of a build; others come last
NAMED_FIRST: Final[Mapping[str, int]] = {
    "source": 0,
    "test": 2,
    "vendored": 3,
    "generated": 3,
    "minified": 4,
}  # else 1


def weigh_classes(asked: Literal["name", "path", "text", "words", "task"]) -> dict[str, float]:
    """What classes of files are worth when they are asked for in this way."""
    found: dict[str, float] = {}
    for file_class, worth in _CLASSES.items():
        found[file_class] = getattr(worth, asked)
    return found
