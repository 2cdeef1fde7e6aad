"""Asks a language server about the symbols of a code base, and keeps what it said."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic_benchmarks.language_servers.client import LanguageServer
from laconic_benchmarks.language_servers.code_bases import CodeBase
from laconic_benchmarks.language_servers.servers import Server

Place = tuple[str, int]
_KINDS: Final = {  # of the protocol
    5: "class",
    6: "method",
    8: "field",
    9: "constructor",
    10: "enum",
    11: "interface",
    12: "function",
    13: "variable",
    14: "constant",
    22: "constant",
    23: "struct",
}
_BODIES: Final = frozenset({6, 9, 12})  # what is inside of these is local
_HOLDERS: Final = frozenset({13, 14})  # variables inside a variable are those of the function that it holds
_OVERLOADED: Final = frozenset({"method", "function", "constructor"})
_RECEIVER: Final = re.compile(r"\(\*?([\w.]+)(?:\[.*\])?\)\.")
_SYMBOLS: Final = 50  # that are asked about in one code base
_PASSED: Final = frozenset({"node_modules", ".git", "testdata"})  # folders that servers do not look into
_TESTS: Final = ("test", "example", "bench", "fuzz", "docs", "website", "play")


class TrueSymbol(msgspec.Struct, frozen=True):
    """One definition and what the server says of it."""

    path: str
    line: int
    name: str
    kind: str
    uses: tuple[Place, ...]
    implementations: tuple[Place, ...] = ()
    unresolved: tuple[Place, ...] = ()  # lines that mention the name, of which the server cannot say what it means


class Truth(msgspec.Struct, frozen=True):
    """What a server said of one code base."""

    server: str
    outline: tuple[tuple[str, int, str, str], ...]  # path, line, name, kind of what is not local
    symbols: tuple[TrueSymbol, ...]
    files: tuple[str, ...]  # that the server looked into


class Defined(msgspec.Struct, frozen=True):
    """A definition as the outline of a server gives it."""

    path: str
    line: int
    column: int
    name: str
    kind: str
    owner: str = ""  # the name of what it is declared in


def read_truth(base: CodeBase, server: Server, root: Path, kept: Path) -> Truth:
    """The truth about a code base: as kept from an earlier run, else by asking the server."""
    if kept.is_file():
        return msgspec.json.decode(kept.read_bytes(), type=Truth)
    read = server.read or partial(_ask, server=server)
    truth = read(base, root)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(msgspec.json.encode(truth))
    return truth


def choose(defined: Iterable[Defined], below: str) -> list[Defined]:
    """Symbols to ask about: half of them have names that others have too, half are taken as they come."""
    found = [each for each in defined if each.path.startswith(below) and not is_test(each.path)]
    found.sort(key=lambda each: (each.path, each.line, each.name))
    luck = random.Random(7)
    luck.shuffle(found)
    count = Counter(each.name for each in found)
    shared = [each for each in found if count[each.name] > 1][: _SYMBOLS // 2]
    others = [each for each in found if each not in shared]
    return [*shared, *others[: _SYMBOLS - len(shared)]]


def is_test(path: str) -> bool:
    return any(word in path.lower() for word in _TESTS)


def _ask(base: CodeBase, root: Path, server: Server) -> Truth:
    files = sorted(each.relative_to(root).as_posix() for each in root.rglob("*") if each.suffix in server.suffixes)
    files = [each for each in files if not each.startswith("_") and not set(each.split("/")) & _PASSED]
    server.prepare(root, files)
    with ExitStack() as running:
        client = running.enter_context(LanguageServer(server.command, root, server.options))
        defined = _read_outlines(client, server, files)
        symbols = []
        for each in choose(defined, base.below):
            try:
                client.open(each.path, server.language_id(each.path))
                symbols.append(_describe(client, each, defined))
            except OSError:  # a server may end over a question, which then stays without an answer
                client = running.enter_context(LanguageServer(server.command, root, server.options))
                _read_outlines(client, server, files)  # it knows a file when it was asked about it
        unresolved = _find_unresolved(client, server, files, symbols, defined)
    symbols = [msgspec.structs.replace(each, unresolved=unresolved[each.name]) for each in symbols]
    outline = tuple((each.path, each.line, each.name, each.kind) for each in defined)
    return Truth(server.command[0], outline, tuple(symbols), tuple(files))


def _read_outlines(client: LanguageServer, server: Server, files: list[str]) -> list[Defined]:
    """All definitions; the server has read the whole code base then."""
    client.open(files[0], server.language_id(files[0]))
    client.wait_until_idle()
    found: list[Defined] = []
    for path in files:
        client.open(path, server.language_id(path))
        found += _flatten(path, client.outline(path), set(), "")
        if not server.keeps_open:
            client.close(path)
    client.wait_until_idle()
    return found


def _flatten(path: str, found: list[dict[str, Any]], above: set[int], owner: str) -> Iterator[Defined]:
    """The definitions of a file that are not local to a function."""
    for each in found:
        span = each.get("selectionRange") or each["location"]["range"]
        name, kind = _plain_name(each["name"]), int(each["kind"])
        local = bool(above & _BODIES) or (kind in _HOLDERS and bool(above & _HOLDERS))
        if name and kind in _KINDS and not local:
            start = span["start"]
            around = _find_owner(each["name"]) or owner
            yield Defined(path, start["line"] + 1, start["character"], name, _KINDS[kind], around)
        yield from _flatten(path, each.get("children") or [], above | {kind}, name)


def _find_owner(name: str) -> str:
    """`T::method` and `(*T).Method` are declared in T."""
    if match := _RECEIVER.match(name):
        return match[1]
    return name.partition("(")[0].rpartition("::")[0].rpartition("::")[2].partition("<")[0]


def _plain_name(name: str) -> str:
    """`(*T).Method` and `T::method` are known by their last word; what has no name in the text is left out."""
    last = name.split("(anonymous", maxsplit=1)[0].rpartition("::")[2]
    last = last.rpartition(".")[2] if last.startswith("(") or "." in last else last
    last = last.partition("<")[0].strip("'\"")
    return last if last.replace("$", "_").replace("#", "_").lstrip("~").isidentifier() else ""


def _describe(client: LanguageServer, each: Defined, defined: list[Defined]) -> TrueSymbol:
    """All uses; overloads of one name are one symbol, and definitions are no uses."""
    column = _column(client, each)
    context = {"includeDeclaration": False}
    found = client.ask_at("references", each.path, each.line - 1, column, context=context)
    for other in _find_overloads(each, defined):
        found += client.ask_at("references", other.path, other.line - 1, _column(client, other), context=context)
    places = {place for one in found if (place := client.place(one))}
    heirs = client.ask_at("implementation", each.path, each.line - 1, column)
    implementations = {place for one in heirs if (place := client.place(one))}
    own = {(other.path, other.line) for other in defined if other.name == each.name}
    return TrueSymbol(
        path=each.path,
        line=each.line,
        name=each.name,
        kind=each.kind,
        uses=tuple(sorted(places - own)),
        implementations=tuple(sorted(implementations - {(each.path, each.line)})),
    )


def _find_overloads(each: Defined, defined: list[Defined]) -> list[Defined]:
    """Other functions of the same name in the same type and file, which only their parameters tell apart."""
    found = []
    for other in defined:
        same = (other.path, other.name, other.owner) == (each.path, each.name, each.owner)
        if same and other.line != each.line and other.kind in _OVERLOADED and each.kind in _OVERLOADED:
            found.append(other)
    return found


def _find_unresolved(
    client: LanguageServer, server: Server, files: list[str], symbols: list[TrueSymbol], defined: list[Defined]
) -> dict[str, tuple[Place, ...]]:
    """By name, the lines that the server cannot read: code that is not compiled, unknown types, bodies of macros."""
    known: dict[str, set[Place]] = {each.name: set() for each in symbols}
    for symbol in symbols:
        known[symbol.name].update(symbol.uses)
    for each in defined:
        known.get(each.name, set()).add((each.path, each.line))
    pattern = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, known))})(?![\w$])")
    found: dict[str, set[Place]] = {name: set() for name in known}
    for path in files:
        mentions = [each for each in _find_mentions(client, path, pattern) if each[:2] not in known[each[3]]]
        if not mentions:
            continue
        client.open(path, server.language_id(path))
        resolved = {each[:2] for each in mentions if client.does_know(server.ask_meaning, path, each[1] - 1, each[2])}
        for place in mentions:
            if place[:2] not in resolved:
                found[place[3]].add(place[:2])
        if not server.keeps_open:
            client.close(path)
    return {name: tuple(sorted(places)) for name, places in found.items()}


def _find_mentions(
    client: LanguageServer, path: str, pattern: re.Pattern[str]
) -> Iterator[tuple[str, int, int, str]]:
    """Path, line, column and name wherever a file has one of the names."""
    for number, line in enumerate(client.lines(path), 1):
        for match in pattern.finditer(line):
            yield path, number, match.start(), match[0]


def _column(client: LanguageServer, each: Defined) -> int:
    """Where the name itself is: the span of some servers begins before it."""
    line = client.line(each.path, each.line)
    at = line.find(each.name, each.column)
    return at if at >= 0 else each.column
