"""What a call is about: reading, searching, changing, running; which files; what it replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

Kind = Literal["read", "search", "edit", "run", "report", "task", "other"]

_NAMES: Final[dict[Kind, str]] = {  # as many agents call their tools, without case and separators
    "read": "read view readfile openfile viewfile fsread notebookread cat inspect context recall readmanyfiles",
    "search": "grep glob search find ls list listdir listfiles grepsearch codebasesearch filesearch searchfiles "
    "searchfilecontent listdirectory lsp toolsearch map trace",
    "edit": "edit write multiedit notebookedit editfile writefile createfile applypatch create strreplaceeditor "
    "strreplacebasededittool replace searchreplace patch insert",
    "run": "bash shell executebash bashexecute execcommand runterminalcmd runcommand localshell runshellcommand "
    "shellcommand writestdin terminal exec bashoutput execute run",
    "report": "task agent webfetch websearch fetch skill taskoutput",
    "task": "todowrite todoread taskcreate taskupdate tasklist taskget updateplan writetodos",
}
_KINDS: Final[dict[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_FILES: Final = ("file_path", "path", "filePath", "notebook_path", "filename", "file", "target_file", "absolute_path")
_COMMANDS: Final = ("command", "cmd", "script")
_CONTEXT: Final = ("-A", "-B", "-C", "context")
_PATCHES: Final = ("input", "patch", "command")
_IN_PATCH: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.M)
_OLD: Final = ("old_string", "oldText", "old_str", "oldString", "old_text", "search")
_NEW: Final = ("new_string", "newText", "new_str", "newString", "new_text", "replace")
_IN_COMMAND: Final = re.compile(r"[\w@~./\-]*[\w\-]\.[A-Za-z]\w{0,5}\b|(?:/[\w.\-]+)+|[\w.\-]+(?:/[\w.\-]+)+")
_NAMED: Final = re.compile(r"[\w\-]+\.[A-Za-z]\w{0,5}\b")
_LOOKED_AT: Final = 2000  # characters of a command in which paths are looked for
_SHOWS: Final = re.compile(r"\s*(?:cd [^&;\n]*(?:&&|;)\s*)?(?:cat|sed -n|head|tail|nl|bat|less)\b(?!\s*(?:>|<<))")
_SHOWS_EACH: Final = re.compile(  # `for f in *.md; do cat $f; done`, `find . -name x -exec cat {} +`, `ls; cat x`
    r"\s*(?:cd [^&;\n]*(?:&&|;)\s*)?(?:for|find|ls|echo|pwd|wc)\b.*?"
    r"(?:[;&\n]\s*|\bdo\s+|-exec\s+|xargs\s+)(?:cat|sed -n|head|nl)\b(?!\s*(?:>|<<))",
    re.S,
)
_SEARCHES: Final = re.compile(r"\s*(?:cd [^&;\n]*(?:&&|;)\s*)?(?:grep|egrep|rg|ag|git grep|find|fd|ls|tree)\b")
_SHELL: Final = re.compile(r"(?:\S*/)?(?:ba|z|da|k)?sh -[a-z]*c")
_AROUND: Final = re.compile(r"\s(?:-[a-zA-Z]*[ABC] ?\d|--(?:after-|before-)?context\b)")
_FETCHES: Final = re.compile(r"\s*(?:cd [^&;\n]*(?:&&|;)\s*)?(?:gh (?:api|pr|issue)|curl|wget)\b")
_CHANGES: Final = re.compile(r"sed -i|cat\s*>|<<|\btee\b|write_text|apply_patch|open\([^)]*['\"][wa]")
_TEST: Final = re.compile(r"test|spec", re.I)
_DOCUMENT: Final = re.compile(r"\.(?:md|mdx|rst|txt|adoc|json|ya?ml|toml|mod|ini|cfg)$", re.I)


class ToolUse(msgspec.Struct, frozen=True):
    """One call, understood as far as the policy needs it."""

    kind: Kind
    files: frozenset[str] = frozenset()  # the last two parts of each path: as agents name files
    names: frozenset[str] = frozenset()  # file names alone
    changes: bool = False  # it writes to those files
    test: bool = False  # one of them is a test
    document: bool = False  # one of them is prose or settings, no code
    fetched: bool = False  # what a command got from elsewhere: comments, tickets, pages
    old: tuple[str, ...] = ()  # lines that it replaced
    new: tuple[str, ...] = ()  # lines that stand there now
    target: str = ""  # what a tombstone names: a path, a pattern, a command
    shell: bool = False  # a search that a command did
    around: bool = False  # a search that shows the lines around its hits


NOTHING: Final = ToolUse("other")


def about(name: str, arguments: Mapping[str, object] | str) -> ToolUse:
    """Understand a call."""
    kind = kind_of(name)
    if isinstance(arguments, str):
        arguments = {"command": arguments}
    paths = {value for field in _FILES if isinstance(value := arguments.get(field), str) and value}
    paths |= _list_files(arguments)
    command = next((text for field in _COMMANDS if (text := _command(arguments.get(field)))), "")
    changes = kind == "edit"
    if kind == "edit":
        patches = [value for field in _PATCHES if isinstance(value := arguments.get(field), str)]
        paths.update(path.strip() for patch in patches for path in _IN_PATCH.findall(patch))
    if kind == "edit" and command == "view":
        kind, changes = "read", False
    elif kind == "run":
        paths.update(path for path in _IN_COMMAND.findall(command[:_LOOKED_AT]) if len(path) > 3)
        changes = _CHANGES.search(command) is not None
        if not changes and (_SHOWS.match(command) or _SHOWS_EACH.match(command[:_LOOKED_AT])):
            kind = "read"
        elif not changes and _SEARCHES.match(command):
            kind = "search"
    old, new = _first(arguments, _OLD), _first(arguments, _NEW)
    for one in _edits(arguments):
        old, new = f"{old}\n{one.get('find') or ''}".strip("\n"), f"{new}\n{one.get('text') or ''}".strip("\n")
    files = frozenset("/".join(path.rstrip("/").split("/")[-2:]) for path in paths)
    return ToolUse(
        kind=kind,
        files=files,
        names=frozenset(file.rsplit("/", 1)[-1] for file in files),
        changes=changes,
        test=any(_TEST.search(file) for file in files),
        document=any(_DOCUMENT.search(file) for file in files),
        fetched=kind == "run" and _FETCHES.match(command) is not None,
        old=tuple(old.split("\n")) if old and changes else (),
        new=tuple(new.split("\n")) if new and changes else (),
        target=_target(arguments, command),
        shell=kind == "search" and bool(command),
        around=kind == "search" and _shows_around(arguments, command[:_LOOKED_AT]),
    )


def kind_of(name: str) -> Kind:
    """By name: case, separators and an MCP prefix do not matter."""
    plain = re.sub(r"[^a-z]", "", name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].lower())
    return _KINDS.get(plain, "other")


def is_old(field: str) -> bool:
    """Whether an argument holds text that the call replaced."""
    return field in _OLD


def is_plan(what: ToolUse, arguments: Mapping[str, object] | str) -> bool:
    """Whether a call says what is to be done: a task list, or a plan that the user is asked to accept."""
    return what.kind == "task" or (isinstance(arguments, dict) and isinstance(arguments.get("plan"), str))


def find_named(text: str) -> set[str]:
    """Names of files that a text mentions."""
    return set(_NAMED.findall(text))


def _shows_around(arguments: Mapping[str, object], command: str) -> bool:
    """Whether a search was asked for the lines around its hits."""
    return any(arguments.get(field) for field in _CONTEXT) or _AROUND.search(command) is not None


def _list_files(arguments: Mapping[str, object]) -> set[str]:
    """Files in the lists of our own tools: `path:40-80` and `path::Name` to read, records with a path to edit."""
    targets = arguments.get("targets")
    if isinstance(targets, list):
        listed = targets
    else:
        listed = [targets]
    paths = set()
    for target in listed:
        if isinstance(target, str):
            paths.add(target.split(":", 1)[0])
    paths |= {path for one in _edits(arguments) if isinstance(path := one.get("path"), str)}
    found: set[str] = set()
    for each in paths:
        if each:
            found.add(each)
    return found


def _edits(arguments: Mapping[str, object]) -> list[dict[str, object]]:
    edits = arguments.get("edits")
    if isinstance(edits, list):
        return [one for one in edits if isinstance(one, dict)]
    return []


def _first(arguments: Mapping[str, object], fields: Iterable[str]) -> str:
    for field in fields:
        if isinstance(value := arguments.get(field), str):
            return value
    return ""


def _command(value: object) -> str:
    if isinstance(value, list):  # Codex passes the words, often those that start a shell
        words = [str(word) for word in value]
        if len(words) == 3 and _SHELL.fullmatch(" ".join(words[:2])):
            return words[2]
        return " ".join(words)
    if isinstance(value, str):
        return value
    return ""


def _target(arguments: Mapping[str, object], command: str) -> str:
    for field in (*_FILES, "pattern", "query", "url", "description"):
        if isinstance(value := arguments.get(field), str) and value:
            return value
    return command.strip().split("\n", 1)[0] or ", ".join(sorted(_list_files(arguments)))
