"""Python modules: `a.b` is `a/b.py` or `a/b/__init__.py` below some folder that is not itself a package."""

from __future__ import annotations

from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.meaning import FOREIGN, UNKNOWN, Meaning, module

_ROOTS = frozenset({"", "src", "lib", "python"})


def locate(code: Code, source: SourceFile, name: str) -> Meaning:
    """The module of an import statement, relative or absolute."""
    bare = name.lstrip(".")
    if bare != name:
        folder = source.folder
        for _ in range(len(name) - len(bare) - 1):
            folder = folder.rpartition("/")[0]
        return at(code, "/".join(filter(None, [folder, *bare.split(".")]))) if bare else at(code, folder)
    parts = bare.split(".")
    return _absolute(code, source, parts)


def part(code: Code, whole: Meaning, name: str) -> Meaning:
    """A submodule."""
    return at(code, f"{whole.folder}/{name}") if whole.folder else UNKNOWN


def at(code: Code, place: str) -> Meaning:
    """The module whose files lie at a path without its suffix."""
    for suffix in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
        if found := code.by_path.get(place + suffix):
            stub = code.by_path.get(place + suffix + "i")
            files = [found.id, *([stub.id] if stub else [])]
            return module(files, place if "/__init__" in suffix else "")
    if _has_python(code, place):
        return module([], place)
    return UNKNOWN


def _absolute(code: Code, source: SourceFile, parts: list[str]) -> Meaning:
    tail = "/".join(parts)
    found: list[tuple[int, int, str]] = []
    for base in _bases(code, parts):
        if not _is_root(code, source, base, len(parts)):
            continue
        near = 0 if source.path.startswith(f"{base}/" if base else "") else 1
        found.append((near, -len(base) if near == 0 else len(base), base))
    for _, _, base in sorted(found):
        if meant := at(code, f"{base}/{tail}" if base else tail):
            return meant
    # A package of ours may have parts that we do not see.
    return UNKNOWN if _ours(code, source, parts[0]) else FOREIGN


def _bases(code: Code, parts: list[str]) -> set[str]:
    """The folders below which the module might lie."""
    last, above = parts[-1], parts[:-1]
    bases: set[str] = set()
    for name in (f"{last}.py", f"{last}.pyi"):
        bases.update(_without(each.folder, above) for each in code.by_basename.get(name, ()))
    bases.update(_without(folder, parts) for folder in _packages(code).get(last, ()))
    bases.add("")
    bases.discard("\0")
    return bases


def _packages(code: Code) -> dict[str, list[str]]:
    """Folders that are packages, by their last word."""
    kept = code.derived.get("package folders")
    if isinstance(kept, dict):
        return kept
    found: dict[str, list[str]] = {}
    for name in ("__init__.py", "__init__.pyi"):
        for each in code.by_basename.get(name, ()):
            found.setdefault(each.folder.rpartition("/")[2], []).append(each.folder)
    code.derived["package folders"] = found
    return found


def _without(folder: str, tail: list[str]) -> str:
    if not tail:
        return folder
    end = "/".join(tail)
    if folder == end:
        return ""
    return folder[: -len(end) - 1] if folder.endswith(f"/{end}") else "\0"


def _is_root(code: Code, source: SourceFile, base: str, depth: int) -> bool:
    if base == source.folder:
        return True  # a script sees its neighbours
    if base and f"{base}/__init__.py" in code.by_path:
        return False
    return depth > 1 or base in _ROOTS or source.path.startswith(f"{base}/") or base.rpartition("/")[2] in _ROOTS


def _ours(code: Code, source: SourceFile, name: str) -> bool:
    """Whether the first word of a module is a package of the repository, or a neighbour."""
    kept = code.derived.get("python packages")
    known: set[str] = kept if isinstance(kept, set) else set()
    if not known:
        for each in code.by_basename.get("__init__.py", ()):
            above, _, last = each.folder.rpartition("/")
            if f"{above}/__init__.py".lstrip("/") not in code.by_path:
                known.add(last)
        code.derived["python packages"] = known
    return name in known or f"{source.folder}/{name}.py".lstrip("/") in code.by_path


def _has_python(code: Code, folder: str) -> bool:
    key = ("python folders",)
    kept = code.derived.get(key)
    known: set[str] = kept if isinstance(kept, set) else set()
    if not known:
        for each in code.sources.values():
            above = each.folder if each.language == "python" else ""
            while above and above not in known:
                known.add(above)
                above = above.rpartition("/")[0]
        code.derived[key] = known
    return folder in known
