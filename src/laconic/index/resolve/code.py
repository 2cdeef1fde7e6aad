"""What the resolver reads: the rows of the index, remembered by file while they hold. Decides nothing."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from laconic.errors import Unreadable
from laconic.index.dialect import LanguageDialect
from laconic.index.languages import dialect_of
from laconic.index.schema import file_of, position_of, symbol_id
from laconic.index.store import Store, Symbol
from laconic.index.store.file_queries import find_renamed_imports, read_exports, read_imports, read_sources
from laconic.index.store.symbol_queries import read_bases, read_interface_methods
from laconic.index.store.word_queries import count_files_using
from laconic.index.symbol_kinds import NAMELESS
from laconic.records import Import, Reference
from laconic.workspace.read_file import as_text, read_bytes

_KEPT: Final = 800  # files whose rows are remembered
_DERIVED: Final = 50_000  # things worked out from them

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SourceFile(NamedTuple):
    """A file, as far as the resolver cares."""

    id: int
    path: str
    language: str
    file_class: str
    package: str

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def dialect(self) -> LanguageDialect:
        return dialect_of(self.language)


class FileSymbols:
    """The symbols of one file by place and name."""

    def __init__(self, file: int, symbols: list[Symbol]) -> None:
        self.file = file
        self.symbols = symbols
        self.inside: dict[tuple[int | None, str], list[Symbol]] = {}
        for symbol in symbols:
            if symbol.kind in NAMELESS:
                continue
            self.inside.setdefault((symbol.parent, symbol.name), []).append(symbol)

    def at(self, position: int) -> Symbol | None:
        if 0 <= position < len(self.symbols):
            return self.symbols[position]
        return None

    def by_id(self, number: int | None) -> Symbol | None:
        if number is None:
            return None
        return self.at(position_of(number))

    def around(self, position: int) -> Iterator[Symbol]:
        """The definition at a position and those that hold it, from the inside out."""
        symbol = self.at(position)
        while symbol is not None:
            yield symbol
            symbol = self.by_id(symbol.parent)

    def find_named(self, parent: int | None, name: str) -> list[Symbol]:
        return self.inside.get((parent, name), [])


class LruCache(OrderedDict[Key, Value]):
    """The most recently used values; the oldest are forgotten."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def fetch(self, key: Key, make: Callable[[Key], Value]) -> Value:
        if key in self:
            self.move_to_end(key)
            return self[key]
        value = self[key] = make(key)
        if len(self) > self._most:
            self.popitem(last=False)
        return value


class Code:
    """One index, read with memory. Ids of files are never used twice, so what was read of a version stays true."""

    def __init__(self, store: Store, root: Path) -> None:
        self.store = store
        self.root = root
        self.roots = frozenset({""})  # folders that are workspaces of their own
        self._stamp = -1
        self._outlines: LruCache[int, FileSymbols] = LruCache(_KEPT)
        self._imports: LruCache[int, list[Import]] = LruCache(_KEPT)
        self._exports: LruCache[int, frozenset[str]] = LruCache(_KEPT)
        self._lines: LruCache[int, list[str]] = LruCache(200)
        self._named: LruCache[str, list[Symbol]] = LruCache(2 * _KEPT)
        self.sources: dict[int, SourceFile] = {}
        self.by_path: dict[str, SourceFile] = {}
        self.by_basename: dict[str, list[SourceFile]] = {}
        self.by_folder: dict[str, list[SourceFile]] = {}
        self.by_package: dict[str, list[SourceFile]] = {}
        self.derived: dict[Hashable, object] = {}  # what others work out and may keep until a file changes
        self._deadline = math.inf
        self.was_cut = False  # whether something was not looked at because the time was up
        self.refresh()

    def refresh(self) -> Code:
        """Forget what no longer holds because a file came, went or changed."""
        stamp = self.store.revision
        if stamp == self._stamp and not self.is_crowded:
            return self
        self._stamp = stamp
        self.forget()
        for source in map(SourceFile._make, read_sources(self.store)):
            self.add_source(source)
        return self

    @property
    def is_crowded(self) -> bool:
        """Whether so much was worked out that it is time to begin again."""
        return len(self.derived) >= _DERIVED

    def forget(self) -> None:
        """Forget all files, and what was worked out from them."""
        self._named.clear()
        self.derived.clear()
        self.sources.clear()
        for table in (self.by_path, self.by_basename, self.by_folder, self.by_package):
            table.clear()

    def add_source(self, source: SourceFile) -> None:
        """Let a file be known."""
        self.sources[source.id] = source
        self.by_path[source.path] = source
        self.by_basename.setdefault(source.path.rpartition("/")[2], []).append(source)
        self.by_folder.setdefault(source.folder, []).append(source)
        if source.package:
            self.by_package.setdefault(source.package, []).append(source)

    @contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Look no further than for so long; `was_cut` then says whether anything was left out."""
        self._deadline, self.was_cut = time.monotonic() + seconds, False
        try:
            yield
        finally:
            self._deadline = math.inf

    def is_time_up(self) -> bool:
        """Whether whoever looks must stop here."""
        if time.monotonic() > self._deadline:
            self.was_cut = True
            return True
        return False

    def outline(self, file: int) -> FileSymbols:
        return self._outlines.fetch(file, lambda number: FileSymbols(number, self.store.symbols_in(number)))

    def imports(self, file: int) -> list[Import]:
        return self._imports.fetch(file, self._read_imports)

    def exports(self, file: int) -> frozenset[str]:
        """The names that a file lists as exported."""
        return self._exports.fetch(file, self._read_exports)

    def symbol(self, number: int) -> Symbol | None:
        return self.outline(file_of(number)).by_id(number)

    def find_named(self, name: str) -> list[Symbol]:
        """Symbols of exactly this name."""
        return self._named.fetch(
            name, lambda wanted: [s for s in self.store.symbols_named(wanted) if s.name == wanted]
        )

    def mentions(self, name: str) -> Iterator[tuple[int, list[Reference]]]:
        for file, found in self.store.mentions(name):
            if file in self.sources:
                yield file, found

    def mentions_in(self, file: int, name: str) -> list[Reference]:
        return self.store.references_named(file, name)

    def references_in(self, file: int) -> list[Reference]:
        """All references that a file holds."""
        return self.store.references_in(file)

    def symbols_named(self, name: str) -> list[Symbol]:
        """Symbols of this name in any naming style; those written exactly so first."""
        return self.store.symbols_named(name)

    def symbol_at(self, file: int, line: int) -> Symbol | None:
        """The innermost symbol around a line."""
        return self.store.symbol_at(file, line)

    def renamed_imports(self, name: str) -> list[tuple[int, Import]]:
        """Imports of a name under an alias, each with its file."""
        return find_renamed_imports(self.store, name)

    def bases(self) -> list[tuple[int, str, str]]:
        """Id, kind and bases (one a line) of every type that names any."""
        return read_bases(self.store)

    def interface_methods(self) -> list[tuple[int, str, str]]:
        """The interface, the name and the signature of every method that an interface declares."""
        return read_interface_methods(self.store)

    def files_using(self, names: Iterable[str]) -> dict[str, int]:
        """In how many files each name is used, in whatever case."""
        return count_files_using(self.store, names)

    def admits(self, source: SourceFile, name: str, files: Iterable[int]) -> bool:
        """Whether an import of a name in one file can mean these files; within one workspace it always can."""
        return True

    def may_use(self, source: SourceFile, other: SourceFile) -> bool:
        """Whether one file can use what another defines; within one workspace nothing stands between them."""
        return True

    def lines(self, file: int) -> list[str]:
        """The text of a file as it is now on disk; nothing when it cannot be read."""
        return self._lines.fetch(file, self._read_lines)

    def enclosing(self, file: int, scope: int) -> Symbol | None:
        return self.outline(file).at(scope)

    def top(self, file: int, name: str) -> list[Symbol]:
        """What a file defines under a name outside of everything else."""
        found: list[Symbol] = []
        for each in self.outline(file).find_named(None, name):
            if each.qualified == each.name:
                found.append(each)
        return found

    def _read_imports(self, file: int) -> list[Import]:
        return read_imports(self.store, file)

    def _read_exports(self, file: int) -> frozenset[str]:
        return read_exports(self.store, file)

    def _read_lines(self, file: int) -> list[str]:
        source = self.sources.get(file)
        if source is None:
            return []
        return self.text(source.path).split("\n")

    def text(self, path: str) -> str:
        """A file of the workspace, for the few that the index does not keep: manifests."""
        try:
            return as_text(read_bytes(self.root, path))
        except Unreadable:
            return ""


def id_at(file: int, position: int) -> int | None:
    """The symbol id of a position, nothing for the file itself."""
    if position < 0:
        return None
    return symbol_id(file, position)
