"""`report`: what analysers and test runs complain about, a summary first, then findings with their symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import LaconicError, UsageError
from laconic.index.parse import parse
from laconic.index.symbol_kinds import LEAVES
from laconic.records import FileChange, Finding, Span
from laconic.reduce.findings import Findings, join_findings, read
from laconic.reduce.findings.findings import plain
from laconic.reduce.findings.select import MOST, FindingFilter, select, summary
from laconic.render.compact_json import Json
from laconic.render.findings import counts, finding_line, heading
from laconic.tool_runtime.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.workspace.analysers import AnalyserRun, allowed_tools, find_configured, find_reports, run_analyser
from laconic.workspace.listing import listing
from laconic.workspace.read_file import as_text, inside, read_bytes, relative
from laconic.workspace.revisions import WORK, ComparedStates, changes, states
from laconic.workspace.secrets import NO_EXCEPTIONS, SecretFiles

_LARGEST: Final = 50_000_000  # bytes of a report
_LONGEST: Final = 160  # characters of a line of context
_TAIL: Final = 40  # lines of the output of a tool that failed without saying what it found
_JAVA: Final = (".java", ".kt", ".groovy", ".scala")


def run(call: ToolCall) -> ToolAnswer:
    root, tool = call.runtime.root, call.text("run")
    done: AnalyserRun | None = None
    if tool:
        done = run_analyser(root, tool, allowed_tools(call.runtime.settings))
        found = _read_run(tool, done)
        found = locate(root, found, ran_in=done.folder, secrets=call.runtime.secrets)
    else:
        found = locate(root, _read_files(root, call.text("file"), call.runtime.secrets), secrets=call.runtime.secrets)
    if base := call.text("since"):
        found = since(root, found, base)
    wanted = FindingFilter(call.text("severity"), call.text("category"), call.text("rule"), call.text("path"))
    made = answer(
        root,
        found,
        wanted,
        context=call.flag("context"),
        offset=max(0, call.number("offset")),
        secrets=call.runtime.secrets,
    )
    if done is None:
        return made
    kept = call.runtime.archive.put(str(root), tool, done.output.encode(), f"output of {tool}")
    note = made.note
    if done.code and not found.items:
        note += _describe_failure(tool, done)
    if done.unprotected:
        note += f"({tool} ran on a copy of the workspace, but could have written here: {done.unprotected})\n"
    if done.changed:
        note += f"(files of the workspace changed while {tool} ran: {', '.join(done.changed[:10])})\n"
    return replace(made, note=f"{note}raw output: {call.ready('recall', kept)}\n")


def _read_run(tool: str, done: AnalyserRun) -> Findings:
    """What a tool found; nothing where it failed before it could look."""
    if done.reports:
        return join_findings([read(text) for text in done.reports])
    if not done.output.strip():
        return Findings(tool, ())
    try:
        return read(done.output)
    except UsageError:
        if not done.code:
            raise
        return Findings(tool, ())


def _describe_failure(tool: str, done: AnalyserRun) -> str:
    """The end of what a tool said that reported nothing and did not succeed."""
    lines = []
    for line in plain(done.output).strip().split("\n"):
        lines.append(line[:_LONGEST])
    said = "\n".join(lines[-_TAIL:])
    return f"{tool} ended with exit code {done.code} and reported nothing. It said:\n{said}\n"


def _read_files(root: Path, file: str, secrets: SecretFiles) -> Findings:
    """The findings of one report, of all that a folder holds, or of those that builds and test runs have left."""
    if file and not inside(root, file).is_dir():
        secrets.check(relative(root, file))
        output = read_bytes(root, file, _LARGEST).decode("utf-8", "replace")
        if output.strip():
            return read(output)
        return Findings(file, ())
    paths = find_reports(root, file)
    if file and not paths:
        paths = []
        for path in _files_in(root, file):
            if path.endswith((".xml", ".sarif", ".json", ".txt")):
                paths.append(path)
    parts: list[Findings] = []
    for path in paths:
        try:
            secrets.check(path)
            parts.append(read(read_bytes(root, path, _LARGEST).decode("utf-8", "replace")))
        except LaconicError:
            continue  # it is no report
    if parts:
        return join_findings(parts)
    if file:
        raise UsageError(
            f"There is no report in {file}.", "Name the file that a tool has written, or a folder of them."
        )
    names = ", ".join(find_configured(root)) or "no known tool"
    raise UsageError(
        f"Which report? None was found below target/, build/ or reports/. This project is set up for: {names}.",
        "Name `file`, or `run` with a tool.",
    )


def _files_in(root: Path, folder: str) -> list[str]:
    place = inside(root, folder)
    return sorted(path.relative_to(root).as_posix() for path in place.iterdir() if path.is_file())


def locate(root: Path, found: Findings, ran_in: Path | None = None, secrets: SecretFiles = NO_EXCEPTIONS) -> Findings:
    """The same findings with paths relative to the workspace, and with the symbols they stand in.

    Reports of Java name a class or a path below some source folder: the file that ends like it is meant.
    """
    sources: dict[str, Sequence[tuple[Span, str]]] = {}
    by_name: dict[str, list[str]] = {}
    items = []
    for item in found.items:
        path = _relative(root, item.path, ran_in)
        if path and not (root / path).is_file():
            if not by_name:
                by_name = _index_names(root)
            path = _find_by_end(path, item.test, by_name)
        if path not in sources:
            sources[path] = _symbols(root, secrets, path)
        line = 0
        if item.span:
            line = item.span.start
        around = []
        for span, name in sources[path]:
            if span.start <= line <= span.end:
                around.append((len(span), name))
        items.append(msgspec.structs.replace(item, path=path, symbol=min(around)[1] if around else ""))
    return msgspec.structs.replace(found, items=tuple(items))


def _index_names(root: Path) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {"": []}
    for file in listing(root):
        by_name.setdefault(file.path.rpartition("/")[2], []).append(file.path)
    return by_name


def _find_by_end(path: str, test: str, by_name: dict[str, list[str]]) -> str:
    """The one file that ends like a path, or like the class of a test; the path itself where there is not just one."""
    known = by_name.get(path.rpartition("/")[2], [])
    package = test.rpartition(".")[0].rpartition(".")[0].replace(".", "/")
    for end in (path, f"{package}/{path}"):
        same = []
        for one in known:
            if one == end or one.endswith(f"/{end}"):
                same.append(one)
        if len(same) == 1:
            return same[0]
    return path


def since(root: Path, found: Findings, base: str) -> Findings:
    """Only findings on lines that differ from a commit, or in files that are new since."""
    compared = ComparedStates(states(root, base).old, WORK)
    touched = {}
    for change in changes(root, compared):
        touched[change.path] = _new_lines(change)
    kept = []
    for item in found.items:
        if item.path in touched and _on(item, touched[item.path]):
            kept.append(item)
    return msgspec.structs.replace(found, items=tuple(kept), claimed=None)


def answer(
    root: Path,
    found: Findings,
    wanted: FindingFilter,
    *,
    context: bool = False,
    offset: int = 0,
    secrets: SecretFiles = NO_EXCEPTIONS,
) -> ToolAnswer:
    """The summary, and a piece for every finding; an answer holds no more than so many of them."""
    chosen = select(found.items, wanted)
    groups = _alike(chosen)
    mixed = len({group[0].severity for group in groups}) > 1
    pieces = []
    for group in groups[: offset + MOST]:
        texts = [f"{finding_line(group, severity=mixed)}\n"]
        if context and (lines := _context(root, secrets, group[0])):
            texts.append(f"{finding_line(group, severity=mixed, context=lines)}\n")
        line = 0
        if group[0].span:
            line = group[0].span.start
        pieces.append(Piece(tuple(texts), group[0].path or "(no file)", line, _record(group)))
    return ToolAnswer(
        pieces=pieces,
        kind="report",
        head=f"{_summary(found, chosen)}\n",
        unit="findings",
        facts={"summary": _figures(found, chosen)},
        total=len(groups),
        spread=2.0,
    )


def _figures(found: Findings, chosen: Sequence[Finding]) -> dict[str, Json]:
    """The summary for programs."""
    numbers = summary(chosen)
    made: dict[str, Json] = {
        "tool": found.tool,
        "total": numbers.total,
        "bySeverity": numbers.severities,
        "topCategories": [{"category": name, "count": n} for name, n in numbers.categories.items()],
        "topFiles": [{"path": name, "count": n} for name, n in numbers.files.items()],
    }
    if found.passed is not None:
        made |= {"passed": found.passed, "skipped": found.skipped}
    return made


def _record(group: Sequence[Finding]) -> dict[str, Json]:
    """A group for programs: nothing empty."""
    item = group[0]
    made: dict[str, Json] = {
        "path": item.path,
        "lines": [one.span.start for one in group if one.span],
        "rule": item.rule,
        "severity": item.severity,
        "category": item.category if item.category != item.rule else "",
        "symbol": item.symbol,
        "test": item.test,
        "message": item.message,
    }
    found: dict[str, Json] = {}
    for key, value in made.items():
        if value not in ("", []):
            found[key] = value
    return found


def _alike(items: Sequence[Finding]) -> list[list[Finding]]:
    """Findings that say the same about one symbol of one file go together, where the first of them stands."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for item in items:
        key = (item.path, item.rule, item.message, item.severity, item.test, item.symbol)
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def _summary(found: Findings, chosen: Sequence[Finding]) -> str:
    numbers = summary(chosen)
    tests = ""
    if found.passed is not None:
        tests = f"; {found.passed} passed" + (f", {found.skipped} skipped" if found.skipped else "")
    lines = [heading(found.tool, numbers.total, numbers.severities, len({i.path for i in chosen if i.path}), tests)]
    if found.claimed is not None and found.claimed != len(found.items):
        lines.append(f"{found.tool} itself counts {found.claimed}; {len(found.items)} could be read.")
    if len(numbers.categories) > 1:
        lines.append(counts("by category", numbers.categories))
    if len(numbers.files) > 1:
        lines.append(counts("by file", numbers.files))
    return "\n".join(lines)


def _relative(root: Path, path: str, ran_in: Path | None) -> str:
    full = Path(path)
    if not path or not full.is_absolute():
        return path.removeprefix("./")
    for top in (root.resolve(), ran_in):
        if top is not None and top in full.parents:
            return full.relative_to(top).as_posix()
    return path


def _symbols(root: Path, secrets: SecretFiles, path: str) -> list[tuple[Span, str]]:
    try:
        data = b""
        if path:
            data = _read_source(root, secrets, path)
    except LaconicError:
        return []
    names: list[str] = []
    found = []
    for one in parse(path, data).definitions:
        around = one.owner
        if 0 <= one.parent < len(names):
            around = names[one.parent]
        names.append(f"{around}.{one.name}" if around else one.name)
        if one.kind not in LEAVES | {"heading"}:
            found.append((one.span, names[-1]))
    return found


def _context(root: Path, secrets: SecretFiles, item: Finding) -> list[str]:
    """The line of a finding with one on each side."""
    if item.span is None or not item.path:
        return []
    try:
        lines = as_text(_read_source(root, secrets, item.path)).split("\n")
    except LaconicError:
        return []
    first = max(1, item.span.start - 1)
    found: list[str] = []
    for number, line in enumerate(lines[first - 1 : item.span.start + 1], first):
        found.append(f"{number}\t{line[:_LONGEST]}")
    return found


def _read_source(root: Path, secrets: SecretFiles, path: str) -> bytes:
    """The file that a finding names, unless it may hold secrets: a report may name any file."""
    secrets.check(relative(root, path))
    return read_bytes(root, path)


def _new_lines(change: FileChange) -> set[int] | None:
    """The lines of a file that are new; None means all."""
    if change.status == "added":
        return None
    found: set[int] = set()
    for hunk in change.hunks:
        found.update(range(hunk.new_start, hunk.new_start + hunk.new_lines))
    return found


def _on(item: Finding, lines: set[int] | None) -> bool:
    return lines is None or (
        item.span is not None and any(n in lines for n in range(item.span.start, item.span.end + 1))
    )


TOOL = Tool(
    name="report",
    summary="Findings from linters, builds and test runs, from files or by running one",
    help="Reads SARIF, JUnit, Checkstyle, PMD and SpotBugs XML, and what ESLint, ruff, mypy, pyright, pytest, tsc, cargo,"
    " go, javac, Maven and Gradle print. Without `file` or `run` it reads what builds and test runs have left below"
    " target/, build/ and reports/; `file` may be a folder. The summary comes first; severity, category, rule, path and"
    " since narrow it. `run` starts a tool that the setting `report.allow` names, on a copy of the workspace: the tool"
    " cannot change your files. Maven or Gradle run Checkstyle, PMD and SpotBugs if the build is set up for them."
    " `report` starts a tool inside the workspace (`gradlew`, `mvnw`) only if the setting has its full path.",
    arguments=(
        Argument(
            name="file",
            kind="text",
            help="",
            aliases=("report", "output", "source", "input"),
            listed=True,
            explained="a report, or a folder of them",
        ),
        Argument("run", "text", "ruff, pytest, ...", aliases=("tool", "command", "analyser", "analyzer")),
        Argument(
            name="severity",
            kind="text",
            help="",
            choices=("error", "warning", "info"),
            listed=False,
            explained="this severity or worse",
        ),
        Argument(
            name="category",
            kind="text",
            help="",
            aliases=("type", "kind"),
            explained="only findings of this category",
        ),
        Argument(
            name="rule",
            kind="text",
            help="",
            aliases=("code", "rule_id", "check"),
            listed=False,
            explained="only findings of this rule, as a glob",
        ),
        Argument(
            name="path",
            kind="text",
            help="",
            aliases=("folder", "under", "glob"),
            explained="only findings below this path",
        ),
        Argument(
            name="since",
            kind="text",
            help="",
            aliases=("base", "baseline", "new_since", "against"),
            listed=False,
            explained="only findings on lines that differ from this commit",
        ),
        Argument(
            name="context",
            kind="flag",
            help="",
            default=False,
            listed=False,
            explained="show the lines around each finding",
        ),
    ),
    run=run,
    budget=3_000,
    examples=('report(run="ruff")', 'report(file="build/report.xml", severity="error")'),
    aliases="reports analysis get_reports findings lint diagnostics test_results analysis_getreports",
    indexed=False,
    runs=True,
)
