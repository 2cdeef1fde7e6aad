"""CMake: functions, targets, variables and calls of commands, read without a grammar: no wheel of it runs everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from laconic.index.language import Language
from laconic.index.parse.source import Source, paragraph
from laconic.records import Definition, Import, ParsedFile, Reference, Span

_KINDS: Final = {
    "function": "function",
    "macro": "macro",
    "set": "variable",
    "option": "variable",
    "project": "module",
    "add_library": "module",
    "add_executable": "module",
    "add_custom_target": "module",
}
_BLOCKS: Final = frozenset({"function", "macro"})
_ENDS: Final = frozenset({"endfunction", "endmacro"})
_IMPORTS: Final = frozenset({"include", "find_package", "add_subdirectory"})
_FLOW: Final = frozenset({"if", "elseif", "else", "foreach", "while", "function", "macro", "block"})
_KEYWORDS: Final = _FLOW | {f"end{word}" for word in _FLOW}

_QUIET: Final = re.compile(  # comments, strings, and what opens a comment or an argument in brackets
    rb'\\.|"(?:[^"\\]++|\\.)*+"?|#\[(?P<comment>=*+)\[|#[^\n]*+|(?<![^\s(])\[(?P<argument>=*+)\[', re.DOTALL
)
_OTHER: Final = re.compile(rb"[^\n]")
_PIECE: Final = re.compile(rb"(?:\b([A-Za-z_]\w*+)[ \t]*+)?+([()])")
_FIRST: Final = re.compile(rb'\s*+("[^"]*+"|[^\s()"]++)')  # an argument, in code that was blanked
_BACKSLASH, _HASH = rb"\#"
_LONGEST: Final = 200  # characters of a name
_BRACKETS: Final = re.compile(r"#\[=*\[(?:\.rst:)?|\]=*\]")


@dataclass(frozen=True, slots=True)
class _Command:
    """One call of a command; places in bytes."""

    word: str  # in small letters: case does not matter
    start: int
    end: int  # after its closing parenthesis
    name: str = ""  # its first argument
    named: int = 0  # where that stands


def _parse(source: Source) -> ParsedFile:
    code = _blank_comments(source.data)
    commands = list(_commands(code, source))
    ends = _ends(commands)
    definitions: list[Definition] = []
    references: list[Reference] = []
    imports: list[Import] = []
    around: list[tuple[int, int]] = []  # where open functions end, with their numbers
    for each in commands:
        while around and around[-1][0] <= each.start:
            around.pop()
        scope = around[-1][1] if around else -1
        row, column = source.place(each.start)
        if each.word in _IMPORTS and each.name:
            imports.append(Import(each.name, row + 1))
        kind = _KINDS.get(each.word, "") if each.name else ""
        if kind and not (kind == "variable" and around):  # a variable inside a function is its own affair
            end = ends.get(each.start, each.end)
            definitions.append(_definition(each, kind, end, scope, source))
            scope = len(definitions) - 1
            if each.word in _BLOCKS:
                around.append((end, scope))
        if each.word not in _KEYWORDS:
            name = source.text(each.start, each.start + len(each.word))
            references.append(Reference(name=name, line=row + 1, column=column, kind="call", scope=scope))
    faults = any(each.word in _BLOCKS and each.start not in ends for each in commands)
    return ParsedFile(
        language="cmake",
        lines=source.count,
        definitions=tuple(definitions),
        references=tuple(references),
        imports=tuple(imports),
        faults=int(faults),
    )


def _blank_comments(data: bytes) -> bytes:
    """The file with spaces for comments and for what is between quotes, so that all places stay."""
    parts: list[bytes] = []
    at = done = 0
    while (match := _QUIET.search(data, at)) is not None:
        start, at = match.span()
        if (level := match["comment"] if match["comment"] is not None else match["argument"]) is not None:
            closed = data.find(b"]" + level + b"]", at)
            at = closed + len(level) + 2 if closed >= 0 else len(data)
        hidden = _OTHER.sub(b" ", data[start:at])
        if data[start] == _BACKSLASH:
            hidden = b"__"  # part of a word, even a parenthesis
        elif data[start] != _HASH:
            hidden = b'"' + hidden[2:] + b'"'  # still an argument
        parts += [data[done:start], hidden]
        done = at
    return b"".join([*parts, data[done:]])


def _commands(code: bytes, source: Source) -> Iterator[_Command]:
    """All calls of commands; what stands in the parentheses of one is no other."""
    depth = 0
    word, start, opened = "", 0, 0
    for match in _PIECE.finditer(code):
        if match[2] == b"(":
            if not depth:
                word, start, opened = (match[1] or b"").decode().lower(), match.start(), match.end()
            depth += 1
        elif depth:
            depth -= 1
            if not depth and word:
                first = _FIRST.match(code, opened, match.start(2))
                name = ""
                if first:
                    name = source.text(*first.span(1))[:_LONGEST].strip('"')
                yield _Command(
                    word=word, start=start, end=match.end(), name=name, named=first.start(1) if first else start
                )


def _ends(commands: list[_Command]) -> dict[int, int]:
    """Where functions and macros end, by where they start; one that nothing ends is missing."""
    ends: dict[int, int] = {}
    opened: list[_Command] = []
    count = dict.fromkeys(_ENDS, 0)  # how many of the open ones each word would end
    for each in commands:
        if each.word in _BLOCKS:
            opened.append(each)
            count[f"end{each.word}"] += 1
        elif count.get(each.word):
            while (last := f"end{opened[-1].word}") != each.word:
                opened.pop()
                count[last] -= 1
            ends[opened.pop().start] = each.end
            count[last] -= 1
    return ends


def _definition(command: _Command, kind: str, end: int, parent: int, source: Source) -> Definition:
    row, column = source.place(command.start)
    alone = not source.lines[row][:column].strip()
    top = source.comment_above(row, ("#",)) if alone else row
    above = b"\n".join(source.lines[top:row]).decode("utf-8", "replace")
    block = command.word in _BLOCKS
    return Definition(
        name=command.name,
        kind=kind,
        span=Span(top + 1, source.place(end - 1)[0] + 1),
        line=source.place(command.named)[0] + 1,
        signature=source.fold_lines(command.start, command.end) if block else source.first_line(command.start, end),
        doc=paragraph(_BRACKETS.sub("", above)),
        parent=parent,
    )


LANGUAGE: Final = Language(
    name="cmake",
    extensions=(".cmake",),
    filenames=("CMakeLists.txt",),
    by_lines=_parse,
)
