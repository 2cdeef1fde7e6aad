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
    "source": ClassWorth(name=1.0, path=1.0, text=1.0, words=1.0, task=1.0),
    "test": ClassWorth(name=0.8, path=0.97, text=0.9, words=0.35, task=0.2),
    "doc": ClassWorth(name=0.8, path=1.0, text=0.9, words=0.3, task=0.3),
    "config": ClassWorth(name=0.8, path=1.0, text=0.7, words=0.4, task=0.3),
    "data": ClassWorth(name=0.6, path=0.9, text=0.5, words=0.2, task=0.2),
    "generated": ClassWorth(name=0.6, path=0.8, text=0.5, words=0.3, task=0.3),
    "vendored": ClassWorth(name=0.5, path=0.7, text=0.5, words=0.3, task=0.3),
    "minified": ClassWorth(name=0.3, path=0.6, text=0.2, words=0.1, task=0.1),
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
