"""Turn the matches of a definitions query into definitions, imports, exports and the package of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from laconic.index.language import Language
from laconic.index.parse.compiled import CompiledLanguage
from laconic.index.parse.definition_draft import DefinitionDraft
from laconic.index.parse.source import Source, paragraph
from laconic.index.symbol_kinds import CALLABLES, LEAVES, OWNERS
from laconic.records import Definition, Import, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_PARTS: Final = frozenset({"name", "declarator", "body", "base", "owner", "import", "exports", "package"})
_MEMBERS: Final = {"function": "method", "variable": "field"}  # what becomes of it inside a type
_WEAK: Final = LEAVES | {"type"}  # gives way when another pattern knows better
_LISTS: Final = frozenset(
    {"lexical_declaration", "variable_declaration", "type_declaration", "const_declaration", "var_declaration"}
)
_OPENERS: Final = frozenset({":", "{", "=", "=>"})
_WORD: Final = re.compile(r"[A-Za-z_#][\w#]*")
_DECORATOR: Final = re.compile(r"@([\w.:$]+)|#\[\s*([\w:]+)")
_DECORATION: Final = re.compile(r"[@#]\[?[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\]?")
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUOTED: Final = re.compile(r"""["']([^"'\n]+)["']""")


class Outline:
    """The definitions of one file, still as found, with what else the same matches told."""

    def __init__(self) -> None:
        self.found: list[DefinitionDraft] = []
        self.imports: list[Import] = []
        self.exports: list[str] = []
        self.package = ""

    def names(self) -> set[int]:
        """Where the names of definitions stand."""
        found: set[int] = set()
        for each in self.found:
            found.add(each.name_start)
        return found


def outline(ready: CompiledLanguage, source: Source, root: Node) -> Outline:
    """All definitions in the order of the file, each with its parent."""
    from tree_sitter import QueryCursor  # loaded with the first grammar

    made = Outline()
    if ready.definitions is None:
        return made
    by_node: dict[tuple[int, int], DefinitionDraft] = {}
    for _, parts in QueryCursor(ready.definitions).matches(root):
        kind = next((part for part in parts if part not in _PARTS and part[0] != "_"), "")
        if kind:
            _collect(kind, parts, by_node, source, ready.language)
        elif "import" in parts and ready.language.imports:
            for told in ready.language.imports(parts["import"][0], source):
                if isinstance(told, str):
                    made.exports.append(told)
                else:
                    made.imports.append(told)
        elif "exports" in parts:
            made.exports += _QUOTED.findall(_text(parts["exports"][0]))
        elif "package" in parts:
            made.package = made.package or " ".join(_text(parts["package"][0]).split())
    made.found = sorted(by_node.values(), key=lambda each: (each.start, -each.end))
    if ready.language.most:
        del made.found[ready.language.most :]
    _complete(made, ready.language, source)
    return made


def records(made: Outline, language: Language, source: Source) -> tuple[Definition, ...]:
    """The definitions as records."""
    index = {}
    for number, each in enumerate(made.found):
        index[id(each)] = number
    return tuple(_record(each, index, language, source) for each in made.found)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _collect(
    kind: str,
    parts: dict[str, list[Node]],
    by_node: dict[tuple[int, int], DefinitionDraft],
    source: Source,
    language: Language,
) -> None:
    node = parts[kind][0]
    name_node = node.child_by_field_name("name")
    if "name" in parts:
        name_node = parts["name"][0]
    if "declarator" in parts and language.find_name is not None:
        named = language.find_name(kind, parts["declarator"][0])
        if named is None:
            return
        kind, name_node = named
    if name_node is None:
        return
    name = source.text(name_node.start_byte, min(name_node.end_byte, name_node.start_byte + 200)).strip()
    if not name:
        return
    key = (node.start_byte, name_node.start_byte)
    each = by_node.get(key)
    if each is None or (each.kind in _WEAK and kind not in _WEAK):  # `x = () => ...` is a function
        each = by_node[key] = DefinitionDraft(kind, node, name, name_node)
        each.body = node.child_by_field_name("body")
    if "body" in parts:
        each.body = parts["body"][0]
    if "owner" in parts:
        each.owner = _text(parts["owner"][0])
    each.base_nodes += parts.get("base", ())


def _complete(made: Outline, language: Language, source: Source) -> None:
    """Give each definition its parent, its outer span and its modifiers; then the language has the last word."""
    stack: list[DefinitionDraft] = []
    members: dict[tuple[int, str], DefinitionDraft] = {}
    kept: list[DefinitionDraft] = []
    for each in made.found:
        while stack and (stack[-1].end <= each.start or stack[-1].node == each.node):
            stack.pop()
        each.parent = stack[-1] if stack else None
        if each.parent is not None and each.parent.kind in OWNERS:
            each.kind = _MEMBERS.get(each.kind, each.kind)
            if each.kind == "field":  # what a method gives it later is a use
                members.setdefault((id(each.parent), each.name), each)
        elif each.kind in {"field", "variable"} and not _place(each, members):
            continue
        if each.base_nodes:
            ordered = sorted(each.base_nodes, key=lambda node: node.start_byte)
            each.bases = list(dict.fromkeys(" ".join(_text(node).split()) for node in ordered))
        _decorate(each, language, source)
        if language.refine:
            language.refine(each, source)
        if not each.kind:
            continue
        kept.append(each)
        if not each.fixed_parent:
            stack.append(each)
    made.found = kept


def _place(each: DefinitionDraft, members: dict[tuple[int, str], DefinitionDraft]) -> bool:
    """Whether a variable inside a function is worth a record: only a member set through `self`, and only once."""
    around = each.parent
    if around is None:
        return True
    if each.kind == "variable" or around.kind not in CALLABLES:
        return around.kind not in CALLABLES
    while around is not None and around.kind not in OWNERS:
        around = around.parent
    if around is None or (id(around), each.name) in members:
        return False
    members[id(around), each.name] = each
    each.parent, each.fixed_parent = around, True
    return True


def _decorate(each: DefinitionDraft, language: Language, source: Source) -> None:
    outer = each.node
    while language.wrappers and (above := outer.parent) is not None and above.type in language.wrappers:
        if above.named_child_count > 1 and above.type in _LISTS:
            break  # several variables in one declaration
        outer = above
    each.outer = outer
    prefix = source.text(outer.start_byte, each.name_start)
    if "/" in prefix:
        prefix = _COMMENT.sub(" ", prefix)
    if "@" in prefix or "#[" in prefix:
        each.decorators = [one or other for one, other in _DECORATOR.findall(prefix)]
        prefix = _DECORATION.sub(" ", prefix)
    if language.modifiers:
        each.modifiers = [word for word in _WORD.findall(prefix) if word in language.modifiers]


def _record(each: DefinitionDraft, index: dict[int, int], language: Language, source: Source) -> Definition:
    row, indent = each.outer.start_point
    alone = not source.lines[row][:indent].strip()
    if language.comments and alone:
        top = source.comment_above(row, language.comments)
    else:
        top = row
    bottom, column = each.outer.end_point
    if column == 0 and bottom > row:  # the node ends with the line break
        bottom -= 1
    return Definition(
        name=each.name,
        kind=each.kind,
        span=Span(top + 1, bottom + 1),
        line=each.name_row + 1,
        signature=each.signature or _signature(each, source),
        doc=_documentation(each, top, row, language, source),
        parent=index.get(id(each.parent), -1) if each.parent is not None else -1,
        visibility=each.visibility,
        modifiers=tuple(dict.fromkeys(each.modifiers)),
        bases=tuple(each.bases),
        test=each.test or (each.parent is not None and each.parent.test),
        owner=each.owner,
    )


def _signature(each: DefinitionDraft, source: Source) -> str:
    start = _after_attributes(each)
    if each.kind in LEAVES:
        return source.first_line(start, each.end)
    if each.body is None:
        return source.first_line(start, each.end, 300)
    last = each.body.prev_sibling
    while last is not None and (last.type in _OPENERS or "comment" in last.type):
        last = last.prev_sibling
    if last is not None and last.start_byte > start:
        end = last.end_byte
    else:
        end = each.body.start_byte
    comments = []
    for node in _find_comments(each.node):
        if start <= node.start_byte < end:
            comments.append(node)
    if not comments:
        return source.fold_lines(start, end).rstrip(" {:=")
    parts: list[str] = []
    for comment in comments:
        parts.append(source.fold_lines(start, comment.start_byte))
        start = comment.end_byte
    return " ".join([*parts, source.fold_lines(start, end)]).strip().rstrip(" {:=")


def _find_comments(node: Node) -> Iterator[Node]:
    """Comments among the words before a body: one that ends with its line would hide the rest."""
    for child in node.children:
        if "comment" in child.type:
            yield child
        elif child.type == "modifiers":
            for word in child.children:
                if "comment" in word.type:
                    yield word


def _after_attributes(each: DefinitionDraft) -> int:
    """Where the declaration itself begins when annotations stand inside its node."""
    start = each.start
    for child in each.node.children[:3]:
        if child.type in {"attribute_list", "annotation", "marker_annotation", "decorator"}:
            if child.next_sibling:
                start = child.next_sibling.start_byte
        elif child.type == "modifiers" and child.named_child_count:
            plain = []
            for word in child.children:
                if "annotation" not in word.type and "comment" not in word.type:
                    plain.append(word)
            if child.next_sibling:
                after = child.next_sibling.start_byte
            else:
                after = start
            if plain:
                return plain[0].start_byte
            return after
        else:
            break
    return start


def _documentation(each: DefinitionDraft, top: int, row: int, language: Language, source: Source) -> str:
    if language.documentation and (node := language.documentation(each.node)) is not None:
        return paragraph(_text(node))
    if top == row:
        return ""
    attributes = source.attributes(top, row)
    above = []
    for at in range(top, row):
        if at not in attributes:
            above.append(source.lines[at].decode("utf-8", "replace"))
    return paragraph("\n".join(above))


def scopes(made: Outline) -> Iterator[tuple[int, int, int]]:
    """The byte ranges in which a name belongs to a definition, outer ones first."""
    for number, each in enumerate(made.found):
        if not each.fixed_parent:
            yield each.outer.start_byte, each.outer.end_byte, number
