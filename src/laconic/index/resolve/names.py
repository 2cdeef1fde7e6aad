"""What a plain name, or a path of names, refers to: scopes, imports, packages. Types play no part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning, NamePlace, module, of
from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.modules import find_part, locate
from laconic.index.schema import file_of
from laconic.index.store import Symbol
from laconic.index.symbol_kinds import NAMELESS, TYPES
from laconic.records import Import

_CONSTRUCTORS: Final = frozenset({"constructor"})
_MEMBERS: Final = frozenset({"constructor", "method", "field"})  # of objects, which only a receiver leads to
Seen = set[tuple[tuple[int, ...], str, str]]  # modules and names on the way to a re-export


def lookup(code: Code, place: NamePlace, name: str) -> Meaning:
    """The definitions or the module that a bare name means at a place."""
    source = code.sources[place.file]
    if found := in_scopes(code, source, place, name):
        return of([symbol.id for symbol in found])
    top = [symbol.id for symbol in code.top(place.file, name) if not _is_space(source, symbol)]
    brought = []
    for each in imports_of(code, place, name):
        brought.append(follow_import(code, source, each))
    if meant := _merge([of(top), *brought]):
        return meant
    if meant := _look_in_stars(code, source, name):
        return meant
    if meant := _look_in_shared(code, source, place, name):
        return meant
    if name in source.dialect.builtin:
        return FOREIGN
    if source.dialect.implicit_modules:
        return _find_implicit_module(code, source, place, name)
    return UNKNOWN


def path(code: Code, place: NamePlace, names: Sequence[str]) -> Meaning:
    """What `a.b.c` means when all of it are modules and types."""
    meant = lookup(code, place, names[0])
    if place.scope >= 0 and meant.kind == "symbol" and not _has_types(code, meant):
        meant = lookup(code, place._replace(scope=-1), names[0])  # a member of the same name is no part of a path
    for name in names[1:]:
        meant = inside(code, meant, name)
    return meant


def _has_types(code: Code, meant: Meaning) -> bool:
    return any(symbol.kind in TYPES for number in meant.symbols if (symbol := code.symbol(number)))


def inside(code: Code, whole: Meaning, name: str) -> Meaning:
    """What a module or a type holds under a name; inherited members are not looked for."""
    if whole.kind == "module":
        return member(code, whole, name)
    if whole.kind == "symbol":
        found = []
        for number in whole.symbols:
            above = code.symbol(number)
            for each in code.outline(file_of(number)).find_named(number, name):
                if above is None or each.qualified == f"{above.qualified}.{name}":  # else it is of a type in there
                    found.append(each.id)
        return of(found)
    if whole.kind == "foreign":
        return whole
    return UNKNOWN


def in_scopes(code: Code, source: SourceFile, place: NamePlace, name: str) -> list[Symbol]:
    """Definitions of a name in the definitions around a place, the innermost that has any."""
    outline = code.outline(place.file)
    direct = True
    unseen = _MEMBERS if source.dialect.shorthand else _CONSTRUCTORS
    for around in outline.around(place.scope):
        if source.dialect.namespaces and around.kind == "module":
            break  # what a namespace holds is in many files
        hidden = around.kind in TYPES and around.kind != "module"
        seen = not hidden or direct or source.dialect.bare_members
        found = outline.find_named(around.id, name) if seen else []
        if found := [each for each in found if each.kind not in unseen]:
            return found
        direct = False
    return []


def imports_of(code: Code, place: NamePlace, name: str) -> list[Import]:
    """The imports that bring a name; those of the function itself hide those of the file."""
    source = code.sources[place.file]
    found = []
    for each in code.imports(place.file):
        if each.module and bound_name(source, each) == name:
            found.append(each)
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
        if each.alias == each.name:
            return UNKNOWN
        return lookup(code, NamePlace(source.id, -1, each.line), each.name)
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
            for symbol in code.outline(file).symbols:
                if "default" in symbol.modifiers.split():
                    own.append(symbol.id)
        for symbol in code.top(file, name):
            own.append(symbol.id)
        for each in code.imports(file):
            if bound_name(source, each) == name and (
                each.exported or source.dialect.open_modules or name in code.exports(file)
            ):
                again.append(follow_import(code, source, each, seen))
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
    if whole.kind == "symbol":
        return inside(code, whole, name)
    return UNKNOWN


def _find_implicit_module(code: Code, source: SourceFile, place: NamePlace, name: str) -> Meaning:
    """The head of a path that nothing brings in: `crate`, `super`, or another crate of Rust."""
    found = locate(code, source, _absolute(code, source, Import(name, place.line)))
    if found.kind == "module":
        return found
    return UNKNOWN


def _absolute(code: Code, source: SourceFile, each: Import) -> str:
    """The module of an import, seen from where it stands."""
    rule = source.dialect.make_absolute
    if rule:
        return rule(code, source, each)
    return each.module


def _look_in_stars(code: Code, source: SourceFile, name: str) -> Meaning:
    return _merge(
        follow_star_import(code, source, each, name)
        for each in code.imports(source.id)
        if each.name == "*" and not each.alias
    )


def _look_in_shared(code: Code, source: SourceFile, place: NamePlace, name: str) -> Meaning:
    """What is seen without an import: the folder, the package, or everything, by language."""
    shared = source.dialect.shared
    if not shared:
        return UNKNOWN
    found = []
    for each in code.find_named(name):
        if each.kind not in NAMELESS and _is_shared(code, source, each):
            found.append(each)
    if shared == "folder":
        return of([each.id for each in _find_built(code, found) if _folder(code, each) == source.folder])
    if shared == "package":
        return of([each.id for each in found if _package(code, each) == source.package])
    same = []
    for each in found:
        if _family(code, each) == source.dialect.family:
            same.append(each)
    if source.package:
        near = [each for each in same if _package(code, each) == source.package]
    else:
        near = []
    if source.dialect.namespaces:
        near = _find_in_nearest_space(code, place, same)
    return of([each.id for each in near or same])


def _find_built(code: Code, found: list[Symbol]) -> list[Symbol]:
    """Of several definitions those that are in files which are always built."""
    if len(found) < 2:
        return found
    built = []
    for each in found:
        source = code.sources[each.file]
        if source.dialect.is_left_out is None or not source.dialect.is_left_out(code, source):
            built.append(each)
    return built or found


def _is_space(source: SourceFile, symbol: Symbol) -> bool:
    """Whether it is a namespace, of which this file has only a part."""
    return source.dialect.namespaces and symbol.kind == "module"


def _is_shared(code: Code, source: SourceFile, symbol: Symbol) -> bool:
    """Whether others can see it by its name alone: it is in nothing but namespaces, and not kept to its own file."""
    home = code.sources.get(symbol.file)
    if home is None or not code.may_use(source, home):
        return False
    if symbol.parent is None:
        return "." not in symbol.qualified and not _is_private(code, source, symbol)
    above = code.symbol(symbol.parent)
    if above is None or not source.dialect.namespaces or symbol.qualified != f"{above.qualified}.{symbol.name}":
        return False
    return above.kind in {"module", "enum"} and not _is_private(code, source, symbol)


def _is_private(code: Code, source: SourceFile, symbol: Symbol) -> bool:
    """Whether it is static in another file of C: one that nobody includes."""
    if not source.dialect.declared_apart or symbol.file == source.id or "static" not in symbol.modifiers.split():
        return False
    other = code.sources.get(symbol.file)
    return other is not None and not other.path.endswith((".h", ".hpp", ".hh", ".inc"))


def _find_in_nearest_space(code: Code, place: NamePlace, found: list[Symbol]) -> list[Symbol]:
    """Of several definitions those in the innermost namespace around a place."""
    if len(found) < 2:
        return found
    around = next(code.outline(place.file).around(place.scope), None)
    if around is not None:
        space = around.qualified.split(".")
    else:
        space = []
    best, nearest = -1, found
    for each in found:
        own = each.qualified.split(".")[:-1]
        depth = len(own) if own == space[: len(own)] else -1
        if depth > best:
            best, nearest = depth, [each]
        elif depth == best and depth >= 0:
            nearest = [*nearest, each]
    return nearest


def _folder(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    if source:
        return source.folder
    return "\0"


def _package(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    if source:
        return source.package
    return "\0"


def _family(code: Code, symbol: Symbol) -> str:
    source = code.sources.get(symbol.file)
    if source:
        return source.dialect.family
    return ""


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
    if foreign:
        return FOREIGN
    return UNKNOWN
