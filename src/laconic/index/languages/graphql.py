"""GraphQL schemas and operations, read token by token without a grammar: no wheel of it runs everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source, paragraph
from laconic.records import Definition, ParsedFile, Reference, Span

_TOKEN: Final = re.compile(
    rb'#[^\n]*+|"""(?:[^"\\]++|\\"""|\\|"(?!""))*+(?:""")?|"(?:[^"\\\n]++|\\.)*+"?'
    rb"|\.\.\.|[A-Za-z_]\w*+|-?\d[\w.+-]*+|[{}()\[\]:=@|&!$,]"
)
_KINDS: Final = {
    b"type": "class",
    b"interface": "interface",
    b"input": "struct",
    b"enum": "enum",
    b"union": "union",
    b"scalar": "type",
    b"directive": "macro",
    b"query": "function",
    b"mutation": "function",
    b"subscription": "function",
    b"fragment": "function",
}
_STARTS: Final = frozenset({*_KINDS, b"schema", b"extend"})
_JOINTS: Final = frozenset({b"=", b"|", b"&", b"on", b"implements"})  # a name after one starts nothing
_OPEN: Final = frozenset({b"(", b"[", b"{"})
_CLOSED: Final = frozenset({b")", b"]", b"}"})
_BUILT_IN: Final = frozenset({b"Int", b"String", b"Boolean", b"Float", b"ID"})
_VALUED: Final = frozenset({b":", b"=", b"["})  # a string after one is a value
_LEAVES: Final = frozenset({"field", "constant"})
_LONGEST: Final = 200  # characters of a name, and tokens of a signature


@dataclass(slots=True)
class _DefinitionTokens:
    """A definition while it is read; places are numbers of tokens."""

    kind: str
    first: int  # its keyword
    name: int
    parent: int = -1
    body: int = 0  # its opening brace
    last: int = 0
    bases: list[str] = field(default_factory=list)


class _Reader:
    """One walk over the tokens of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = [(match[0], match.start()) for match in _TOKEN.finditer(source.data) if match[0][:1] != b"#"]
        self.at = 0
        self.found: list[_DefinitionTokens] = []
        self.references: list[Reference] = []
        self.faults = 0

    def read(self) -> ParsedFile:
        while word := self._peek():
            self._statement(word)
        definitions = tuple(self._record(each) for each in self.found)
        return ParsedFile(
            language="graphql",
            lines=self.source.count,
            definitions=definitions,
            references=tuple(self.references),
            faults=min(1, self.faults),
        )

    def _peek(self, ahead: int = 0) -> bytes:
        at = self.at + ahead
        if at < len(self.tokens):
            return self.tokens[at][0]
        return b""

    def _statement(self, word: bytes) -> None:
        first = self.at
        if extends := word == b"extend":
            self.at += 1
            word = self._peek()
        kind = _KINDS.get(word, "")
        if word == b"{":
            self._selection(-1)
        elif kind or word == b"schema":
            self.at += 2 if word == b"directive" and self._peek(1) == b"@" else 1
            scope = -1
            if kind and _is_name(self._peek()):
                scope = self._define("impl" if extends else kind, first)
            self._header(word, scope)
            if self._peek() == b"{":
                self._body(word, kind, scope)
            self._end(scope)
        elif not extends:
            self.faults += word[:1] not in (b'"', b",")
            self.at += 1

    def _define(self, kind: str, first: int, parent: int = -1) -> int:
        self.found.append(_DefinitionTokens(kind, first, self.at, parent))
        self.at += 1
        return len(self.found) - 1

    def _end(self, number: int) -> None:
        if number >= 0:
            self.found[number].last = self.at - 1

    def _header(self, word: bytes, scope: int) -> None:
        """What stands between the name and the braces, or the next statement."""
        use = "type" if word in (b"union", b"fragment") else ""
        before = b""
        while (text := self._peek()) and text[:1] not in (b"{", b'"'):
            if text in _STARTS and before not in _JOINTS:
                return
            if text == b"implements" and before not in _JOINTS:
                use = "inherit"
            elif use and text != b"on" and _is_name(text):
                self._refer(use, scope)
                if use == "inherit" and scope >= 0:
                    self.found[scope].bases.append(text.decode())
            if not self._skip_typed(scope, b"(:@"):
                self.at += 1
            before = text

    def _body(self, word: bytes, kind: str, scope: int) -> None:
        if scope >= 0:
            self.found[scope].body = self.at
        if kind == "function":
            self._selection(scope)
        else:
            inner = "field" if kind else ""
            if word == b"enum":
                inner = "constant"
            self._members(inner, scope)

    def _members(self, kind: str, parent: int) -> None:
        """Fields or values in braces; a schema binds names that are none of its own."""
        self.at += 1
        while (text := self._peek()) and text != b"}":
            if self._fresh(text):
                break
            if not _is_name(text):
                if not self._skip_typed(parent, b"(:@="):
                    self.at += 1
                continue
            if kind and parent >= 0:
                member = self._define(kind, self.at, parent)
            else:
                member = -1
            self.at += member < 0
            while self._skip_typed(member if member >= 0 else parent, b"(:@="):
                pass
            self._end(member)
        self.faults += text != b"}"
        self.at += text == b"}"

    def _fresh(self, text: bytes) -> bool:
        """Whether a statement begins here, at the start of a line, because a brace is missing before it."""
        if text not in _STARTS or not _is_name(self._peek(1)) or self._peek(2) in (b":", b"("):
            return False
        return self.source.place(self.tokens[self.at][1])[1] == 0

    def _skip_typed(self, scope: int, marks: bytes) -> bool:
        """Step over arguments, a type, a directive or a default value, if one of them begins here."""
        text = self._peek()
        if len(text) != 1 or text not in marks:
            return False
        self.at += 1
        if text == b"(":
            while (inner := self._peek()) and inner not in (b")", b"{", b"}"):
                if not self._skip_typed(scope, b":@="):
                    self.at += 1
            self.at += inner == b")"
        elif text == b":":
            while self._peek() == b"[":
                self.at += 1
            if _is_name(self._peek()):
                self._refer("type", scope)
                self.at += 1
            while self._peek() in (b"]", b"!"):
                self.at += 1
        elif text == b"@":
            self._directive(scope)
        else:
            self._skip()
        return True

    def _directive(self, scope: int) -> None:
        if _is_name(self._peek()):
            self._refer("decorator", scope)
            self.at += 1
            if self._peek() == b"(":
                self._skip()

    def _selection(self, scope: int) -> None:
        """The fields and fragments that an operation asks for, at any depth."""
        depth = 0
        while text := self._peek():
            depth += (text == b"{") - (text == b"}")
            if not depth:
                self.at += 1
                return
            if self._fresh(text):
                break
            if text == b"(":
                self._skip()
                continue
            self.at += 1
            after = self._peek()
            if text == b"@":
                self._directive(scope)
            elif text == b"..." and _is_name(after):
                self.at += after == b"on"
                self._refer("type" if after == b"on" else "call", scope)
                self.at += 1
            elif _is_name(text) and after != b":":  # else it renames the field that follows
                self._refer("read", scope, -1)
        self.faults += 1

    def _skip(self) -> None:
        """Step over one value, with all that its brackets hold."""
        depth = 0
        while text := self._peek():
            if text in _CLOSED:
                if not depth:
                    return
                depth -= 1
            depth += text in _OPEN
            self.at += 1
            if not depth and text != b"$":
                return

    def _refer(self, use: str, scope: int, ahead: int = 0) -> None:
        name, start = self.tokens[self.at + ahead]
        if name not in _BUILT_IN:
            row, column = self.source.place(start)
            self.references.append(Reference(name=name.decode(), line=row + 1, column=column, kind=use, scope=scope))

    def _record(self, each: _DefinitionTokens) -> Definition:
        row, column = self.source.place(self.tokens[each.first][1])
        if each.first:
            described = self.tokens[each.first - 1]
        else:
            described = (b"", 0)
        doc = ""
        if described[0][:1] == b'"':
            doc = paragraph(described[0].strip(b'"').decode("utf-8", "replace"))
            row, column = self.source.place(described[1])
        if self.source.lines[row][:column].strip():
            top = row
        else:
            top = self.source.comment_above(row, ("#",))
        text, start = self.tokens[each.last]
        return Definition(
            name=self.tokens[each.name][0][:_LONGEST].decode(),
            kind=each.kind,
            span=Span(top + 1, self.source.place(start + len(text) - 1)[0] + 1),
            line=self.source.place(self.tokens[each.name][1])[0] + 1,
            signature=self._signature(each),
            doc=doc or paragraph(b"\n".join(self.source.lines[top:row]).decode("utf-8", "replace")),
            parent=each.parent,
            bases=tuple(each.bases),
        )

    def _signature(self, each: _DefinitionTokens) -> str:
        """The tokens of a definition before its braces, without what describes its arguments."""
        parts: list[bytes] = []
        done = 0
        end = min(each.body or each.last + 1, each.first + _LONGEST)
        for at in range(each.first, end):
            text, start = self.tokens[at]
            if text[:1] == b'"' and parts[-1] not in _VALUED and _is_name(self.tokens[min(at + 1, end - 1)][0]):
                continue
            parts += [b" ", text] if parts and start > done and parts[-1] != b"(" and text != b")" else [text]
            done = start + len(text)
        bare = b"".join(parts)
        return Source("", bare).fold_lines(0, len(bare), 160 if each.kind in _LEAVES else 300)


def _is_name(text: bytes) -> bool:
    return text[:1].isalpha() or text[:1] == b"_"


def _parse(source: Source) -> ParsedFile:
    return _Reader(source).read()


LANGUAGE: Final = Language(name="graphql", extensions=(".graphql", ".gql", ".graphqls"), by_lines=_parse)
