"""What happened to every symbol between two states of some files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from laconic.index.compare.match import match
from laconic.index.compare.syntax import Syntax
from laconic.index.compare.units import FileVersion, SymbolVersion
from laconic.records import FileChange, Hunk, SymbolChange

TOP: Final = "(top level)"
_DECLARATOR: Final = re.compile(r"[;,(){}]")  # what ends a declaration beside another
_LAYOUT: Final = re.compile(r"\s+|,(?=\s*[)\]}])")


@dataclass(frozen=True)
class ComparedFile:
    """The two versions of one file, and what differs outside of its symbols."""

    change: FileChange
    old: FileVersion | None
    new: FileVersion | None
    imports: tuple[str, ...] = ()  # `+a.b`, `-c`

    @property
    def code(self) -> bool:
        return any(side is not None and side.code for side in (self.old, self.new))

    @property
    def broken(self) -> bool:
        """Whether the file parsed before and no longer does."""
        return bool(self.old and self.new and self.new.parsed.faults and not self.old.parsed.faults)


@dataclass(frozen=True)
class Comparison:
    """All files, and all symbols that differ, by file and line."""

    files: tuple[ComparedFile, ...]
    symbols: tuple[SymbolChange, ...]


def compare(changes: Sequence[FileChange]) -> Comparison:
    """Parse both sides of every changed file and say what is different."""
    files = []
    for change in changes:
        files.append(_file(change))
    code = []
    for file in files:
        if file.code:
            code.append(file)
    matched = match([(file.old, file.new) for file in code])
    known = _Pairs(files, matched.pairs)
    lonely = set()
    for unit in (*matched.removed, *matched.added):
        lonely.add(id(unit))
    broken = {}
    for file in code:
        if file.old and file.new and file.broken:
            broken[id(file.old)] = file.new
    found = []
    for unit in matched.removed:
        found.append(_describe_one_sided(unit, _describe_gone(unit, broken.get(id(unit.side))), lonely))
    for unit in matched.added:
        found.append(_describe_one_sided(unit, "added", lonely))
    found += [made for old, new in matched.pairs if (made := _pair(old, new, known))]
    found += [made for file in code if (made := _top_level(file, known))]
    return Comparison(tuple(files), tuple(sorted(found, key=_place)))


class _Pairs:
    """Which sides and symbols belong together, the hunks between them, and trees, each made at most once."""

    def __init__(self, files: Sequence[ComparedFile], pairs: Sequence[tuple[SymbolVersion, SymbolVersion]]) -> None:
        self._pairs = {(id(old), id(new)) for old, new in pairs}
        self._pairs |= {(id(file.old), id(file.new)) for file in files if file.old and file.new}
        self._hunks = {id(file.new): file.change.hunks for file in files if file.new}
        self._trees: dict[int, Syntax] = {}

    def same_place(self, old: SymbolVersion, new: SymbolVersion) -> bool:
        """Whether what surrounds the two is itself a pair."""
        around = (old.parent or old.side, new.parent or new.side)
        return (id(around[0]), id(around[1])) in self._pairs

    def hunks(self, old: FileVersion, new: FileVersion) -> tuple[Hunk, ...] | None:
        if (id(old), id(new)) in self._pairs:
            return self._hunks[id(new)]
        return None

    def tree(self, side: FileVersion) -> Syntax:
        if id(side) not in self._trees:
            self._trees[id(side)] = Syntax(side)
        return self._trees[id(side)]


def _place(change: SymbolChange) -> tuple[str, int, str]:
    span = change.span or change.old_span
    return change.path, span.start if span else 0, change.name


def _file(change: FileChange) -> ComparedFile:
    missing = change.new is None or (change.old is None and change.status != "added")
    unread = missing and change.status != "removed"  # too large, say: what it held cannot be called gone
    if unread or change.note == "binary" or change.note.startswith("submodule"):
        return ComparedFile(change, None, None)
    if change.old is not None:
        old = FileVersion(change.old_path or change.path, change.old)
    else:
        old = None
    if change.new is not None:
        new = FileVersion(change.path, change.new)
    else:
        new = None
    made = ComparedFile(change, old, new, _imports(old, new))
    if made.code and made.broken and not change.note:
        return replace(made, change=msgspec.structs.replace(change, note="no longer parses"))
    return made


def _describe_gone(unit: SymbolVersion, new: FileVersion | None) -> str:
    """What happened to a symbol of the old side alone: where the new side does not parse, it may still be there."""
    word = re.compile(rf"(?<!\w){re.escape(unit.definition.name)}(?!\w)")
    if new is not None and any(map(word.search, new.lines)):
        return "body"
    return "removed"


def _imports(old: FileVersion | None, new: FileVersion | None) -> tuple[str, ...]:
    before, after = _collect_imports(old), _collect_imports(new)
    come = (f"+{name}" for name in after if name not in before)
    return (*come, *(f"-{name}" for name in before if name not in after))


def _collect_imports(side: FileVersion | None) -> dict[str, None]:
    imports = side.parsed.imports if side else ()
    return dict.fromkeys(f"{one.module}.{one.name}" if one.name else one.module for one in imports)


def _describe_one_sided(unit: SymbolVersion, what: str, lonely: set[int]) -> SymbolChange:
    new = what == "added"
    own = unit.definition
    lines = len(unit.span)
    return SymbolChange(
        path=unit.side.path,
        name=unit.name,
        kind=own.kind,
        changes=(what,),
        span=unit.span if new else None,
        old_span=None if new else unit.span,
        signature=own.signature if new else "",
        old_signature="" if new else own.signature,
        added=lines if new else 0,
        removed=0 if new else lines,
        visibility=own.visibility,
        modifiers=own.modifiers,
        within=id(unit.parent) in lonely,
        test=own.test,
    )


def _pair(old: SymbolVersion, new: SymbolVersion, known: _Pairs) -> SymbolChange | None:
    """What is different between the two versions of a symbol; None if nothing is."""
    what = [*_whereabouts(old, new, known)]
    if old.text != new.text and not _is_same_part(old, new, known):
        what += [one for one in _contents(old, new, known) if one != "cosmetic" or not what]
    elif _plain(old) != _plain(new) and new.family != "value":
        what.append("signature")  # its line belongs to what is declared in it, as in a record
    if not what:
        return None
    hunks = known.hunks(old.side, new.side)
    if hunks is None:
        changed = (len(new.own), len(old.own))
    else:
        changed = changed_lines(hunks, set(old.own), set(new.own))
    if what == ["cosmetic"] and hunks and not any(changed):
        return None  # an unchanged comment next to it came to belong to it, or no longer does
    own = new.definition
    return SymbolChange(
        path=new.side.path,
        name=new.name,
        kind=own.kind,
        changes=tuple(what),
        span=new.span,
        old_path=old.side.path if old.side.path != new.side.path else "",
        old_name=old.name if old.name != new.name else "",
        old_span=old.span,
        signature=own.signature,
        old_signature=old.definition.signature,
        added=changed[0],
        removed=changed[1],
        visibility=own.visibility,
        modifiers=own.modifiers,
        test=own.test,
    )


def _is_same_part(old: SymbolVersion, new: SymbolVersion, known: _Pairs) -> bool:
    """Whether a symbol that shares a line with others has not changed itself."""
    if not (_shares_line(old) or _shares_line(new)):
        return False
    if new.family == "value":
        part = _part_of_line(old)
        if part and part == _part_of_line(new):
            return True
    written = known.tree(old.side).find_definition(old)
    return bool(written) and written == known.tree(new.side).find_definition(new)


def _shares_line(unit: SymbolVersion) -> bool:
    """Whether another symbol begins or ends where this one does."""
    edges = {unit.span.start, unit.span.end}
    return any(edges & {other.span.start, other.span.end} for other in unit.side.units if other is not unit)


def _part_of_line(unit: SymbolVersion) -> str:
    """What the line of a value says of it alone."""
    if len(unit.own) != 1:
        return ""
    line = unit.side.lines[unit.own[0] - 1]
    found = re.search(rf"(?<!\w){re.escape(unit.definition.name)}(?!\w)", line)
    if found is None:
        return ""
    before = _DECLARATOR.split(line[: found.start()])[-1]
    return f"{before.strip()} {_DECLARATOR.split(line[found.start() :])[0].strip()}"


def _whereabouts(old: SymbolVersion, new: SymbolVersion, known: _Pairs) -> Iterator[str]:
    """Renamed or moved; what only followed its file or parent is neither."""
    if old.definition.name != new.definition.name:
        yield "renamed"
    if not known.same_place(old, new):
        yield "moved"


def _contents(old: SymbolVersion, new: SymbolVersion, known: _Pairs) -> Iterator[str]:
    before, after = known.tree(old.side), known.tree(new.side)
    masked = old.definition.name != new.definition.name
    if masked:
        names = (old.definition.name, new.definition.name)
    else:
        names = ("", "")
    if _mask_name(before.meaning(old.own), names[0]) == _mask_name(after.meaning(new.own), names[1]):
        yield "cosmetic"
        return
    signature = _plain(old) != _plain(new) and new.family != "value"
    if signature:
        yield "signature"
    bodies = _mask_name(before.meaning(_body(old)), names[0]), _mask_name(after.meaning(_body(new)), names[1])
    if not signature or bodies[0] != bodies[1]:
        yield "body"


def _mask_name(words: tuple[str, ...], name: str) -> tuple[str, ...]:
    if not name:
        return words
    return tuple("\0" if word == name else word for word in words)


def _plain(unit: SymbolVersion) -> str:
    """A signature without its own name, layout and trailing commas."""
    name = re.escape(unit.definition.name)
    return _LAYOUT.sub("", re.sub(rf"(?<!\w){name}(?!\w)", "\0", unit.definition.signature, count=1))


def _body(unit: SymbolVersion) -> tuple[int, ...]:
    """The own lines below the signature, as far as its length tells."""
    wanted = len(_LAYOUT.sub("", unit.definition.signature))
    seen = 0
    for position, number in enumerate(unit.own):
        if number < unit.definition.line:
            continue
        seen += len(_LAYOUT.sub("", unit.side.lines[number - 1]))
        if seen >= wanted:
            return unit.own[position + 1 :]
    return ()


def changed_lines(hunks: Sequence[Hunk], old: set[int], new: set[int]) -> tuple[int, int]:
    """How many of some lines came and went; empty ones do not count."""
    added = removed = 0
    for hunk in hunks:
        # A side without lines is said to start at the line before.
        old_line, new_line = hunk.old_start + (not hunk.old_lines), hunk.new_start + (not hunk.new_lines)
        for line in hunk.body:
            mark = line[:1]
            filled = bool(line[1:].strip())
            added += mark == "+" and filled and new_line in new
            removed += mark == "-" and filled and old_line in old
            new_line += mark in "+ "
            old_line += mark in "- "
    return added, removed


def _top_level(file: ComparedFile, known: _Pairs) -> SymbolChange | None:
    """Statements outside of all symbols; imports have their own place."""
    old, new = file.old, file.new
    if old is None or new is None:
        return None
    texts = [[line for n in side.top if (line := side.lines[n - 1].strip())] for side in (old, new)]
    if texts[0] == texts[1]:
        return None
    meanings = []
    for side in (old, new):
        meanings.append(known.tree(side).meaning(side.top, imports=False)[1:])
    what = "cosmetic" if meanings[0] == meanings[1] else "body"
    if what == "cosmetic" and file.imports:
        return None
    added, removed = changed_lines(file.change.hunks, set(old.top), set(new.top))
    return SymbolChange(path=new.path, name=TOP, kind="module", changes=(what,), added=added, removed=removed)
