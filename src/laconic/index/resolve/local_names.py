"""What the local names of a function are given, and from where to where: read from its syntax tree when it is asked for.

Queries of a language (`Language.locals`) capture `name` with one of `type`, `value`, `each` (it is an element of that
value), `each_type` (it is a list of that type), `values` (it is in a list on the left of a list), `callee` (it is a
parameter of a function that is passed to that one) or `callable` (of a function of that type); `key` is the member
that it is taken from, and `scope` the node that it is known in where that is not the nearest of `Language.scopes`.
A name with nothing else tells nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from laconic.index.declared_types import DeclaredValue
from laconic.index.language import Language
from laconic.index.languages import all_languages
from laconic.index.name_meaning import NamePlace
from laconic.index.parse.compiled import compile_language
from laconic.index.parse.tree import parse_tree
from laconic.index.resolve.code import Code
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import CALLABLES

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_LARGEST: Final = 400_000  # bytes of a function
_LISTS: Final = frozenset({"expression_list", "pattern_list", "tuple_pattern"})
_METHODS: Final = frozenset({"method", "constructor"})
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "closure_expression"})
_PARAMETERS: Final = frozenset({"formal_parameters", "closure_parameters"})
_PLAIN: Final = ("type", "value", "each")


class Binding(NamedTuple):
    """One place where a name is given something."""

    at: int  # where it begins to hold
    start: int  # the scope in which the name is known
    end: int
    block: tuple[int, int]  # the statements among which it is: run before all that follows in there
    given: DeclaredValue
    is_inner: bool = True  # the scope is not the whole text


class LocalNames:
    """The local names of one function and of the functions inside it."""

    def __init__(self, first: int, lines: Sequence[str], shift: int) -> None:
        self.first = first
        self.last = first + len(lines) - 1
        self._starts = [shift]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line.encode()) + 1)
        self.by_name: dict[str, list[Binding]] = {}

    def offset(self, line: int, column: int) -> int:
        """The byte of a place in the text that was parsed."""
        row = line - self.first
        if row < 0 or row + 1 >= len(self._starts):
            if row < 0:
                return 0
            return self._starts[-1]
        return min(self._starts[row] + column, self._starts[row + 1] - 1)

    def place(self, at: int) -> tuple[int, int]:
        """The line and column of a byte."""
        row = max(bisect_right(self._starts, at) - 1, 0)
        return row + self.first, at - self._starts[row]

    def find(self, name: str, at: int) -> list[Binding]:
        """What a name may hold at a byte; nothing when it is no local name there."""
        around = []
        for each in self.by_name.get(name, ()):
            if each.start <= at < each.end:
                around.append(each)
        if not around:
            return []
        smallest = min(each.end - each.start for each in around)
        inner = []
        for each in around:
            if each.end - each.start == smallest:
                inner.append(each)
        before = []
        for each in inner:
            if each.at < at:
                before.append(each)
        return _find_reaching(before, at) or inner[:1]


def _find_reaching(before: list[Binding], at: int) -> list[Binding]:
    """Those that may still hold: back to the last that was surely run."""
    reaching: list[Binding] = []
    for each in sorted(before, key=lambda binding: -binding.at):
        reaching.append(each)
        if each.block[0] <= at < each.block[1]:
            break
    return reaching


def read_local_names(code: Code, place: NamePlace) -> LocalNames | None:
    """The local names around a place; nothing outside of functions."""
    function: Symbol | None = None
    for around in code.outline(place.file).around(place.scope):
        if around.kind in CALLABLES:
            function = around
    if function is None:
        return _read_outside(code, place.file)
    key = ("locals", function.id)
    kept = code.derived.get(key)
    if not isinstance(kept, LocalNames):
        kept = code.derived[key] = _read(code, function)
    return kept


def _read_outside(code: Code, file: int) -> LocalNames | None:
    """The local names of functions without a name that are in no other function."""
    language = all_languages().get(code.sources[file].language)
    if language is None or not code.sources[file].dialect.callbacks:
        return None
    key = ("locals outside", file)
    kept = code.derived.get(key)
    if not isinstance(kept, LocalNames):
        lines = code.lines(file)
        kept = code.derived[key] = LocalNames(1, lines, 0)
        _collect(kept, language, "\n".join(lines).encode())
        for name, bindings in kept.by_name.items():
            kept.by_name[name] = [each for each in bindings if each.is_inner]
    return kept


def _read(code: Code, function: Symbol) -> LocalNames:
    language = all_languages().get(code.sources[function.file].language)
    lines = code.lines(function.file)[function.start - 1 : function.end]
    before, after = "", ""
    if language is not None and function.kind in _METHODS:
        before, after = language.method_wrapper
    found = LocalNames(function.start, lines, len(before.encode()))
    if language is not None:
        _collect(found, language, f"{before}{chr(10).join(lines)}{after}".encode())
    return found


def _collect(found: LocalNames, language: Language, text: bytes) -> None:
    """All bindings in a text."""
    query = _compile(language.name)
    if query is None or len(text) > _LARGEST or not language.safe:
        return
    from tree_sitter import QueryCursor  # loaded with the first grammar

    ready = compile_language(language.name)
    assert ready is not None
    root = parse_tree(ready, text)
    if root is None:
        return
    for _, parts in QueryCursor(query).matches(root):
        names = parts.get("name", [])
        if "declarator" in parts and language.find_name is not None:
            named = language.find_name("variable", parts["declarator"][0])
            names = [named[1]] if named is not None else []
        for name in names:
            _add(found.by_name.setdefault(_text(name), []), _bind(name, parts, language))


def _add(found: list[Binding], binding: Binding) -> None:
    """Of two patterns that see one name, the one that tells more is kept."""
    for position, each in enumerate(found):
        if (each.at, each.start, each.end) == (binding.at, binding.start, binding.end):
            if each.given.kind == "opaque":
                found[position] = binding
            return
    found.append(binding)


@cache
def _compile(name: str) -> Query | None:
    import tree_sitter

    ready = compile_language(name)
    if ready is None or not ready.language.locals:
        return None
    return tree_sitter.Query(ready.grammar, ready.language.locals)


def _bind(name: Node, parts: dict[str, list[Node]], language: Language) -> Binding:
    if "scope" in parts:
        scope = parts["scope"][0]
    else:
        scope = _climb(name, language.scopes)
    block = _climb(name, language.blocks)
    return Binding(
        at=parts["scope"][0].start_byte if "scope" in parts else name.start_byte,
        start=scope.start_byte,
        end=scope.end_byte,
        block=(block.start_byte, block.end_byte) if "scope" not in parts else (scope.start_byte, scope.end_byte),
        given=_read_given(name, parts),
        is_inner=scope.parent is not None,
    )


def _read_given(name: Node, parts: dict[str, list[Node]]) -> DeclaredValue:
    key = _text(parts["key"][0]) if "key" in parts else ""
    for kind in _PLAIN:
        if kind in parts:
            return DeclaredValue(kind, _text(parts[kind][0]), member=key)
    if "each_type" in parts:
        return DeclaredValue("type", f"[]{_text(parts['each_type'][0])}")
    if "values" in parts:
        return _pick(name, parts["values"][0])
    if "callee" in parts:
        part, argument = _find_positions(name)
        return DeclaredValue("parameter", _text(parts["callee"][0]), part=part, argument=argument)
    if "callable" in parts:
        return DeclaredValue("typed", _text(parts["callable"][0]), part=_find_positions(name)[0])
    return DeclaredValue("opaque")


def _find_positions(name: Node) -> tuple[int, int]:
    """The position of a parameter in its function, and that of the function among the arguments of a call."""
    node, part = name, 0
    while node.parent is not None and node.type not in _FUNCTIONS:
        if node.parent.type in _PARAMETERS:
            part = _find_position(node, node.parent)
        node = node.parent
    if node.parent is None:
        return part, 0
    return part, _find_position(node, node.parent)


def _find_position(node: Node, above: Node) -> int:
    return next((at for at, each in enumerate(above.named_children) if each.start_byte == node.start_byte), 0)


def _pick(name: Node, values: Node) -> DeclaredValue:
    """The value of a name in a list: the one at its position, or that part of the only one."""
    left = name.parent
    if left is None or left.type not in _LISTS:
        return DeclaredValue("value", _text(values))
    names = left.named_children
    position = next((at for at, each in enumerate(names) if each.start_byte == name.start_byte), 0)
    if values.type in _LISTS and values.named_child_count == len(names):
        return DeclaredValue("value", _text(values.named_children[position]))
    return DeclaredValue("value", _text(values), part=position)


def _climb(node: Node, types: frozenset[str]) -> Node:
    """The nearest node around of one of these types, or the root."""
    above = node.parent
    while above is not None:
        node = above
        if node.type in types:
            break
        above = node.parent
    return node


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
