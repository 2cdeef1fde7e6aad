"""Several workspaces read as one: each below a folder of its own, each file under a number of its own.

A use in one workspace leads to a definition in another only where the one imports what the other publishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from laconic.index.resolve.code import Code, FileSymbols, SourceFile
from laconic.index.resolve.published_names import beginnings, imports_from, published_names
from laconic.index.schema import SHIFT
from laconic.index.store import Symbol
from laconic.records import Import, Reference

_FILES: Final = 32  # bits that the number of a file has within its workspace
_FILE: Final = (1 << _FILES) - 1


class JoinedMember(NamedTuple):
    """One workspace among several."""

    prefix: str  # what its paths begin with: nothing, or `@name/`
    code: Code


class JoinedCode(Code):
    """Several indexes, read as one."""

    def __init__(self, members: list[JoinedMember], root: Path) -> None:
        self.members = members
        self._revisions: tuple[int, ...] = ()
        self._needs: dict[int, frozenset[int]] = {}  # members that a member imports from
        super().__init__(members[0].code.store, root)
        self.roots = frozenset(member.prefix.rstrip("/") for member in members)

    def refresh(self) -> Code:
        """Forget what no longer holds because a file came, went or changed in any of them."""
        revisions = tuple(member.code.refresh().store.revision for member in self.members)
        if revisions == self._revisions and not self.is_crowded:
            return self
        self._revisions = revisions
        self.forget()
        codes = [member.code for member in self.members]
        for number, member in enumerate(self.members):
            needed = set()
            for at, code in enumerate(codes):
                if at != number and imports_from(member.code, code):
                    needed.add(at)
            self._needs[number] = frozenset(needed)
            for source in member.code.sources.values():
                self.add_source(source._replace(id=_join(number, source.id), path=member.prefix + source.path))
        return self

    def has_member(self, code: Code) -> bool:
        return any(member.code is code for member in self.members)

    def adopt(self, code: Code, symbol: Symbol) -> Symbol:
        """A symbol of one of the workspaces as a symbol of all."""
        for number, member in enumerate(self.members):
            if member.code is code:
                return _shift(number, symbol)
        raise LookupError(symbol.qualified)

    def outline(self, file: int) -> FileSymbols:
        return self._outlines.fetch(file, self._read_outline)

    def imports(self, file: int) -> list[Import]:
        return self._code(file).imports(file & _FILE)

    def exports(self, file: int) -> frozenset[str]:
        return self._code(file).exports(file & _FILE)

    def find_named(self, name: str) -> list[Symbol]:
        return self._named.fetch(name, self._find_named)

    def mentions(self, name: str) -> Iterator[tuple[int, list[Reference]]]:
        for number, member in enumerate(self.members):
            for file, found in member.code.mentions(name):
                yield _join(number, file), found

    def mentions_in(self, file: int, name: str) -> list[Reference]:
        return self._code(file).mentions_in(file & _FILE, name)

    def references_in(self, file: int) -> list[Reference]:
        return self._code(file).references_in(file & _FILE)

    def symbols_named(self, name: str) -> list[Symbol]:
        found: list[Symbol] = []
        for number, member in enumerate(self.members):
            for symbol in member.code.symbols_named(name):
                found.append(_shift(number, symbol))
        return sorted(found, key=lambda symbol: symbol.name != name)

    def symbol_at(self, file: int, line: int) -> Symbol | None:
        symbol = self._code(file).symbol_at(file & _FILE, line)
        if symbol is None:
            return None
        return _shift(file >> _FILES, symbol)

    def renamed_imports(self, name: str) -> list[tuple[int, Import]]:
        found: list[tuple[int, Import]] = []
        for number, member in enumerate(self.members):
            for file, each in member.code.renamed_imports(name):
                found.append((_join(number, file), each))
        return found

    def bases(self) -> list[tuple[int, str, str]]:
        found: list[tuple[int, str, str]] = []
        for number, member in enumerate(self.members):
            offset = number << (_FILES + SHIFT)
            for symbol, kind, written in member.code.bases():
                found.append((symbol + offset, kind, written))
        return found

    def interface_methods(self) -> list[tuple[int, str, str]]:
        found: list[tuple[int, str, str]] = []
        for number, member in enumerate(self.members):
            offset = number << (_FILES + SHIFT)
            for interface, name, signature in member.code.interface_methods():
                found.append((interface + offset, name, signature))
        return found

    def files_using(self, names: Iterable[str]) -> dict[str, int]:
        wanted = set(names)
        found = dict.fromkeys(wanted, 0)
        for member in self.members:
            for name, count in member.code.files_using(wanted).items():
                found[name] += count
        return found

    def text(self, path: str) -> str:
        for member in self.members:
            if member.prefix and path.startswith(member.prefix):
                return member.code.text(path.removeprefix(member.prefix))
        return self.members[0].code.text(path)

    def admits(self, source: SourceFile, name: str, files: Iterable[int]) -> bool:
        """Whether an import leads to another workspace that publishes what it names."""
        own = source.id >> _FILES
        for number in {file >> _FILES for file in files}:
            if number != own and not self._is_published(number, source, name):
                return False
        return True

    def may_use(self, source: SourceFile, other: SourceFile) -> bool:
        one, two = source.id >> _FILES, other.id >> _FILES
        return one == two or two in self._needs[one]

    def _is_published(self, number: int, source: SourceFile, name: str) -> bool:
        names = published_names(self.members[number].code)
        return any((source.dialect.family, each) in names for each in beginnings(name))

    def _code(self, file: int) -> Code:
        return self.members[file >> _FILES].code

    def _read_outline(self, file: int) -> FileSymbols:
        own = self._code(file).outline(file & _FILE)
        symbols: list[Symbol] = []
        for symbol in own.symbols:
            symbols.append(_shift(file >> _FILES, symbol))
        return FileSymbols(file, symbols)

    def _find_named(self, name: str) -> list[Symbol]:
        found: list[Symbol] = []
        for number, member in enumerate(self.members):
            for symbol in member.code.find_named(name):
                found.append(_shift(number, symbol))
        return found


def _join(number: int, file: int) -> int:
    return (number << _FILES) + file


def _shift(number: int, symbol: Symbol) -> Symbol:
    offset = number << (_FILES + SHIFT)
    if not offset:
        return symbol
    if symbol.parent is None:
        return symbol._replace(id=symbol.id + offset)
    return symbol._replace(id=symbol.id + offset, parent=symbol.parent + offset)
