"""What an expression is: follows receivers through locals, fields, results and classes as far as the text tells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from laconic.index.declared import Given, type_names
from laconic.index.meaning import ALIEN, UNKNOWN, Meaning, NamePlace, instance, of
from laconic.index.resolve import classes, names
from laconic.index.resolve.bindings import find_bindings
from laconic.index.resolve.code import CALLABLES, TYPES, Code, SourceFile
from laconic.index.resolve.expression import Step, chain, steps
from laconic.index.schema import position_of
from laconic.index.store import Symbol

_DEEP: Final = 6
# What the text itself says of a value: `x.(*T)` in Go, `x as T` in TypeScript, Kotlin and C#, `(T) x` in Java.
_ASSERTED: Final = re.compile(
    r"\.\((\*?[\w.]+)\)\s*(?:\{|;|//|$)|\s(?:as!?\??)\s+([A-Z][\w.]*)\s*[;,)]?\s*(?://.*)?$"
)
_LITERALS: Final = ('"', "'", "[", "{", "`", 'f"', "f'", 'b"', "b'", 'r"', "r'")


@dataclass(frozen=True, slots=True)
class Values:
    """Evaluates expressions of one index."""

    code: Code

    def receiver(self, place: NamePlace, text: str) -> Meaning:
        """What stands before the dot."""
        parts = steps(text)
        return self.follow(place, parts, 0) if parts else UNKNOWN

    def follow(self, place: NamePlace, parts: tuple[Step, ...], deep: int) -> Meaning:
        """A chain of names, calls and subscripts, from left to right."""
        if deep > _DEEP or not parts:
            return UNKNOWN
        source = self.code.sources[place.file]
        dialect = source.dialect
        start = 1
        head = parts[0].text
        if head == '""':
            meant = ALIEN
        elif head in dialect.me:
            meant = instance(classes.enclosing_type(self.code, place))
        elif head in dialect.above or (head + "()" in dialect.above and parts[1:2] == (Step("()"),)):
            start = 2 if parts[1:2] == (Step("()"),) else 1
            own = classes.enclosing_type(self.code, place)
            meant = instance([up for type_ in own for up in classes.bases(self.code, type_)[0]])
        elif parts[0].is_name:
            meant = self.name(place, head, deep)
        else:
            return UNKNOWN
        last = head
        for step in parts[start:]:
            if step.is_name:
                meant = self.member(meant, step.text, deep)
                last = step.text
            elif step.text in {"()", "{}"}:
                # A foreign function may well return something of ours, a foreign class does not.
                type_like = last[:1].isupper() and (dialect.types_stand_out or step.text == "{}")
                meant = ALIEN if type_like and meant.kind == "foreign" else self.call(meant, deep)
            else:
                meant = UNKNOWN
            if meant.kind == "unknown":
                break
        return meant

    def name(self, place: NamePlace, name: str, deep: int = 0) -> Meaning:
        """A bare name as a value: a local first, then what the name is defined as."""
        given = self._local(place, name)
        if given:
            meanings = {self._follow_given(place, each, deep) for each in given}
            return meanings.pop() if len(meanings) == 1 else UNKNOWN
        meant = names.lookup(self.code, place, name)
        return self.value(meant, deep)

    def value(self, meant: Meaning, deep: int) -> Meaning:
        """Definitions seen as values: a variable stands for what it holds."""
        if meant.kind != "symbol":
            return meant
        found = [self.code.symbol(number) for number in meant.symbols]
        holders = [symbol for symbol in found if symbol and symbol.kind in {"variable", "constant", "field"}]
        if not holders or len(holders) < len(found):
            return meant
        declared = [each for each in holders if self._read_declared(each).kind == "type"]
        meanings = {self.holds(each, deep) for each in declared or holders}
        return meanings.pop() if len(meanings) == 1 else UNKNOWN

    def _read_declared(self, symbol: Symbol) -> Given:
        source = self.code.sources.get(symbol.file)
        return source.dialect.read_type(symbol.name, symbol.signature) if source else Given(0, "opaque")

    def holds(self, symbol: Symbol, deep: int) -> Meaning:
        """What a variable, field or property holds."""
        if symbol.file not in self.code.sources or deep > _DEEP:
            return UNKNOWN
        given = self._read_declared(symbol)
        scope = position_of(symbol.parent) if symbol.parent is not None else -1
        place = NamePlace(symbol.file, self._inner(symbol, scope), symbol.line)
        return self._follow_given(place, given, deep)

    def member(self, whole: Meaning, name: str, deep: int) -> Meaning:
        """A member of a value, a type or a module, as a value."""
        found = self.members(whole, name)
        if found.kind == "symbol":
            symbols = [each for number in found.symbols if (each := self.code.symbol(number))]
            if symbols and all("property" in each.modifiers.split() for each in symbols):
                return self.read_result(symbols[0], deep)
        return self.value(found, deep)

    def members(self, whole: Meaning, name: str) -> Meaning:
        """The definitions of a member of a value, a type or a module."""
        if whole.kind == "module":
            return names.member(self.code, whole, name)
        if whole.kind not in {"symbol", "instance"}:
            return UNKNOWN if whole.kind == "alien" else whole
        found = [
            symbol.id
            for type_ in whole.symbols
            if self._is_type(type_)
            for symbol in classes.members(self.code, type_, name)
        ]
        return of(list(dict.fromkeys(found)))

    def call(self, meant: Meaning, deep: int) -> Meaning:
        """What a call gives: an instance of a class, or what the function says that it returns."""
        if meant.kind != "symbol":
            return UNKNOWN
        symbols = [each for number in meant.symbols if (each := self.code.symbol(number))]
        if symbols and all(each.kind in TYPES for each in symbols):
            return instance([each.id for each in symbols])
        results = {self.read_result(each, deep) for each in symbols}
        return results.pop() if len(results) == 1 else UNKNOWN

    def read_result(self, symbol: Symbol, deep: int) -> Meaning:
        """What a function says that it returns."""
        source = self.code.sources.get(symbol.file)
        if source is None or symbol.kind not in CALLABLES or deep > _DEEP:
            return UNKNOWN
        if symbol.kind == "constructor":
            return instance(classes.owners(self.code, symbol))
        written = source.dialect.read_result(symbol.name, symbol.signature)
        return (
            self.read_type(NamePlace(symbol.file, position_of(symbol.id), symbol.line), written)
            if written
            else UNKNOWN
        )

    def read_type(self, place: NamePlace, written: str) -> Meaning:
        """A value of a type as written."""
        path = type_names(written)
        if not path:
            return UNKNOWN
        source = self.code.sources[place.file]
        if path in (["Self"], ["self"], ["this"], ["static"]):
            return instance(classes.enclosing_type(self.code, place))
        if len(path) == 1 and path[0] in source.dialect.builtin:
            return ALIEN
        meant = names.path(self.code, place, path)
        if meant.kind == "symbol":
            types = [number for number in meant.symbols if self._is_type(number) and not self._is_alias(number)]
            return instance(types)
        return ALIEN if meant.kind == "foreign" else UNKNOWN

    def _follow_given(self, place: NamePlace, given: Given, deep: int) -> Meaning:
        if given.kind in {"type", "inner"}:
            return self.read_type(place, given.text) if given.text else UNKNOWN
        if given.kind == "value":
            text = given.text.strip()
            if asserted := _ASSERTED.search(text):
                return self.read_type(place, asserted[1] or asserted[2])
            if text.startswith(_LITERALS) or text[:1].isdigit():
                return ALIEN if chain(text) == "" and not text.startswith(("[", "{", "(")) else UNKNOWN
            written = chain(text)
            parts = steps(written) if written else None
            return self.follow(place, parts, deep + 1) if parts else UNKNOWN
        return UNKNOWN

    def _local(self, place: NamePlace, name: str) -> list[Given]:
        """What the functions around a place may have given to a name by then; nothing if it is not theirs."""
        source = self.code.sources[place.file]
        for around in self.code.outline(place.file).around(place.scope):
            if around.kind not in CALLABLES:
                continue
            found = self._find_bindings(source, around, name)
            if found:
                return self._find_reaching(place, found) or [found[0][1]]
        return []

    def _find_reaching(self, place: NamePlace, found: list[tuple[int, Given]]) -> list[Given]:
        """Of several assignments those that may hold at a line: back to the last that is sure to have been run."""
        lines = self.code.lines(place.file)
        reaching: list[Given] = []
        for line, given in reversed(found):
            if line > place.line:
                continue
            own = _indent(lines, line)
            since = [depth for at in range(line + 1, place.line + 1) if (depth := _indent(lines, at)) >= 0]
            if given.kind == "inner":
                if all(depth > own for depth in since):
                    return [given]
                continue
            reaching.append(given)
            if given.at == 0 or all(depth >= own for depth in since):
                break
        return reaching

    def _find_bindings(self, source: SourceFile, around: Symbol, name: str) -> list[tuple[int, Given]]:
        key = ("bound", around.id, name)
        kept = self.code.derived.get(key)
        if isinstance(kept, list):
            return kept
        lines = self.code.lines(source.id)
        text = "\n".join(lines[around.start - 1 : around.end])
        given = find_bindings(source.dialect, name, text, around.signature) if name in text else ()
        found = [(around.start + text.count("\n", 0, each.at), each) for each in given]
        self.code.derived[key] = found
        return found

    def _inner(self, symbol: Symbol, scope: int) -> int:
        """The scope in which the right-hand side of a field stands: a method for `self.x = y`, else its owner."""
        outline = self.code.outline(symbol.file)
        best = scope
        for at, each in enumerate(outline.symbols):
            if each.kind in CALLABLES and each.start <= symbol.line <= each.end:
                best = at
        return best

    def _is_type(self, number: int) -> bool:
        symbol = self.code.symbol(number)
        return symbol is not None and symbol.kind in TYPES

    def _is_alias(self, number: int) -> bool:
        symbol = self.code.symbol(number)
        return symbol is not None and symbol.kind == "type" and "=" in symbol.signature


def _indent(lines: list[str], line: int) -> int:
    """How far a line is indented; -1 when it is empty or does not exist."""
    text = lines[line - 1] if line <= len(lines) else ""
    bare = text.lstrip()
    return len(text) - len(bare) if bare else -1
