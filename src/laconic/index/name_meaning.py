"""What a name or an expression refers to, as far as the index can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of: definitions of ours, values of types of ours, a module, something of others, or nothing known.

    `container` is a list or a map of values of types of ours, `foreign` a module, type or function that is not ours,
    `alien` a value of a type that is not ours, and `callable` a function whose type is written at a place.
    """

    kind: str  # symbol, instance, container, module, foreign, alien, callable, unknown
    symbols: tuple[int, ...] = ()  # the definitions, or the types (of a container: those of its elements)
    files: tuple[int, ...] = ()  # of a module; of a callable: file, scope and line at which its type is written
    folder: str = ""  # of a module that is a folder: where its parts lie
    name: str = ""  # of the type of an alien value or a callable, as written
    language: str = ""  # of a module that is a folder without files of its own

    def __bool__(self) -> bool:
        return self.kind != "unknown"


class NamePlace(NamedTuple):
    """Where a name stands: scope is the position of the innermost definition in its file."""

    file: int
    scope: int
    line: int
    column: int = 1_000_000  # the end of the line


UNKNOWN: Final = Meaning("unknown")
FOREIGN: Final = Meaning("foreign")
ALIEN: Final = Meaning("alien")
CONTAINER: Final = Meaning("container")  # of nothing that is known
ALIENS: Final = Meaning("container", name="alien")  # of values that are not ours


def of(symbols: tuple[int, ...] | list[int]) -> Meaning:
    """Definitions."""
    if symbols:
        return Meaning("symbol", tuple(symbols))
    return UNKNOWN


def instance(symbols: tuple[int, ...] | list[int]) -> Meaning:
    """A value of one of these types."""
    if symbols:
        return Meaning("instance", tuple(symbols))
    return UNKNOWN


def container(symbols: tuple[int, ...] | list[int]) -> Meaning:
    """A value that holds values of one of these types: a list, a map."""
    return Meaning("container", tuple(symbols))


def function(place: NamePlace, written: str) -> Meaning:
    """A value that can be called, of a type that is written at a place."""
    return Meaning("callable", files=(place.file, place.scope, place.line), name=written)


def element(whole: Meaning) -> Meaning:
    """What a list or a map holds."""
    if whole.kind != "container":
        return UNKNOWN
    if whole.symbols:
        return instance(whole.symbols)
    if whole.name:
        return ALIEN
    return UNKNOWN


def module(files: tuple[int, ...] | list[int], folder: str = "") -> Meaning:
    """A module: the files that make it up."""
    if files or folder:
        return Meaning("module", files=tuple(files), folder=folder)
    return UNKNOWN
