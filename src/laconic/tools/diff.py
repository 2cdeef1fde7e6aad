"""`diff`: what changed between two states of a repository, by symbol with its risk, or as hunks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from msgspec import structs

from laconic.index.affected.commands import commands
from laconic.index.affected.evidence import has_tests
from laconic.index.affected.impact import MOST, impact_of, reaching
from laconic.index.compare.risk import RISKS, weigh
from laconic.index.compare.symbols import ComparedFile, Comparison, compare
from laconic.index.resolve import Code
from laconic.records import ChangeRisk, FileChange, Impact, SymbolChange
from laconic.reduce.hunks import ChosenHunks, choose
from laconic.render.changes import file_line, hunk_text, symbol_line, totals, within_line
from laconic.render.changes_json import FORMS
from laconic.render.compact_json import Json
from laconic.render.plural import count_of
from laconic.tool_runtime.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.changed_together import read_commit_files
from laconic.workspace.read_file import inside, read_bytes
from laconic.workspace.revisions import INDEX, WORK, changes, read_patched, states
from laconic.workspace.secrets import SECRET, SecretFiles

Asked = Callable[[SymbolChange], Impact | None]
_CONTEXT: Final = 3
_LARGEST: Final = 20_000_000  # bytes of a patch
_PATIENCE: Final = 1.5  # seconds for asking who depends on what changed
_LEVELS: Final = {"minimal": "minimal", "compact": "compact", "short": "compact", "brief": "compact", "full": "full"}


def run(call: ToolCall) -> ToolAnswer:
    wanted = call.text("states")
    if call.text("to"):
        wanted = f"{wanted or 'HEAD'}..{call.text('to')}"
    hunks = call.text("view") == "hunks"
    found = read_changes(call.runtime.root, wanted, call.texts("path"), context=_CONTEXT if hunks else 0)
    files = []
    for file in found:
        files.append(_without_secrets(file, call.runtime.secrets))
    if not files:
        return ToolAnswer(kind="diff", note="nothing changed\n")
    if hunks:
        return by_hunk(files)
    compared = compare(files)
    detail = _LEVELS.get(call.text("budget").lower(), "standard")
    answer = by_symbol(compared, detail, _patient(call.runtime.code))
    tests = ""
    if detail != "minimal":
        tests = tests_for(call.runtime.root, call.runtime.code, compared)
    scope = _scope(call.runtime.root, wanted, compared)
    return replace(answer, note=tests, facts={"scope": scope, "about": answer.head.strip()})


def read_changes(root: Path, wanted: str = "", paths: Sequence[str] = (), *, context: int = 0) -> list[FileChange]:
    """The files that differ; `wanted` names two states, or a patch file."""
    words = wanted.strip()
    if words.endswith((".patch", ".diff")) and inside(root, words).is_file():
        return read_patched(root, read_bytes(root, words, _LARGEST))
    return changes(root, states(root, words), paths, context)


def _scope(root: Path, wanted: str, found: Comparison) -> dict[str, Json]:
    """What was compared, for programs: the two states, how many files, and those whose symbols nobody can tell."""
    made: dict[str, Json] = {"files": len(found.files)}
    if not wanted.strip().endswith((".patch", ".diff")):
        compared = states(root, wanted.strip())
        made |= {"base": compared.old[:12], "target": compared.new[:12], "dirty": compared.new in {WORK, INDEX}}
    unknown = []
    for file in found.files:
        if not file.code:
            unknown.append(file.change.path)
    if unknown:
        made["without_symbols"] = unknown[:20]
    return made


def _without_secrets(file: FileChange, secrets: SecretFiles) -> FileChange:
    """A change as it may be shown: of a file that may hold secrets, only that it changed."""
    if not any(secrets.is_secret(path) for path in (file.path, file.old_path) if path):
        return file
    return structs.replace(file, old=None, new=None, hunks=(), note=f"not shown: {SECRET}")


def by_symbol(found: Comparison, detail: str = "standard", impact: Asked | None = None) -> ToolAnswer:
    """A piece for every symbol under its file, the riskiest first, and one for every other file."""
    items = weigh_changes(found, impact)
    head = f"{totals(len(items), len(found.files), items)}\n"
    heads = {}
    for file in found.files:
        heads[file.change.path] = _head(file)
    if detail == "minimal":
        return ToolAnswer([Piece((f"{line}\n",)) for line in heads.values()], "diff", head, unit="files")
    before = {}
    for file in found.files:
        if file.change.old_path:
            before[file.change.old_path] = heads[file.change.path]
    under = {**before, **heads}  # what is gone from a renamed file stands under its new name
    form = FORMS.get(detail, FORMS["standard"])
    alone = sorted((item for item in items if not item.change.within), key=lambda item: -RISKS.index(item.risk))
    pieces = []
    for item in alone:
        pieces.append(Piece(_texts(item, items, detail), under[item.change.path], _line(item), form(item)))
    told = set()
    for item in alone:
        told.add(under[item.change.path])
    others = []
    for file in found.files:
        if heads[file.change.path] not in told:
            others.append(file.change)
    for one in others:
        pieces.append(Piece((f"{heads[one.path]}\n",), record={"path": one.path, "change": one.status}))
    return ToolAnswer(pieces=pieces, kind="diff", head=head, unit="changes", spread=8.0)


def weigh_changes(found: Comparison, impact: Asked | None = None) -> list[ChangeRisk]:
    """Every changed symbol with its risk."""
    made: list[ChangeRisk] = []
    for change in found.symbols:
        made.append(weigh(change, impact(change) if impact else None))
    return made


def records(found: Comparison, detail: str = "compact", impact: Asked | None = None) -> list[dict[str, Json]]:
    """All changed symbols for programs."""
    form = FORMS.get(detail, FORMS["standard"])
    made: list[dict[str, Json]] = []
    for item in weigh_changes(found, impact):
        made.append(form(item))
    return made


def by_hunk(files: Sequence[FileChange]) -> ToolAnswer:
    """Unified hunks without those of white space only: the first twenty, and a summary of every file."""
    chosen = choose(files)
    total = 0
    for one in chosen:
        total += one.total
    pieces = []
    for one in chosen:
        line = _hunk_head(one)
        for hunk in one.hunks:
            pieces.append(Piece((f"{hunk_text(hunk)}\n",), line, hunk.new_start))
        if not one.hunks:
            pieces.append(Piece((f"{line}\n",)))
    missing = total - sum(len(one.hunks) for one in chosen)
    note = ""
    if missing:
        note = f"{count_of(missing, 'more hunk')}: name a path\n"
    return ToolAnswer(
        pieces=pieces,
        kind="diff",
        head=f"{count_of(len(files), 'file')}, {count_of(total, 'hunk')}\n",
        note=note,
        unit="parts",
        spread=1.0,
    )


def _patient(code: Code) -> Asked:
    """Ask the index about symbols, as long as the answer does not wait too long for it."""
    until = time.monotonic() + _PATIENCE

    def ask(change: SymbolChange) -> Impact | None:
        if time.monotonic() < until:
            return impact_of(code, change)
        return None

    return ask


def _texts(item: ChangeRisk, items: Sequence[ChangeRisk], detail: str) -> tuple[str, ...]:
    """The short form, and the one at the detail that was asked for."""
    short = f"{symbol_line(item, 'compact')}\n"
    if detail == "compact":
        return (short,)
    return (short, f"{_with_members(item, items, detail)}\n")


def tests_for(root: Path, code: Code, found: Comparison) -> str:
    """The lines that say which tests to run, as commands that run as they are printed; empty where there are none."""
    reached = reaching(code, found, read_commit_files(root))
    files = [path for path in reached if has_tests(code, path)] or reached
    rest = ""
    if len(files) > MOST:
        rest = f" # and {count_of(len(files) - MOST, 'more file')}"
    return "".join(f"tests: {command}{rest}\n" for command in commands(root, files[:MOST]))


def _line(item: ChangeRisk) -> int:
    span = item.change.span or item.change.old_span
    if span:
        return span.start
    return 0


def _head(file: ComparedFile) -> str:
    added, removed = _lines(file.change)
    if file.change.status == "added" and file.new:
        added = file.new.parsed.lines
    return file_line(file.change, added, removed, file.imports if file.code else ())


def _hunk_head(one: ChosenHunks) -> str:
    line = file_line(one.change, *_lines(one.change))
    missing = one.total - len(one.hunks)
    line += f"; {count_of(missing, 'hunk')} not shown" if missing else ""
    return line + (f"; {one.blank} of white space only left out" if one.blank else "")


def _lines(change: FileChange) -> tuple[int, int]:
    bodies: list[str] = []
    for hunk in change.hunks:
        bodies.extend(hunk.body)
    return sum(line[:1] == "+" for line in bodies), sum(line[:1] == "-" for line in bodies)


def _with_members(item: ChangeRisk, items: Sequence[ChangeRisk], detail: str) -> str:
    text = symbol_line(item, detail)
    change = item.change
    prefix = f"{change.name}."
    inner = []
    for one in items:
        if (
            one.change.within
            and one.change.path == change.path
            and one.change.name.startswith(prefix)
            and one.change.changes == change.changes
        ):
            inner.append(one)
    if inner:
        return f"{text}\n{within_line(inner)}"
    return text


TOOL = Tool(
    name="diff",
    summary="What changed, by symbol: signatures, bodies, renames, risk, tests",
    help="Compares two states: nothing (the working tree with HEAD), `staged`, `unstaged`, a commit or branch, `A..B`,"
    " `A...B` (since they diverged), `A^!` (one commit), or a patch file. `view=hunks` shows the lines, without hunks"
    " that change only white space. The budget minimal, compact, standard or full sets the level of detail.",
    arguments=(
        Argument(
            "states",
            "text",
            "A..B, A^!, staged, or nothing",
            aliases=(
                "base",
                "from",
                "ref",
                "since",
                "commit",
                "against",
                "range",
                "revision",
                "left",
                "old",
                "patch",
            ),
        ),
        Argument(
            name="to",
            kind="text",
            help="",
            aliases=("target", "head", "right", "new"),
            listed=False,
            explained="the state to compare with",
        ),
        Argument(
            name="path",
            kind="texts",
            help="",
            aliases=("paths", "files", "file"),
            words=False,
            explained="only these files or folders",
        ),
        Argument(
            name="view",
            kind="text",
            help="",
            choices=("symbols", "hunks"),
            default="symbols",
            explained="show changed symbols, or changed lines",
        ),
    ),
    run=run,
    budget=3_000,
    examples=('diff(states="main..topic")', "diff()", 'diff(states="HEAD^!", view="hunks")'),
    aliases="semantic_diff git_diff vcs_diff changes compare what_changed diff_files",
    instead="git_log git_history log history git_show git_status git_blame blame git_commit commit git_add git_stage"
    " git_stage_and_commit git_checkpoint git",
)
