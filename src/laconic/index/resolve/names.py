"""What a plain name, or a path of names, stands for: scopes, imports, packages. Types play no part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from laconic.index.meaning import FOREIGN, UNKNOWN, Meaning, NamePlace, module, of
from laconic.index.resolve.code import NAMELESS, TYPES, Code, SourceFile
from laconic.index.resolve.modules import find_part, locate
from laconic.index.schema import file_of
from laconic.index.store import Symbol
from laconic.records import Import

Seen = set[tuple[tuple[int, ...], str, str]]  # modules and names on the way to a re-export


def lookup(code: Code, place: NamePlace, name: str) -> Meaning:
    """The definitions or the module that a bare name means at a place."""
    source = code.sources[place.file]
    if found := in_scopes(code, source, place, name):
        return of([symbol.id for symbol in found])
    top = [symbol.id for symbol in code.top(place.file, name)]
    brought = [follow_import(code, source, each) for each in imports_of(code, place, name)]
    if meant := _merge([of(top), *brought]):
        return meant
    if meant := _look_in_stars(code, source, name):
        return meant
    if meant := _look_in_shared(code, source, name):
        return meant
    if name in source.dialect.builtin:
        return FOREIGN
    if source.dialect.implicit_modules:
        return _find_implicit_module(code, source, place, name)
    return UNKNOWN


def path(code: Code, place: NamePlace, names: Sequence[str]) -> Meaning:
    """What `a.b.c` means when all of it are modules and types."""
    meant = lookup(code, place, names[0])
    for name in names[1:]:
        meant = inside(code, meant, name)
    return meant


def inside(code: Code, whole: Meaning, name: str) -> Meaning:
    """What a module or a type holds under a name; inherited members are not looked for."""
    if whole.kind == "module":
        return member(code, whole, name)
    if whole.kind == "symbol":
        found = [
            each.id for number in whole.symbols for each in code.outline(file_of(number)).find_named(number, name)
        ]
        return of(found)
    return whole if whole.kind == "foreign" else UNKNOWN


def in_scopes(code: Code, source: SourceFile, place: NamePlace, name: str) -> list[Symbol]:
    """Definitions of a name in the definitions around a place, the innermost that has any."""
    outline = code.outline(place.file)
    direct = True
    for around in outline.around(place.scope):
        hidden = around.kind in TYPES and around.kind != "module"
        seen = not hidden or direct or source.dialect.bare_members
        found = outline.find_named(around.id, name) if seen else []
        if found := [each for each in found if each.kind != "constructor"]:
            return found
        direct = False
    return []


def imports_of(code: Code, place: NamePlace, name: str) -> list[Import]:
    """The imports that bring a name; those of the function itself hide those of the file."""
    source = code.sources[place.file]
    found = [each for each in code.imports(place.file) if each.module and bound_name(source, each) == name]
    if len(found) < 2:
        return found
    for around in code.outline(place.file).around(place.scope):
        if own := [each for each in found if around.start <= each.line <= around.end]:
            return own
    return found


def bound_name(source: SourceFile, each: Import) -> str:
    """The name under which a file knows what it imports."""
    if each.alias:
        return each.alias
    if each.name:
        return each.name
    return source.dialect.bind(each.module)


def follow_import(code: Code, source: SourceFile, each: Import, seen: Seen | None = None) -> Meaning:
    """What one import brings."""
    if source.dialect.binds_head and not each.name and not each.alias:
        return locate(code, source, source.dialect.bind(each.module))
    if not each.module:  # the file exports something of its own under another name
        return UNKNOWN if each.alias == each.name else lookup(code, NamePlace(source.id, -1, each.line), each.name)
    whole = locate(code, source, _absolute(code, source, each))
    if each.name in {"", "*"}:
        return whole
    if whole.kind == "symbol":
        return inside(code, whole, each.name)
    if whole.kind != "module":
        return whole
    return member(code, whole, each.name, seen)


def member(code: Code, whole: Meaning, name: str, seen: Seen | None = None) -> Meaning:
    """What importers of a module get under a name; modules may import each other in circles."""
    if seen is not None:
        return _member(code, whole, name, seen)
    key = ("member", whole.files, whole.folder, name)
    kept = code.derived.get(key)
    if not isinstance(kept, Meaning):
        kept = code.derived[key] = _member(code, whole, name, set())
    return kept


def _member(code: Code, whole: Meaning, name: str, seen: Seen) -> Meaning:
    step = (whole.files, whole.folder, name)
    if step in seen or not (whole.files or whole.folder):
        return UNKNOWN
    seen.add(step)
    own: list[int] = []
    again: list[Meaning] = []
    for file in whole.files:
        if file not in code.sources:
            continue
        source = code.sources[file]
        if name == "default" and source.dialect.default_exports:
            own += [each.id for each in code.outline(file).symbols if "default" in each.modifiers.split()]
        own += [symbol.id for symbol in code.top(file, name)]
        again += [
            follow_import(code, source, each, seen)
            for each in code.imports(file)
            if bound_name(source, each) == name
            and (each.exported or source.dialect.open_modules or name in code.exports(file))
        ]
    if meant := _merge([of(own), *again]):
        return meant
    if meant := find_part(code, whole, name):
        return meant
    return _merge(
        follow_star_import(code, code.sources[file], each, name, seen)
        for file in whole.files
        if file in code.sources and name != "default"
        for each in code.imports(file)
        if each.name == "*" and not each.alias and (each.exported or code.sources[file].dialect.open_modules)
    )


def follow_star_import(code: Code, source: SourceFile, each: Import, name: str, seen: Seen | None = None) -> Meaning:
    """What `import *` brings under a name; nothing when the module is not ours."""
    whole = locate(code, source, _absolute(code, source, each))
    if whole.kind == "module":
        return member(code, whole, name, seen)
    return inside(code, whole, name) if whole.kind == "symbol" else UNKNOWN


def _find_implicit_module(code: Code, source: SourceFile, place: NamePlace, name: str) -> Meaning:
    """The head of a path that nothing brings in: `crate`, `super`, or another crate of Rust."""
    found = locate(code, source, _absolute(code, source, Import(name, place.line)))
    return found if found.kind == "module" else UNKNOWN


def _absolute(code: Code, source: SourceFile, each: Import) -> str:
    """The module of an import, seen from where it stands."""
    rule = source.dialect.make_absolute
    return rule(code, source, each) if rule else each.module


def _look_in_stars(code: Code, source: SourceFile, name: str) -> Meaning:
    return _merge(
        follow_star_import(code, source, each, name)
        for each in code.imports(source.id)
        if each.name == "*" and not each.alias
    )


def _look_in_shared(code: Code, source: SourceFile, name: str) -> Meaning:
    """What is seen without an import: the folder, the package, or everything, by language."""
    shared = source.dialect.shared
    if not shared:
        return UNKNOWN
    found = [s for s in code.find_named(name) if s.parent is None and s.kind not in NAMELESS and not _is_outlying(s)]
    if shared == "folder":
        return of([each.id for each in found if _folder(code, each) == source.folder])
    if shared == "package":
        return of([each.id for each in found if _package(code, each) == source.package])
    same = [each for each in found if _family(code, each) == source.dialect.family]
    near = [each for each in same if _package(code, each) == source.package] if source.package else []
    return of([each.id for each in near or same])


def _is_outlying(symbol: Symbol) -> bool:
    """Whether it belongs to a type that is defined elsewhere."""
    return "." in symbol.qualified


def _folder(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    return source.folder if source else "\0"


def _package(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    return source.package if source else "\0"


def _family(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    return source.dialect.family if source else ""


def _merge(meanings: Iterable[Meaning]) -> Meaning:
    """All definitions together; else the first module; else foreign when something is."""
    symbols: dict[int, None] = {}
    files: dict[int, None] = {}
    folder = ""
    foreign = False
    for meant in meanings:
        if meant.kind == "symbol":
            symbols.update(dict.fromkeys(meant.symbols))
        elif meant.kind == "module":
            files.update(dict.fromkeys(meant.files))
            folder = folder or meant.folder
        foreign = foreign or meant.kind == "foreign"
    if symbols:
        return of(tuple(symbols))
    if files or folder:
        return module(tuple(files), folder)
    return FOREIGN if foreign else UNKNOWN
