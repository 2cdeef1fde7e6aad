"""What each kind of symbol and each class of file is worth in the rankings: one row a kind, one row a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple


class KindWorth(NamedTuple):
    """A kind of symbol, when somebody asks for it by name, by words, or by a task."""

    name: float
    words: float
    task: float


class ClassWorth(NamedTuple):
    """A class of file, for what is found in it by name, for its path, for a line of text, for words, and for a task."""

    name: float
    path: float
    text: float
    words: float
    task: float


_KINDS: Final[Mapping[str, KindWorth]] = {
    "function": KindWorth(1.0, 1.0, 1.0),
    "method": KindWorth(0.95, 1.0, 1.0),
    "constructor": KindWorth(0.9, 0.9, 1.0),
    "macro": KindWorth(0.95, 0.9, 0.8),
    "class": KindWorth(1.0, 0.95, 0.4),
    "struct": KindWorth(1.0, 0.95, 0.4),
    "interface": KindWorth(1.0, 0.95, 0.4),
    "trait": KindWorth(1.0, 0.95, 0.4),
    "enum": KindWorth(1.0, 0.9, 0.4),
    "type": KindWorth(0.95, 0.8, 0.3),
    "module": KindWorth(0.85, 0.6, 0.2),
    "constant": KindWorth(0.9, 0.6, 0.2),
    "variable": KindWorth(0.75, 0.5, 0.2),
    "field": KindWorth(0.7, 0.4, 0.1),
    "heading": KindWorth(0.6, 0.5, 0.2),
    "key": KindWorth(0.5, 0.2, 0.05),
}
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


def weigh_kinds(asked: Literal["name", "words", "task"]) -> dict[str, float]:
    """What kinds of symbols are worth when they are asked for in this way."""
    found: dict[str, float] = {}
    for kind, worth in _KINDS.items():
        found[kind] = getattr(worth, asked)
    return found


def weigh_classes(asked: Literal["name", "path", "text", "words", "task"]) -> dict[str, float]:
    """The same for classes of files."""
    found: dict[str, float] = {}
    for file_class, worth in _CLASSES.items():
        found[file_class] = getattr(worth, asked)
    return found
