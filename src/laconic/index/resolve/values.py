"""What an expression is: follows receivers through locals, fields, results and classes as far as the text tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from laconic.index.declared_types import DeclaredValue, split_outside
from laconic.index.name_meaning import (
    ALIEN,
    ALIENS,
    CONTAINER,
    UNKNOWN,
    Meaning,
    NamePlace,
    element,
    instance,
    of,
)
from laconic.index.resolve import classes, names
from laconic.index.resolve.call_signatures import (
    CallSignature,
    find_inner_scope,
    list_signatures,
    list_signatures_of,
    read_called,
    read_declared,
)
from laconic.index.resolve.callbacks import list_arguments, read_called_result, read_parameters
from laconic.index.resolve.code import Code
from laconic.index.resolve.expression import Step, chain, steps
from laconic.index.resolve.local_names import read_local_names
from laconic.index.resolve.reassigned_fields import is_nothing, list_later_values
from laconic.index.resolve.receivers import infer_type
from laconic.index.resolve.signatures import read_whole_signature
from laconic.index.resolve.written_types import list_symbols, read_type, unite
from laconic.index.schema import position_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES, HOLDERS, TYPES

_REASSIGNED: Final = 2  # values that lead to values up to which all that a field is given are read
_MOST_VALUES: Final = 8  # of one field
_DEEP: Final = 8
# What the text itself says of a value: `x.(*T)` in Go, `x as T` in TypeScript, Kotlin and C#, `(T) x` in Java.
_ASSERTED: Final = re.compile(
    r"\.\((\*?[\w.]+)\)\s*(?:\{|;|//|$)|\s(?:as!?\??)\s+([A-Z][\w.]*)\s*[;,)]?\s*(?://.*)?$"
)
_CAST: Final = re.compile(
    r"\(\s*\(?\s*(?:const\s+)?(?:struct\s+)?([A-Za-z_][\w.:]*)(?:<[^()]*>)?\s*[*&]*\s*\)\s*[\w(]"
)
_LITERALS: Final = ('"', "'", "[", "{", "`", 'f"', "f'", 'b"', "b'", 'r"', "r'")
_GETTERS: Final = frozenset({"property", "get"})  # functions that are used as if they were fields
_GENERIC: Final = frozenset({"slices", "maps", "sync", "atomic", "cmp", "iter", "lo"})  # they give what they get
# Members of lists and maps that give one of what they hold, and those that give as many.
_ONE: Final = frozenset(
    {"get", "pop", "first", "last", "front", "back", "at", "next", "peek", "poll", "find", "shift", "popleft", "Get"}
    | {
        "get_mut",
        "unwrap",
        "remove",
        "setdefault",
        "getFirst",
        "getLast",
        "pop_front",
        "pop_back",
        "entry",
        "elementAt",
    }
)
_MANY: Final = frozenset(
    {"values", "iter", "iter_mut", "into_iter", "filter", "slice", "copy", "clone", "rev", "reverse", "sort", "skip"}
    | {
        "take",
        "stream",
        "iterator",
        "listIterator",
        "concat",
        "values_mut",
        "sorted",
        "toList",
        "subList",
        "as_slice",
    }
)


class FieldMeaning(NamedTuple):
    """What a field holds, and whether it may hold something else too."""

    meant: Meaning
    is_open: bool


@dataclass(frozen=True, slots=True)
class Values:
    """Evaluates expressions of one index."""

    code: Code

    def receiver(self, place: NamePlace, text: str) -> Meaning:
        """What stands before the dot."""
        callee, mark, position = text.partition("#")
        if mark and position.isdigit():
            return self._read_argument(place, callee, int(position))
        parts = steps(text)
        if parts:
            return self.follow(place, parts, 0)
        return UNKNOWN

    def _read_argument(self, place: NamePlace, callee: str, position: int) -> Meaning:
        """What a function takes at a position: the type of a literal that is passed to it."""
        found = self._find_called(place, steps(callee) or (), 0)
        results: list[Meaning] = []
        for symbol in list_symbols(self.code, found):
            for signature in self._list_ways_to_call(symbol):
                for written in list_arguments(read_parameters(signature.text), position):
                    results.append(read_type(self.code, signature.place, written))
        known = [each for each in results if each.kind != "unknown"]
        return unite(known)

    def _list_ways_to_call(self, symbol: Symbol) -> list[CallSignature]:
        """The parameters that a function, or the constructor of a class, can be called with."""
        if symbol.kind not in TYPES:
            return list_signatures_of(self.code, symbol, 0)
        found: list[CallSignature] = []
        for each in classes.members(self.code, symbol.id, "constructor"):
            found += list_signatures_of(self.code, each, 0)
        return found

    def _find_called(self, place: NamePlace, parts: tuple[Step, ...], deep: int) -> Meaning:
        """The functions that a chain of names leads to."""
        if not parts or not parts[-1].is_name:
            return UNKNOWN
        if len(parts) == 1:
            return names.lookup(self.code, place, parts[0].text)
        return self.members(self.follow(place, parts[:-1], deep + 1), parts[-1].text)

    def follow(self, place: NamePlace, parts: tuple[Step, ...], deep: int) -> Meaning:
        """A chain of names, calls and subscripts, from left to right."""
        if deep > _DEEP or not parts:
            return UNKNOWN
        meant, start = self._read_head(place, parts, deep)
        last = parts[0].text
        passing = False  # the last name gives what is in a wrapper
        for at, step in enumerate(parts[start:], start):
            if meant.kind == "unknown" or (meant.kind == "alien" and self._stays_foreign(place)):
                break
            called = parts[at + 1 : at + 2] == (Step("()"),)
            if passing:
                passing = False
            elif meant.kind == "container":
                meant, last = self._take(meant, step, last)
            elif called and self._is_passing(place, meant, step.text):
                passing = True
            elif step.is_name and called and (result := self._call_held(place, meant, step.text, deep)):
                meant, last, passing = result, step.text, True
            elif step.is_name and parts[at + 1 : at + 2] == (Step("{}"),):
                meant, last = self.members(meant, step.text), step.text
            elif step.is_name:
                meant = self.member(meant, step.text, deep, called=called)
                last = step.text
            elif step.text in {"()", "{}"}:
                meant = self._apply(place, meant, step, (parts[0].text, last), deep)
            elif step.text == "[]":
                meant = self._read_element(meant, deep)
            else:
                meant = UNKNOWN
        return meant

    def _read_element(self, whole: Meaning, deep: int) -> Meaning:
        """What a list or a map holds, or a value of a type that is one under another name."""
        if whole.kind != "instance" or deep > _DEEP:
            return element(whole)
        found: list[Meaning] = []
        for symbol in list_symbols(self.code, whole):
            read = self.code.sources[symbol.file].dialect.read_underlying
            written = read(symbol.name, symbol.signature) if read is not None and symbol.kind == "type" else ""
            if written:
                place = NamePlace(symbol.file, -1, symbol.line)
                found.append(element(read_type(self.code, place, written, deep + 1)))
        return _agree(found)

    def _stays_foreign(self, place: NamePlace) -> bool:
        """Whether all that comes from a value of others is of others as well."""
        return self.code.sources[place.file].dialect.foreign_stays

    def _is_passing(self, place: NamePlace, meant: Meaning, name: str) -> bool:
        """Whether a member is one of a wrapper around a value of ours, which has none of that name itself."""
        known = name in self.code.sources[place.file].dialect.passing
        if meant.kind == "alien":
            return known
        return known and meant.kind == "instance" and self.members(meant, name).kind == "unknown"

    def _read_head(self, place: NamePlace, parts: tuple[Step, ...], deep: int) -> tuple[Meaning, int]:
        """What the first link is, and how many links that took."""
        dialect = self.code.sources[place.file].dialect
        head = parts[0].text
        called = parts[1:2] == (Step("()"),)
        if head == '""':
            return ALIEN, 1
        if head in dialect.me:
            return instance(classes.enclosing_type(self.code, place)), 1
        if head in dialect.above or (head + "()" in dialect.above and called):
            own = classes.enclosing_type(self.code, place)
            above = []
            for type_ in own:
                above.extend(classes.bases(self.code, type_)[0])
            return instance(above), 2 if called else 1
        if dialect.implicit_modules and len(parts) > 1 and parts[1].text[:1].isupper():
            return names.lookup(self.code, place, head), 1  # a path of modules and types
        if parts[0].is_name and parts[1:2] == (Step("{}"),):
            return names.lookup(self.code, place, head), 1
        if parts[0].is_name:
            meant = self.name(place, head, deep)
            if meant.kind == "unknown" and dialect.open_types and head[:1].isupper():
                meant = read_type(self.code, place, head, deep + 1)  # a type parameter with a bound
            if meant.kind == "unknown" and deep == 0 and not dialect.dynamic:
                meant = infer_type(self.code, place, head)
            return meant, 1
        return UNKNOWN, 1

    def _apply(self, place: NamePlace, meant: Meaning, step: Step, ends: tuple[str, str], deep: int) -> Meaning:
        """What calling something gives; a foreign function may return something of ours, a foreign class does not."""
        dialect = self.code.sources[place.file].dialect
        head, last = ends
        if step.text == "{}" and meant.kind == "instance":
            return meant  # `Self { .. }`
        if step.text == "{}" and meant.kind == "symbol":
            types = []
            variants = []
            for each in list_symbols(self.code, meant):
                if each.kind in TYPES:
                    types.append(each.id)
                elif is_variant(self.code, each):
                    variants.append(each.id)
            if variants and not types:
                return instance(variants)
            meant = of(types) if types else meant
        stands_out = dialect.types_stand_out or step.text == "{}"
        if meant.kind == "foreign" and (head in dialect.builtin or (last[:1].isupper() and stands_out)):
            return ALIEN
        if meant.kind == "foreign" and dialect.foreign_stays and head not in _GENERIC:
            return ALIEN
        return self.call(meant, deep)

    def _take(self, meant: Meaning, step: Step, last: str) -> tuple[Meaning, str]:
        """One step from a list or map: an element, the same again, or nothing that is known."""
        if step.text == "[]" or (step.text == "()" and last in _ONE):
            return element(meant), step.text
        if step.is_name and step.text in _ONE | _MANY:
            return meant, step.text
        if step.text == "()" and last in _MANY:
            return meant, ""
        return ALIEN, step.text

    def name(self, place: NamePlace, name: str, deep: int = 0) -> Meaning:
        """A bare name as a value: a local first, then what the name is defined as."""
        local = self._local(place, name, deep)
        if local is not None:
            return local
        meant = names.lookup(self.code, place, name)
        if meant.kind == "unknown" and self.code.sources[place.file].dialect.bare_members:
            for type_ in classes.enclosing_types(self.code, place):
                if found := classes.members(self.code, type_, name):
                    return self.value(of([each.id for each in found]), deep)
        return self.value(meant, deep)

    def value(self, meant: Meaning, deep: int) -> Meaning:
        """Definitions seen as values: a variable stands for what it holds."""
        if meant.kind != "symbol":
            return meant
        found = []
        for number in meant.symbols:
            found.append(self.code.symbol(number))
        holders = []
        for symbol in found:
            if symbol and symbol.kind in HOLDERS:
                holders.append(symbol)
        if not holders or len(holders) < len(found):
            return meant
        if self.code.sources[holders[0].file].dialect.open_types and all(
            is_variant(self.code, each) for each in holders
        ):
            return instance([each.parent for each in holders if each.parent is not None])
        declared = []
        for each in holders:
            if read_declared(self.code, each).kind == "type":
                declared.append(each)
        return _agree(self.holds(each, deep) for each in declared or holders)

    def holds(self, symbol: Symbol, deep: int) -> Meaning:
        """What a variable, field or property holds."""
        if symbol.file not in self.code.sources or deep > _DEEP:
            return UNKNOWN
        given = read_declared(self.code, symbol)
        place = NamePlace(symbol.file, find_inner_scope(self.code, symbol), symbol.line, 0)
        if given.kind == "value" and self.code.sources[symbol.file].dialect.field_value is not None:
            return self._read_field(symbol, place, given, deep).meant
        return self._follow_given(place, given, deep)

    def _read_field(self, symbol: Symbol, place: NamePlace, given: DeclaredValue, deep: int) -> FieldMeaning:
        """What a field holds that several methods may assign: values of all the types that they give it."""
        first = self._follow_given(place, given, deep)
        if deep > _REASSIGNED:
            return FieldMeaning(first, is_open=False)
        later = list_later_values(self.code, symbol)
        values: list[Meaning] = []
        for at, text in later[:_MOST_VALUES]:
            values.append(self._evaluate(at, text, deep + 1))
        meant = first
        if first.kind == "instance" or is_nothing(given.text):
            meant = unite(each for each in (first, *values) if each.kind == "instance")
        is_open = len(later) > _MOST_VALUES or any(each.kind == "unknown" for each in values)
        return FieldMeaning(meant, is_open=is_open)

    def may_hold_more(self, place: NamePlace, receiver: str) -> bool:
        """Whether a receiver is a field that somebody also gives a value of which nothing is known."""
        parts = steps(receiver)
        if not parts or len(parts) < 2 or not parts[-1].is_name:
            return False
        for symbol in list_symbols(self.code, self.members(self.follow(place, parts[:-1], 0), parts[-1].text)):
            given = read_declared(self.code, symbol)
            if given.kind != "value" or self.code.sources[symbol.file].dialect.field_value is None:
                continue
            at = NamePlace(symbol.file, find_inner_scope(self.code, symbol), symbol.line, 0)
            if self._read_field(symbol, at, given, 0).is_open:
                return True
        return False

    def member(self, whole: Meaning, name: str, deep: int, *, called: bool = False) -> Meaning:
        """A member of a value, a type or a module, as a value."""
        if name.isdigit():
            return self._read_position(whole, int(name))
        found = self.members(whole, name)
        if found.kind == "symbol":
            symbols = list_symbols(self.code, found)
            kinds = set()
            for each in symbols:
                kinds.add(each.kind in CALLABLES)
            if len(kinds) > 1:  # a field and a method of one name
                symbols = [each for each in symbols if (each.kind in CALLABLES) == called]
                found = of([each.id for each in symbols])
            getters = [each for each in symbols if _GETTERS & set(each.modifiers.split())]
            if getters:
                return self.read_result(getters[0], deep)
        return self.value(found, deep)

    def _read_position(self, whole: Meaning, position: int) -> Meaning:
        """A field that has no name but a place: `self.0`."""
        found: list[Meaning] = []
        for symbol in list_symbols(self.code, whole):
            inner = read_whole_signature(self.code, symbol).partition("(")[2].rpartition(")")[0]
            written = []
            for each in split_outside(inner, ","):
                written.append(each.strip().removeprefix("pub "))
            if position < len(written):
                place = NamePlace(symbol.file, position_of(symbol.id), symbol.line)
                found.append(read_type(self.code, place, written[position]))
        return _agree(found)

    def members(self, whole: Meaning, name: str) -> Meaning:
        """The definitions of a member of a value, a type or a module."""
        if whole.kind == "module":
            return names.member(self.code, whole, name)
        if whole.kind in {"alien", "container", "callable"}:
            return UNKNOWN
        if whole.kind not in {"symbol", "instance"}:
            return whole
        found: dict[int, None] = {}
        for type_ in whole.symbols:
            if self._has_members(type_):
                found.update(dict.fromkeys(each.id for each in classes.members(self.code, type_, name)))
        return of(list(found))

    def call(self, meant: Meaning, deep: int, index: int = 0) -> Meaning:
        """What a call gives: an instance of a class, or what the function says that it returns."""
        if meant.kind == "callable":
            return read_type(self.code, NamePlace(*meant.files), read_called_result(meant.name), deep + 1)
        if meant.kind != "symbol":
            return UNKNOWN
        symbols = list_symbols(self.code, meant)
        if symbols and all(each.kind in TYPES for each in symbols):
            return instance([each.id for each in symbols])
        results = [self.read_result(each, deep, index) for each in symbols]
        if len(results) > 1 and self._are_overloads(symbols):
            return next((each for each in results if each.kind != "unknown"), UNKNOWN)
        return _agree(results)

    def _are_overloads(self, symbols: list[Symbol]) -> bool:
        """Whether they are one function that says several times how it can be called: the first one counts."""
        first = symbols[0]
        if not self.code.sources[first.file].dialect.overloads:
            return False
        return all((each.file, each.qualified) == (first.file, first.qualified) for each in symbols)

    def read_result(self, symbol: Symbol, deep: int, index: int = 0) -> Meaning:
        """What a function says that it returns."""
        source = self.code.sources.get(symbol.file)
        if source is None or symbol.kind not in CALLABLES or deep > _DEEP:
            return UNKNOWN
        if symbol.kind == "constructor":
            return instance(classes.owners(self.code, symbol))
        place = NamePlace(symbol.file, position_of(symbol.id), symbol.line)
        written = source.dialect.read_result(symbol.name, read_whole_signature(self.code, symbol))
        several = source.dialect.split_results(written)
        if index < len(several):
            return read_type(self.code, place, several[index])
        if not written and source.dialect.read_returned is not None:
            return self._infer_result(place, symbol, deep)
        return UNKNOWN

    def _infer_result(self, place: NamePlace, symbol: Symbol, deep: int) -> Meaning:
        """What a function returns that does not say so: what all its `return` give."""
        read = self.code.sources[symbol.file].dialect.read_returned
        if read is None:
            return UNKNOWN
        key = ("returned", symbol.id)
        kept = self.code.derived.get(key)
        if isinstance(kept, Meaning):
            return kept
        self.code.derived[key] = UNKNOWN  # for functions that call themselves
        lines = self.code.lines(symbol.file)
        found: list[Meaning] = []
        for number, text in read(lines[symbol.start - 1 : symbol.end]):
            at = NamePlace(place.file, place.scope, symbol.start + number, 0)
            found.append(self._follow_given(at, DeclaredValue("value", text), deep + 1))
        result = self.code.derived[key] = _agree(found)
        return result

    def _follow_given(self, place: NamePlace, given: DeclaredValue, deep: int) -> Meaning:
        meant = UNKNOWN
        if given.kind == "type" and given.text:
            meant = read_type(self.code, place, given.text)
        elif given.kind == "parameter":
            meant = self._read_callback(place, given, deep + 1)
        elif given.kind == "typed":
            meant = read_called(self.code, place, given.text, given.part, deep + 1)
        elif given.kind in {"value", "each"}:
            meant = self._evaluate(place, given.text.strip(), deep, given.part)
        if given.kind == "each":
            meant = self._read_element(meant, deep)
        if given.member and meant.kind in {"instance", "symbol", "module"}:
            meant = self.member(meant, given.member, deep + 1)
        return meant

    def _read_callback(self, place: NamePlace, given: DeclaredValue, deep: int) -> Meaning:
        """What a function that is passed to another gets: an element of a list, or what the other says."""
        parts = steps(chain(given.text)) or ()
        if not parts or not parts[-1].is_name or deep > _DEEP:
            return UNKNOWN
        name = parts[-1].text
        if len(parts) == 1:
            found = names.lookup(self.code, place, name)
        else:
            whole = self.follow(place, parts[:-1], deep + 1)
            if whole.kind == "container":
                return element(whole) if given.part == 0 else UNKNOWN
            found = self.members(whole, name)
            if whole.kind == "instance" and found.kind == "unknown" and self._wraps(place):
                return whole  # an optional value: `found.map(|it| it.name)`
        if not self.code.sources[place.file].dialect.callbacks:
            return UNKNOWN
        for symbol in list_symbols(self.code, found):
            for signature in list_signatures_of(self.code, symbol, deep):
                for written in list_arguments(read_parameters(signature.text), given.argument):
                    if meant := read_called(self.code, signature.place, written, given.part, deep + 1):
                        return meant
        return UNKNOWN

    def _call_held(self, place: NamePlace, whole: Meaning, name: str, deep: int) -> Meaning:
        """What a function gives that a field of a stated type holds."""
        if not self.code.sources[place.file].dialect.callbacks or whole.kind not in {"instance", "module"}:
            return UNKNOWN
        for symbol in list_symbols(self.code, self.members(whole, name)):
            given = (
                read_declared(self.code, symbol)
                if symbol.kind in HOLDERS or symbol.kind == "method"
                else DeclaredValue("opaque")
            )
            if given.kind != "type":
                continue
            at = NamePlace(symbol.file, find_inner_scope(self.code, symbol), symbol.line, 0)
            for signature in list_signatures(self.code, at, given.text, deep + 1):
                if meant := read_type(self.code, signature.place, read_called_result(signature.text)):
                    return meant
        return UNKNOWN

    def _wraps(self, place: NamePlace) -> bool:
        """Whether values of a type are also known by the type of what wraps them."""
        return self.code.sources[place.file].dialect.open_types

    def _evaluate(self, place: NamePlace, text: str, deep: int, index: int = 0) -> Meaning:
        """An expression as written."""
        if stated := self._read_stated(place, text, deep):
            return stated
        dialect = self.code.sources[place.file].dialect
        if text.startswith(_LITERALS) or text[:1].isdigit():
            plain = chain(text) == "" and not text.startswith(("[", "{", "("))
            if plain:
                return ALIEN
            return UNKNOWN
        written = chain(text)
        parts = steps(written) if written else None
        if not parts:
            return UNKNOWN
        if index and parts[-1].text == "()":
            called = self.follow(place, parts[:-1], deep + 1)
            if called.kind in {"foreign", "alien"} and dialect.foreign_stays and parts[0].text not in _GENERIC:
                return ALIEN
            return self.call(called, deep + 1, index)
        if index:
            return UNKNOWN
        return self.follow(place, parts, deep + 1)

    def _read_stated(self, place: NamePlace, text: str, deep: int) -> Meaning:
        """What an expression itself says that it is: a cast, something new, a list."""
        if asserted := _ASSERTED.search(text):
            return read_type(self.code, place, asserted[1] or asserted[2])
        if cast := _CAST.match(text):
            return read_type(self.code, place, cast[1])
        dialect = self.code.sources[place.file].dialect
        if dialect.read_builtin is not None:
            made = dialect.read_builtin(text)
            if made.kind != "opaque":
                return self._follow_given(place, made, deep + 1)
        if dialect.typed_lists is not None and (typed := dialect.typed_lists.match(text)):
            return read_type(self.code, place, typed[1])
        if dialect.lists is not None and dialect.lists.match(text):
            if "struct" in text[:40]:
                return ALIENS
            return CONTAINER
        return UNKNOWN

    def _local(self, place: NamePlace, name: str, deep: int) -> Meaning | None:
        """What a local name is at a place; nothing if the functions around do not have one."""
        local = read_local_names(self.code, place)
        if local is None or name not in local.by_name:
            return None
        found = local.find(name, local.offset(place.line, place.column))
        if not found:
            return None
        meanings: list[Meaning] = []
        for binding in found:
            line, column = local.place(binding.at)
            at = NamePlace(place.file, place.scope, line, column)
            meant = self._find_local_function(at, name) or self._follow_given(at, binding.given, deep + 1)
            if binding.given.kind == "opaque":
                meant = self._read_fixture(place, name, deep)
            meanings.append(meant)
        return _agree(meanings)

    def _find_local_function(self, place: NamePlace, name: str) -> Meaning:
        """The function that a local name is for, where it is defined at a place: `const run = () => ...`."""
        found = []
        for each in self.code.find_named(name):
            if each.file == place.file and each.line == place.line and each.kind in CALLABLES:
                found.append(each.id)
        return of(found)

    def _read_fixture(self, place: NamePlace, name: str, deep: int) -> Meaning:
        """What a test gets under the name of a parameter: the result of the function of that name beside it."""
        source = self.code.sources[place.file]
        if not source.dialect.fixtures or source.file_class != "test":
            return UNKNOWN
        found: list[Meaning] = []
        for each in self.code.find_named(name):
            home = self.code.sources.get(each.file)
            near = home is not None and (home.id == source.id or home.path.endswith(source.dialect.fixtures))
            if near and each.kind == "function" and each.parent is None:
                found.append(self.read_result(each, deep + 1))
        return _agree(found)

    def _has_members(self, number: int) -> bool:
        symbol = self.code.symbol(number)
        return symbol is not None and (symbol.kind in TYPES or is_variant(self.code, symbol))


def is_variant(code: Code, symbol: Symbol) -> bool:
    """Whether it is one of the forms that a value of an enumeration has."""
    if symbol.kind != "constant" or symbol.parent is None:
        return False
    above = code.symbol(symbol.parent)
    return above is not None and above.kind == "enum"


def _agree(meanings: Iterable[Meaning]) -> Meaning:
    """The one meaning that all have, else nothing."""
    found = set(meanings)
    if len(found) == 1:
        return found.pop()
    return UNKNOWN
