"""Rust modules: `crate`, `super`, `self`, other crates of the workspace, and modules inside files."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.meaning import FOREIGN, UNKNOWN, Meaning, module, of

_NAME: Final = re.compile(r"^\s*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_ROOT_FILES: Final = frozenset({"lib.rs", "main.rs", "mod.rs"})


def locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module, or the type, that a path leads to."""
    parts = [part for part in re.split(r"::|\.", name) if part]
    if not parts:
        return _of_file(code, source)
    head, rest = parts[0], parts[1:]
    if head == "crate":
        start = _crate_root(code, source.folder)
    elif head == "self":
        start = _of_file(code, source)
    elif head == "super":
        start = _above(code, source)
        while rest and rest[0] == "super" and start.files:
            start, rest = _above(code, code.sources[start.files[0]]), rest[1:]
    else:
        start = part(code, _of_file(code, source), head)
        if not start:
            folder = _crates(code).get(head)
            start = _crate_root(code, folder) if folder is not None else FOREIGN
    for step in rest:
        if start.kind == "foreign":
            break
        start = _step(code, start, step)
    return start


def part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A module file below a module, or a module written inside the file."""
    if whole.folder:
        for path in (f"{whole.folder}/{name}.rs", f"{whole.folder}/{name}/mod.rs"):
            if found := code.by_path.get(path):
                return _of_file(code, found)
    inner = [symbol.id for file in whole.files for symbol in code.top(file, name) if symbol.kind == "module"]
    return of(inner)


def _step(code: Code, start: Meaning, name: str) -> Meaning:
    if start.kind == "module":
        if found := part(code, start, name):
            return found
        types = [symbol.id for file in start.files for symbol in code.top(file, name)]
        return of(types)
    inner = [symbol.id for number in start.symbols for symbol in code.outline(number >> 20).find_named(number, name)]
    return of(inner) if inner else UNKNOWN


def _of_file(code: Code, source: SourceFile) -> Meaning:
    base = source.path.rpartition("/")[2]
    folder = source.folder if base in _ROOT_FILES else source.path.removesuffix(".rs")
    return module([source.id], folder)


def _above(code: Code, source: SourceFile) -> Meaning:
    base = source.path.rpartition("/")[2]
    folder = source.folder.rpartition("/")[0] if base == "mod.rs" else source.folder
    for path in (f"{folder}/mod.rs", f"{folder}.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
        if found := code.by_path.get(path):
            return _of_file(code, found)
    return UNKNOWN


def _crate_root(code: Code, folder: str) -> Meaning:
    """The root file of the crate that a folder belongs to."""
    while True:
        for base in (folder, f"{folder}/src".lstrip("/")):
            files = [
                code.by_path[path]
                for name in ("lib.rs", "main.rs")
                if (path := f"{base}/{name}".lstrip("/")) in code.by_path
            ]
            if files:
                return module([each.id for each in files], base)
        if not folder:
            return UNKNOWN
        folder = folder.rpartition("/")[0]


def _crates(code: Code) -> dict[str, str]:
    """Folders of the crates of the workspace by the name that programs use."""
    found = code.derived.get("crates")
    if isinstance(found, dict):
        return found
    names: dict[str, str] = {}
    for each in code.by_basename.get("Cargo.toml", ()):
        text = code.text(each.path)
        for section in ("[package]", "[lib]"):
            at = text.find(section)
            if at >= 0 and (match := _NAME.search(text, at)):
                names.setdefault(match[1].replace("-", "_"), each.folder)
    code.derived["crates"] = names
    return names
