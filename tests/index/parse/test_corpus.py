"""Every language says of its corpus file what the comments in that file expect.

A comment that starts with `?` speaks about its own line; several expectations are parted by `;`:

    class Foo(Base):            #? class Foo bases=Base
    def bar(self):              #? method Foo.bar private static span=3-9 sig="def bar(self)" doc="Bar it."
        other.run(x)            #? call run on other in Foo.bar; no x
    from a import b as c        #? import a b as c exported
                                #? exports Foo, Bar        (anywhere in the file)
                                #? package a.b             (anywhere in the file)

Every definition of a file must be expected. Formats without comments have them in `NAME.expect`, as `LINE: ...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.index.parse import parse
from laconic.records import Definition, ParsedFile

CORPUS = Path(__file__).parents[2] / "corpus" / "parse"
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file() and path.suffix != ".expect")
_COMMENT = re.compile(r"(?:#|//|--|/\*|<!--|;|%)\? (.*?)\s*(?:\*/|-->)?\s*$")
_OPTION = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))')
_VISIBILITIES = {"public", "private", "protected", "internal"}
_USES = {"call", "read", "write", "type", "inherit", "decorator", "import-ref"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_a_corpus_file_parses_as_its_comments_expect(path: Path) -> None:
    parsed = parse(path.relative_to(CORPUS).as_posix(), path.read_bytes())
    assert "\n".join(complaints(path, parsed)) == ""


def expectations(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers with one expectation each."""
    beside = path.with_name(path.name + ".expect")
    if beside.is_file():
        for line in beside.read_text("utf-8").splitlines():
            number, _, text = line.partition(": ")
            yield from ((int(number), part.strip()) for part in text.split("; "))
        return
    for row, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if match := _COMMENT.search(line):
            yield from ((row, part.strip()) for part in match[1].split("; "))


def complaints(path: Path, parsed: ParsedFile) -> list[str]:
    """What the file expects and the parser did not tell, and the other way round for definitions."""
    names = qualified(parsed.definitions)
    expected: set[tuple[int, str]] = set()
    found: list[str] = []
    for line, wanted in expectations(path):
        problem = _check(line, wanted, parsed, names, expected)
        if problem:
            found.append(f"{path.name}:{line}: {wanted!r}: {problem}")
    for definition, name in zip(parsed.definitions, names, strict=True):
        if (definition.line, name) not in expected:
            found.append(f"{path.name}:{definition.line}: not expected: {definition.kind} {name}")
    return found


def qualified(definitions: tuple[Definition, ...]) -> list[str]:
    """Names with those of their parents (or of the type that owns them) before them."""
    names: list[str] = []
    for each in definitions:
        before = (names[each.parent] + "." if each.parent >= 0 else "") + (each.owner + "." if each.owner else "")
        names.append(before + each.name)
    return names


def _check(line: int, wanted: str, parsed: ParsedFile, names: list[str], expected: set[tuple[int, str]]) -> str:
    word, _, rest = wanted.partition(" ")
    if word == "exports":
        missing = set(re.split(r",\s*", rest)) ^ set(parsed.exports)
        return f"differs in {missing}" if missing else ""
    if word == "package":
        return "" if parsed.package == rest else f"is {parsed.package!r}"
    if word == "import":
        return _import(line, rest, parsed)
    if word == "no":
        return "found" if any(each.line == line and each.name == rest for each in parsed.references) else ""
    if word == "type" and not _definition(line, word, rest, parsed, names, expected=expected):
        return ""
    if word in _USES:
        return _reference(line, word.removesuffix("-ref"), rest, parsed, names)
    return _definition(line, word, rest, parsed, names, expected=expected)


def _import(line: int, rest: str, parsed: ParsedFile) -> str:
    exported = rest.endswith(" exported")
    words = rest.removesuffix(" exported").split(" as ")
    alias = words[1] if len(words) > 1 else ""
    module, _, name = words[0].partition(" ")
    here = [each for each in parsed.imports if each.line == line]
    if any((e.module, e.name, e.alias, e.exported) == (module, name, alias, exported) for e in here):
        return ""
    return f"there are {here}"


def _reference(line: int, kind: str, rest: str, parsed: ParsedFile, names: list[str]) -> str:
    rest, _, scope = rest.partition(" in ")
    name, _, receiver = rest.partition(" on ")
    here = [each for each in parsed.references if each.line == line and each.name == name]
    for each in here:
        around = names[each.scope] if each.scope >= 0 else ""
        if each.kind == kind and each.receiver == receiver and scope in ("", around or "-"):
            return ""
    return f"there are {here or [each.name for each in parsed.references if each.line == line]}"


def _definition(
    line: int, kind: str, rest: str, parsed: ParsedFile, names: list[str], *, expected: set[tuple[int, str]]
) -> str:
    options = {match[1]: match[2] if match[2] is not None else match[3] for match in _OPTION.finditer(rest)}
    plain = _OPTION.sub("", rest)
    name, *flags = plain.split() if '"' not in plain else [plain.strip().strip('"')]
    for each, known in zip(parsed.definitions, names, strict=True):
        if each.line == line and known == name.replace("\u00b7", " "):
            expected.add((line, known))
            return _compare(each, kind, flags, options)
    return f"there are {[known for each, known in zip(parsed.definitions, names, strict=True) if each.line == line]}"


def _compare(each: Definition, kind: str, flags: list[str], options: dict[str, str]) -> str:
    told = {
        "kind": each.kind,
        "visibility": each.visibility,
        "modifiers": set(each.modifiers),
        "test": each.test,
        "span": str(each.span),
        "sig": each.signature,
        "doc": each.doc,
        "bases": ",".join(each.bases),
    }
    words = set(flags) - _VISIBILITIES - {"test"}
    wanted: dict[str, object] = {
        "kind": kind,
        "visibility": next((flag for flag in flags if flag in _VISIBILITIES), "public"),
        "modifiers": words,
        "test": "test" in flags,
        **options,
    }
    return "; ".join(f"{key} is {told[key]!r}" for key, value in wanted.items() if told[key] != value)
