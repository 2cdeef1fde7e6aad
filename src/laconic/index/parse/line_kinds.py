"""Say of every line of a stretch of code what it is, from the syntax tree, for `reduce.code` to fold by.

Keywords are the same in the trees of all languages, so no language needs a table of its own.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.compiled import CompiledLanguage, compile_language
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.definitions import outline
from laconic.index.parse.detect import HEAD, language_of
from laconic.index.parse.source import Source, paragraph
from laconic.index.parse.tree import parse_tree
from laconic.index.symbol_kinds import LEAVES
from laconic.records import Span
from laconic.reduce.code import LineKind, guess

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_RETURNS: Final = ("return", "return@", "raise", "throw", "yield", "co_return", "co_yield")
_FLOW: Final = (
    *(
        "if",
        "else",
        "elif",
        "elsif",
        "elseif",
        "unless",
        "for",
        "foreach",
        "while",
        "until",
        "do",
        "loop",
        "switch",
        "case",
    ),
    *("match", "when", "select", "default", "try", "except", "catch", "finally", "with", "begin", "rescue", "ensure"),
    *("using", "lock", "synchronized", "guard", "repeat"),
)
_CLOSURES: Final = (
    *("arrow_function", "function_expression", "lambda_expression", "closure_expression", "func_literal", "do_block"),
    *("anonymous_function", "lambda_literal", "anonymous_function_creation_expression"),
)
_ARMS: Final = (
    "match_arm",
    "when_entry",
    "switch_expression_arm",
    "match_conditional_expression",
)  # without a keyword
_LABELS: Final = frozenset({"case", "default"})
_INNER: Final = LEAVES | {"heading"}
_LARGEST: Final = 1_000_000  # bytes of a file that is parsed for its marks


def read_line_kinds(path: str, data: bytes, span: Span | None = None) -> str:
    """One mark for each line of the span (or of the file); by guessing where there is no good grammar."""
    source = Source(path, data)
    language = language_of(path, data[:HEAD])
    if language and language.safe and len(data) <= _LARGEST:
        ready = compile_language(language.name)
    else:
        ready = None
    first, last = (span.start - 1, min(span.end, len(source.lines))) if span else (0, len(source.lines))
    root = parse_tree(ready, data) if ready is not None else None
    if ready is None or root is None:
        return guess([line.decode("utf-8", "replace") for line in source.lines[first:last]])
    painted = _Lines(source, first, last)
    _flow(ready, root, painted)
    for each in outline(ready, source, root).found:
        if each.kind not in _INNER and each.outer.start_point[0] < last and each.outer.end_point[0] >= first:
            _definition(each, ready.language, source, painted)
    return painted.text()


class _Lines:
    """The marks of a range of rows while they are painted; stronger marks cover weaker ones."""

    def __init__(self, source: Source, first: int, last: int) -> None:
        self._source = source
        self.first, self.last = first, last
        self._marks = [LineKind.BODY if line.strip() else LineKind.BLANK for line in source.lines[first:last]]

    def paint(self, row: int, mark: str) -> None:
        if self.first <= row < self.last and LineKind.RANK[mark] > LineKind.RANK[self._marks[row - self.first]]:
            self._marks[row - self.first] = mark

    def close(self, node: Node) -> None:
        """Mark the last row of a construct of several lines when nothing else stands on it."""
        row = node.end_point[0]
        if row > node.start_point[0] and row < self.last:
            text = self._source.lines[row].strip()
            if text[:1] in (b"}", b")", b"]") or text.startswith((b"end", b"fi", b"done", b"esac")):
                self.paint(row, LineKind.CLOSER)

    def text(self) -> str:
        return "".join(self._marks)


def _flow(ready: CompiledLanguage, root: Node, painted: _Lines) -> None:
    from tree_sitter import QueryCursor

    query = _keywords(ready.language.name)
    if query is None:
        return
    cursor = QueryCursor(query)
    cursor.set_point_range((painted.first, 0), (painted.last, 0))
    found = cursor.captures(root)
    for node in found.get("return", []):
        painted.paint(node.start_point[0], LineKind.RETURN)
    for node in (*found.get("flow", []), *found.get("whole", [])):
        whole = node
        if not node.is_named and node.parent is not None:
            whole = node.parent
        if whole.end_point[0] > whole.start_point[0] or node.type in _LABELS:
            painted.paint(node.start_point[0], LineKind.FLOW)
            painted.close(whole)


@cache
def _keywords(name: str) -> Query | None:
    """The query for the keywords that a grammar has."""
    import tree_sitter

    ready = compile_language(name)
    if ready is None:
        return None
    parts = []
    kinds = (("return", _RETURNS, False), ("flow", _FLOW, False), ("whole", (*_CLOSURES, *_ARMS), True))
    for capture, words, named in kinds:
        have = []
        for word in words:
            if ready.grammar.id_for_node_kind(word, named):
                have.append(word)
        listed = " ".join(f"({word})" if named else f'"{word}"' for word in have)
        if have:
            parts.append(f"[{listed}] @{capture}")
    if ready.language.leaving:
        parts.append(ready.language.leaving)
    if parts:
        return tree_sitter.Query(ready.grammar, "\n".join(parts))
    return None


def _definition(each: DefinitionDraft, language: Language, source: Source, painted: _Lines) -> None:
    start = each.outer.start_point[0]
    for row in range(start, _header_end(each) + 1):
        painted.paint(row, LineKind.SIGNATURE)
    painted.close(each.outer)
    if language.documentation:
        inside = language.documentation(each.node)
    else:
        inside = None
    if inside is not None:
        _document(inside.start_point[0], inside.end_point[0] + 1, source, painted)
    above = source.comment_above(start, language.comments)
    attributes = source.attributes(above, start)
    for row in attributes:
        painted.paint(row, LineKind.SIGNATURE)
    _document(above, start, source, painted, attributes)
    if language.tail_returns and each.body is not None:
        if each.body.named_child_count:
            tail = each.body.named_child(each.body.named_child_count - 1)
        else:
            tail = None
        if tail is not None and not tail.type.endswith(("_statement", "_declaration", "_item", "comment")):
            painted.paint(tail.start_point[0], LineKind.RETURN)


def _header_end(each: DefinitionDraft) -> int:
    """The last row of a signature."""
    body = each.body
    if body is None or body.type.startswith(("declaration_list", "field_declaration_list")):
        if body is None:
            return each.name_row
        return body.start_point[0]
    before = body.prev_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_sibling
    braced = body.child_count and body.children[0].type == "{"
    if braced or before is None:
        return body.start_point[0]
    return max(each.name_row, before.end_point[0])


def _document(first: int, end: int, source: Source, painted: _Lines, other: Set[int] = frozenset()) -> None:
    """The first line of documentation that says something, with what opens it; the rest is less important."""
    told = False
    for row in range(first, min(end, len(source.lines))):
        if row in other:
            continue
        painted.paint(row, LineKind.MORE_DOC if told else LineKind.DOC)
        told = told or bool(paragraph(source.lines[row].decode("utf-8", "replace")))
