"""`map`: the shape of a repository, a folder or a file, at the level that was asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from laconic.errors import UnknownName
from laconic.index.gradle_catalogue import find_places, name_modules, read_catalogue
from laconic.index.project import Project, is_manifest, project
from laconic.index.public_api import find_public_names
from laconic.index.search.lookup import suggest_paths
from laconic.index.store import File
from laconic.render.compact_json import Json
from laconic.render.escape_control import visible_name
from laconic.render.plural import count_of
from laconic.tool_runtime.exploration import explore
from laconic.tool_runtime.outline import outline
from laconic.tool_runtime.source import open_file
from laconic.tool_runtime.tool import AT, WORKSPACE, Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.read_file import relative

_ENTRY_NAMES: Final = frozenset(
    {
        "__main__.py",
        "main.py",
        "manage.py",
        "app.py",
        "cli.py",
        "main.go",
        "main.rs",
        "lib.rs",
        "index.ts",
        "index.js",
    }
    | {
        "main.ts",
        "main.js",
        "server.js",
        "server.ts",
        "Main.java",
        "Application.java",
        "Program.cs",
        "main.c",
        "main.cpp",
    }
)
_NAMED: Final = 24  # dependencies and commands of one manifest that are named
_ALONE: Final = 6  # manifests of one kind below the top that have lines of their own; more are told together
_ASIDE: Final = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|docs?|tests?|benchmarks?)/")


def run(call: ToolCall) -> ToolAnswer:
    path = call.text("path").strip() or "."
    runtime, inner = call.runtime.find_place(path)
    if runtime is not call.runtime:
        call, path = replace(call, runtime=runtime), inner or "."
    place = relative(call.runtime.root, path)
    target = call.runtime.root / place
    if target.is_file():
        file = open_file(call, place)
        symbols = outline(call, file)
        note = ""
        if not symbols:
            note = f"{place} has {count_of(len(file.lines), 'line')} and no symbols; {call.ready('read', place)}\n"
        return ToolAnswer(pieces=symbols, kind="outline", note=note, unit="symbols", paths=(place,), spread=1_000.0)
    if not target.is_dir():
        found = explore(call, path, deep=False) if _is_subject(path) else None
        if found is not None:
            return found
        raise UnknownName("file or folder", path, tuple(suggest_paths(call.runtime.index.store, [path])))
    if place == ".":
        prefix = ""
    else:
        prefix = f"{place}/"
    files = [file for file in call.runtime.index.store.files() if file.path.startswith(prefix)]
    pieces = [*_about(call, files, prefix), *_tree(files, prefix)]
    lines = sum(file.lines for file in files)
    head = f"{prefix or call.runtime.root.name + '/'} {count_of(len(files), 'file')}, {count_of(lines, 'line')}\n"
    return ToolAnswer(pieces=pieces, kind="map", head=head, unit="entries", spread=2.0, grouped=False)


def _is_subject(path: str) -> bool:
    """Whether words rather than a path were given."""
    return not re.search(r"[/\\*]|\.\w+$", path)


def _about(call: ToolCall, files: list[File], prefix: str) -> list[Piece]:
    """What stands before the tree: languages, manifests, entry points, tests, public names, what is left aside."""
    lines = Counter[str]()
    for file in files:
        lines[file.language or "text"] += file.lines
    languages = ", ".join(f"{name} {count}" for name, count in lines.most_common(8))
    if languages:
        pieces = [_line("languages", languages)]
    else:
        pieces = []
    manifests = []
    for file in files:
        if is_manifest(file.path) and (found := _manifest(call, file)) is not None:
            manifests.append(found)
    pieces += _projects(sorted(manifests, key=lambda found: found.path.count("/")))
    said = {entry for found in manifests for entry in found.entries}
    entries = []
    for file in files:
        if _is_entry(file) or file.path in said:
            entries.append(file.path)
    if entries:
        ordered = sorted(entries, key=lambda path: (path.count("/"), path))
        pieces.append(_size_piece("entry points", ordered, 8))
    tests = Counter(_top(file.path, prefix) for file in files if file.file_class == "test")
    if tests:
        pieces.append(_line("tests", ", ".join(f"{folder} {count}" for folder, count in tests.most_common(8))))
    public = find_public_names(call.runtime.index.store, prefix, lambda path: open_file(call, path).source.text)
    if public:
        pieces.append(_size_piece("public API", public, 12))
    aside = Counter(file.reason for file in files if file.state in {"skipped", "failed"})
    if aside:
        pieces.append(_line("not indexed", ", ".join(f"{reason}: {count}" for reason, count in aside.most_common(4))))
    return pieces


def _is_entry(file: File) -> bool:
    if file.path.rpartition("/")[2] not in _ENTRY_NAMES or file.file_class != "source":
        return False
    return not _ASIDE.search(file.path)


def _projects(manifests: Sequence[Project]) -> list[Piece]:
    """One piece a manifest; where there are many of a kind below the top, one for all of them."""
    below: dict[str, list[Project]] = {}
    for found in manifests:
        if "/" in found.path:
            below.setdefault(found.kind, []).append(found)
    pieces: list[Piece] = []
    for found in manifests:
        if "/" not in found.path or len(below[found.kind]) <= _ALONE:
            pieces.append(_project(found))
    for kind, group in below.items():
        if len(group) > _ALONE:
            pieces.append(_many_projects(kind, group))
    return pieces


def _many_projects(kind: str, group: Sequence[Project]) -> Piece:
    folders = []
    for found in group:
        folders.append(found.path.rpartition("/")[0])
    folders = list(dict.fromkeys(folders))  # one may have a manifest for its settings too
    lines = ""
    for found in group:
        lines += _project(found).texts[-1]
    short = f"{kind}: {count_of(len(group), 'manifest')} below\n"
    record: dict[str, Json] = {"what": "projects", "kind": kind} | _listed("folders", folders)
    return Piece((short, f"{short[:-1]}: {', '.join(folders)}\n", lines), record=record)


def _line(name: str, text: str) -> Piece:
    record: dict[str, Json] = {"what": name, "text": text}
    return Piece((f"{name}: {text}\n",), record=record)


def _size_piece(name: str, items: list[str], few: int) -> Piece:
    record: dict[str, Json] = {"what": name, "items": list(items)}
    full = f"{name}: {', '.join(items)}\n"
    if len(items) <= few:
        return Piece((full,), record=record)
    short = f"{name}: {', '.join(items[:few])} and {len(items) - few} more\n"
    return Piece((short, full), record=record)


def _manifest(call: ToolCall, file: File) -> Project | None:
    if file.size > 400_000:
        return None
    found = project(file.path, open_file(call, file.path).source.text)
    if found is None or found.kind != "Gradle":
        return found
    for place in find_places(file.path):
        if call.runtime.index.store.file(place) is not None:
            catalogue = read_catalogue(open_file(call, place).source.text)
            return structs.replace(found, dependencies=name_modules(found.dependencies, catalogue))
    return found


def _project(found: Project) -> Piece:
    title = " ".join(word for word in (found.path, found.kind, found.name, found.version) if word)
    parts = []
    for label, names in (("needs", found.dependencies), ("runs", found.commands), ("modules", found.modules)):
        if names:
            more = ""
            if len(names) > _NAMED:
                more = f" and {len(names) - _NAMED} more"
            parts.append(f"{label} {', '.join(names[:_NAMED])}{more}")
    record: dict[str, Json] = {"what": "project", "path": found.path, "kind": found.kind, "name": found.name}
    record |= _listed("dependencies", found.dependencies) | _listed("commands", found.commands)
    if not parts:
        return Piece((f"{title}\n",), record=record)
    counts = ", ".join(f"{len(names)} {label}" for label, names in (("dependencies", found.dependencies),) if names)
    return Piece((f"{title}{': ' + counts if counts else ''}\n", f"{title}: {'; '.join(parts)}\n"), record=record)


def _listed(name: str, items: Sequence[str]) -> dict[str, Json]:
    """A list as a record has it: a long one would take the room of all that comes behind it."""
    record: dict[str, Json] = {name: list(items[:_NAMED])}
    if len(items) > _NAMED:
        record[f"{name}_more"] = len(items) - _NAMED
    return record


def _top(path: str, prefix: str) -> str:
    parts = path[len(prefix) :].split("/")
    return prefix + (parts[0] + "/" if len(parts) > 1 else parts[0])


def _tree(files: Iterable[File], prefix: str) -> list[Piece]:
    """One piece a folder: its files by name, or only their number."""
    folders: dict[str, list[File]] = {}
    for file in files:
        folders.setdefault(file.path.rpartition("/")[0], []).append(file)
    pieces = []
    for folder, members in sorted(folders.items(), key=lambda item: (_weight(item[1]), item[0].count("/"), item[0])):
        name = "./"
        if folder:
            name = f"{visible_name(folder)}/"
        names = sorted(visible_name(file.path.rpartition("/")[2]) for file in members)
        record: dict[str, Json] = {"d": name, "n": len(names), "c": list(names)}
        full = f"{name} {' '.join(names)}\n"
        short = f"{name} {count_of(len(names), 'file')}\n"
        pieces.append(Piece((short, full) if len(short) < len(full) else (full,), record=record))
    return pieces


def _weight(files: list[File]) -> int:
    """Sources first, then tests and documents, then what others wrote."""
    classes = set()
    for file in files:
        classes.add(file.file_class)
    if "source" in classes:
        return 0
    if classes & {"test", "doc", "config"}:
        return 1
    return 2


TOOL = Tool(
    name="map",
    summary="Overview of the repository, a folder, or a file's outline",
    help="Without a path: languages, manifests with dependencies, entry points, tests, public names and the tree, one"
    " line per folder. With a folder: the same below it. With a file: its symbols with their spans. With words: how that"
    " works here.",
    arguments=(
        Argument(
            name="path",
            kind="text",
            help="",
            aliases=("root", "target", "targets", "scope", "module"),
            explained="a folder, a file, or words (default: the whole repository)",
        ),
        replace(WORKSPACE, listed=False),
        AT,
    ),
    run=run,
    budget=1_000,
    examples=("map()", 'map(path="src/app/models.py")'),
    aliases="map_repo tree list_dir ls list_files outline read_scaffold get_symbols overview "
    "get_symbols_overview project_meta repo_map list_directory file_outline document_symbols",
)
