"""Go packages: a folder is a package; an import path is the module's name and the folder below it."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.meaning import FOREIGN, Meaning, module

_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The package of an import path."""
    for prefix, folder in _modules(code):
        if name == prefix or name.startswith(f"{prefix}/"):
            inner = name[len(prefix) + 1 :]
            place = "/".join(filter(None, [folder, inner]))
            if files := package_files(code, place):
                return module(files, place)
    if _modules(code):
        return FOREIGN
    folder = next((each for each in code.by_folder if each and name.endswith(f"/{each}")), "")
    return module(package_files(code, folder), folder) if folder else FOREIGN


def package_files(code: Code, folder: str) -> list[int]:
    """The Go files of a folder."""
    return [each.id for each in code.by_folder.get(folder, ()) if each.language == "go"]


def _modules(code: Code) -> list[tuple[str, str]]:
    """Module names with their folders, the longest first."""
    found = code.derived.get("go modules")
    if isinstance(found, list):
        return found
    pairs = [
        (match[1], each.folder)
        for each in code.by_basename.get("go.mod", ())
        if (match := _MODULE.search(code.text(each.path)))
    ]
    pairs.sort(key=lambda pair: -len(pair[0]))
    code.derived["go modules"] = pairs
    return pairs
