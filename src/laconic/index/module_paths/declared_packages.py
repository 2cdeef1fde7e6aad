"""Packages that files declare themselves: Java, Kotlin, Scala, C#, PHP. A type is addressed by package and name."""

from __future__ import annotations

import re

from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning, module, of
from laconic.index.resolve.code import Code, SourceFile
from laconic.index.schema import file_of


def _parts(name: str) -> list[str]:
    found: list[str] = []
    for part in re.split(r"[.\\:]+", name):
        if part:
            found.append(part)
    return found


def locate_package(code: Code, source: SourceFile, name: str) -> Meaning:
    """A package, or a type (or a nested one) whose members are imported."""
    parts = _parts(name)
    for cut in range(len(parts), 0, -1):
        files = _files(code, parts[:cut])
        if not files:
            continue
        meant: Meaning = module(files, ".".join(parts[:cut]))
        for part_name in parts[cut:]:
            meant = _inside(code, meant, part_name)
        return meant
    head = parts[0] if parts else ""
    ours = any(_parts(package)[:1] == [head] for package in code.by_package)
    if ours and len(parts) > 1 and _shares(code, parts):
        return UNKNOWN
    return FOREIGN


def publish_declared(code: Code) -> list[str]:
    """The packages of files that are no tests."""
    found: list[str] = []
    for package, sources in code.by_package.items():
        if any(each.file_class == "source" and each.dialect.locate is locate_package for each in sources):
            found.append(package)
    return found


def find_package_part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A package inside a package."""
    files = _files(code, [*_parts(whole.folder), name])
    if files:
        return module(files, f"{whole.folder}.{name}")
    return UNKNOWN


def _shares(code: Code, parts: list[str]) -> bool:
    """Whether a package of ours begins with the same two words: then the rest may be generated code of ours."""
    return any(_parts(package)[:2] == parts[:2] for package in code.by_package)


def _files(code: Code, parts: list[str]) -> list[int]:
    for separator in (".", "\\", "::"):
        if found := code.by_package.get(separator.join(parts)):
            return [each.id for each in found]
    return []


def _inside(code: Code, meant: Meaning, name: str) -> Meaning:
    if meant.kind == "module":
        return of([symbol.id for file in meant.files for symbol in code.top(file, name)])
    found = []
    for number in meant.symbols:
        for inner in code.outline(file_of(number)).find_named(number, name):
            found.append(inner.id)
    return of(found)
