"""Which types have the shape of an interface without naming it: for languages where that is enough.

Nothing here looks at all types: a question about one type or one interface reads what bears on it. The parts of a type
are in its folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from laconic.index.resolve import classes
from laconic.index.resolve.code import Code
from laconic.index.schema import file_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES

Form = tuple[int, int]  # how many parameters and results a method has
Shape = dict[str, Form]  # by the names of methods
ReadForm = Callable[[str], Form]  # of a signature
_DEEP = 8  # types in types in types


class _Interfaces(NamedTuple):
    """The interfaces of a language: what each declares itself, and who declares what."""

    own: dict[int, Shape]
    by_method: dict[tuple[str, Form], list[int]]


class StructuralTypes:
    """The questions for one language family."""

    def __init__(self, family: str, read_form: ReadForm) -> None:
        self._family = family
        self._read_form = read_form

    def find_interfaces(self, code: Code, type_: int) -> list[int]:
        """The interfaces that a type fits."""
        key = ("fits", self._family, type_)
        kept = code.derived.get(key)
        if isinstance(kept, list):
            return kept
        found: list[int] = []
        code.derived[key] = found  # what is asked on the way finds nothing yet
        symbol = code.symbol(type_)
        if symbol is not None and symbol.kind != "interface" and self._is_ours(code, type_):
            found += self._match(code, self._read_shape(code, type_, 0))
        return found

    def find_implementers(self, code: Code, interface: int) -> list[int]:
        """The types that fit an interface."""
        key = ("fitting", self._family, interface)
        kept = code.derived.get(key)
        if isinstance(kept, list):
            return kept
        found: list[int] = []
        code.derived[key] = found
        symbol = code.symbol(interface)
        if symbol is None or symbol.kind != "interface" or not self._is_ours(code, interface):
            return found
        wanted = self._read_shape(code, interface, 0)
        names = sorted(wanted, key=lambda name: len(code.find_named(name)))
        if names:
            for number in self._spread(code, self._owners_of(code, names[0])):
                if all(self._find_form(code, number, name, 0) == wanted[name] for name in names):
                    found.append(number)
        found.sort()
        return found

    def _is_ours(self, code: Code, number: int) -> bool:
        source = code.sources.get(file_of(number))
        return source is not None and source.dialect.family == self._family

    def _match(self, code: Code, shape: Shape) -> list[int]:
        """The interfaces all methods of which are in this shape."""
        interfaces = self._read_interfaces(code)
        counts: Counter[int] = Counter()
        for item in shape.items():
            counts.update(interfaces.by_method.get(item, ()))
        queue = [number for number, count in counts.items() if count == len(interfaces.own[number])]
        found: set[int] = set()
        seen = set(queue)
        while queue:
            number = queue.pop()
            if self._read_shape(code, number, 0).items() <= shape.items():
                found.add(number)
                for each in classes.heirs_named_by(code, number):  # those that declare nothing themselves
                    if each not in interfaces.own and each not in seen and _is_interface(code, each):
                        seen.add(each)
                        queue.append(each)
        return sorted(found)

    def _spread(self, code: Code, types: Iterable[int]) -> Iterator[int]:
        """These and all that hold them, interfaces left out."""
        queue = list(types)
        seen = set(queue)
        while queue:
            number = queue.pop()
            if not _is_interface(code, number):
                yield number
            for heir in classes.heirs_named_by(code, number):
                if heir not in seen:
                    seen.add(heir)
                    queue.append(heir)

    def _find_form(self, code: Code, type_: int, name: str, deep: int) -> Form | None:
        """The form of a method of a type: its own, else that of what it holds."""
        own = self._owners_of(code, name).get(type_)
        if own is not None or deep >= _DEEP:
            return own
        for base in classes.declared_bases(code, type_)[0]:
            held = self._find_form(code, base, name, deep + 1)
            if held is not None:
                return held
        return None

    def _owners_of(self, code: Code, name: str) -> dict[int, Form]:
        """The types that declare a method of this name, with its form."""
        key = ("owners", self._family, name)
        kept = code.derived.get(key)
        if isinstance(kept, dict):
            return kept
        found: dict[int, Form] = {}
        for symbol in code.find_named(name):
            if symbol.kind in CALLABLES and self._is_ours(code, symbol.id):
                for owner in classes.owners(code, symbol):
                    found[owner] = self._read_form(symbol.signature)
        code.derived[key] = found
        return found

    def _read_shape(self, code: Code, type_: int, deep: int) -> Shape:
        """The methods of a type, with those of the types that it holds."""
        shape: Shape = {}
        for method in self._own_methods(code, type_):
            shape[method.name] = self._read_form(method.signature)
        if deep < _DEEP:
            for base in classes.declared_bases(code, type_)[0]:
                shape = {**self._read_shape(code, base, deep + 1), **shape}
        return shape

    def _own_methods(self, code: Code, type_: int) -> Iterator[Symbol]:
        symbol = code.symbol(type_)
        source = code.sources.get(file_of(type_))
        if symbol is None or source is None:
            return
        for method in self._read_folder(code, source.folder).get(symbol.name, ()):
            if type_ in classes.owners(code, method):
                yield method

    def _read_folder(self, code: Code, folder: str) -> dict[str, list[Symbol]]:
        """The methods in a folder by the names of their types."""
        key = ("methods", self._family, folder)
        kept = code.derived.get(key)
        if isinstance(kept, dict):
            return kept
        found: dict[str, list[Symbol]] = {}
        for source in code.by_folder.get(folder, ()):
            if source.dialect.family != self._family:
                continue
            for symbol in code.outline(source.id).symbols:
                if symbol.kind in CALLABLES and (owner := classes.owner_name(code, symbol)):
                    found.setdefault(owner, []).append(symbol)
        code.derived[key] = found
        return found

    def _read_interfaces(self, code: Code) -> _Interfaces:
        key = ("interfaces", self._family)
        kept = code.derived.get(key)
        if isinstance(kept, _Interfaces):
            return kept
        found = _Interfaces({}, {})
        for interface, name, signature in code.interface_methods():
            if self._is_ours(code, interface):
                form = self._read_form(signature)
                found.own.setdefault(interface, {})[name] = form
        for interface, shape in found.own.items():
            for item in shape.items():
                found.by_method.setdefault(item, []).append(interface)
        code.derived[key] = found
        return found


def _is_interface(code: Code, number: int) -> bool:
    symbol = code.symbol(number)
    return symbol is not None and symbol.kind == "interface"
