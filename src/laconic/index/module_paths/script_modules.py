"""Modules of JavaScript and TypeScript: by path, by the aliases of compiler settings, by package, by a tail of a path."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Final

from laconic.index.name_meaning import FOREIGN, UNKNOWN, Meaning, module
from laconic.index.resolve.code import Code, SourceFile

_SUFFIXES: Final = (
    *(".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    *("/index.ts", "/index.tsx", "/index.mts", "/index.d.ts", "/index.js", "/index.jsx", "/index.mjs", "/index.cjs"),
)
_WRITTEN: Final = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_PATHS: Final = re.compile(r"\"([^\"\s]*)\*?\"\s*:\s*\[\s*\"([^\"]*)\"")
_BLOCK: Final = re.compile(r"\"paths\"\s*:\s*\{([^}]*)\}")
_BASE: Final = re.compile(r"\"baseUrl\"\s*:\s*\"([^\"]*)\"")
_CONFIGS: Final = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json", "tsconfig.app.json")


def locate_script_module(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module of an import or a require."""
    name = name.split("?", 1)[0]
    if name.startswith("."):
        return _find_file(code, posixpath.normpath(posixpath.join(source.folder, name)))
    for prefix, folder in _aliases(code, source):
        if name.startswith(prefix) and (found := _find_file(code, _join(folder, name[len(prefix) :]))):
            return found
    if found := _find_package(code, name):
        return found
    return _find_by_tail(code, source, name)


def _find_file(code: Code, place: str) -> Meaning:
    place = "" if place == "." else place
    exact = code.by_path.get(place)
    if exact is not None and exact.dialect.family == "script":
        return module([exact.id])
    stem, dot = posixpath.splitext(place)
    for other in _WRITTEN.get(dot, ()):
        if found := code.by_path.get(stem + other):
            return module([found.id])
    for suffix in _SUFFIXES:
        path = place + suffix if place else suffix.lstrip("/")
        if found := code.by_path.get(path):
            return module([found.id])
    return UNKNOWN


def _join(folder: str, rest: str) -> str:
    if folder or rest:
        return posixpath.normpath(posixpath.join(folder, rest))
    return ""


def _aliases(code: Code, source: SourceFile) -> list[tuple[str, str]]:
    """Prefixes and the folders they stand for, from the nearest compiler settings."""
    folder = source.folder
    while True:
        key = ("paths", folder)
        found = code.derived.get(key)
        if not isinstance(found, list):
            found = code.derived[key] = _read_aliases(code, folder)
        if found or not folder:
            return found
        folder = folder.rpartition("/")[0]


def _read_aliases(code: Code, folder: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name in _CONFIGS:
        path = f"{folder}/{name}" if folder else name
        if path not in code.by_path:
            continue
        text = code.text(path)
        base = match[1] if (match := _BASE.search(text)) else ""
        root = _join(folder, base)
        if block := _BLOCK.search(text):
            for prefix, target in _PATHS.findall(block[1]):
                pairs.append((prefix.removesuffix("*"), _join(root, target.removesuffix("*"))))
        if base:
            pairs.append(("", root))
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _list_packages(code: Code) -> dict[str, str]:
    """Folders of the packages that the repository holds, by name."""
    found = code.derived.get("packages")
    if isinstance(found, dict):
        return found
    names: dict[str, str] = {}
    for source in code.by_basename.get("package.json", ()):
        if "node_modules/" in source.path:
            continue
        try:
            told = json.loads(code.text(source.path))
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and isinstance(told.get("name"), str):
            names.setdefault(told["name"], source.folder)
    code.derived["packages"] = names
    return names


def publish_packages(code: Code) -> list[str]:
    """The names of all packages that the repository holds."""
    return list(_list_packages(code))


def _find_package(code: Code, name: str) -> Meaning:
    parts = name.split("/")
    size = 2 if name.startswith("@") else 1
    folder = _list_packages(code).get("/".join(parts[:size]))
    if folder is None:
        folder = _find_package_folder(code, parts[size - 1])
    if not folder:
        return UNKNOWN
    rest = "/".join(parts[size:])
    if rest:
        inner = [f"src/{rest}", rest]
    else:
        inner = ["src", "src/main", "lib", "", "source"]
    for each in inner:
        if found := _find_file(code, _join(folder, each.removeprefix("lib/"))):
            return found
        if rest and each.startswith("lib/") and (found := _find_file(code, _join(folder, f"src/{each[4:]}"))):
            return found
    return UNKNOWN


def _find_package_folder(code: Code, name: str) -> str:
    """The one folder of sources that has the name of a package whose manifest is not there."""
    key = ("package folder", name)
    kept = code.derived.get(key)
    if isinstance(kept, str):
        return kept
    ends = []
    for each in code.by_folder:
        if each.endswith(f"/{name}/src"):
            ends.append(each)
    found = []
    for each in ends:
        if _find_file(code, each):
            found.append(each.removesuffix("/src"))
    folder = found[0] if len(found) == 1 else ""
    code.derived[key] = folder
    return folder


def _find_by_tail(code: Code, source: SourceFile, name: str) -> Meaning:
    """An alias that no settings explain: the one file that ends like the import."""
    rest = name.lstrip("@~#$").lstrip("/")
    marked = name[0] in "~#$" or name.startswith("@/") or name.startswith(("src/", "app/", "lib/"))
    head, _, below = name.partition("/")
    tails = [rest] if marked else []
    if marked and "/" in rest and not name.startswith(("src/", "app/", "lib/")):
        tails.append(rest.partition("/")[2])
    elif below and not head.startswith("@"):
        tails.append(rest)
    for tail in tails:
        stem = tail.rpartition("/")[2]
        found = []
        for suffix in _SUFFIXES:
            for each in code.by_basename.get(_basename(stem, suffix), ()):
                if each.path == tail + suffix or each.path.endswith(f"/{tail}{suffix}"):
                    found.append(each)
        if found:
            best = max(found, key=lambda each: len(posixpath.commonpath([each.path, source.path])))
            return module([best.id])
    if marked:
        return UNKNOWN
    return FOREIGN


def _basename(stem: str, suffix: str) -> str:
    if suffix.startswith("/"):
        return suffix[1:]
    return stem + suffix
