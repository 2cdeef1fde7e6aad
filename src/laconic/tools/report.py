"""`report`: what analysers and test runs complain about, a summary first, then findings with their symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from laconic.config import Settings
from laconic.errors import LaconicError, Unreadable, UsageError
from laconic.index.parse import parse
from laconic.plane.tool import Argument, Piece, Tool, ToolAnswer, ToolCall
from laconic.records import FileChange, Finding, Span
from laconic.reduce.findings import Findings, read
from laconic.reduce.findings.select import MOST, Wanted, page, select, summary
from laconic.render.compact import Json
from laconic.render.report import counts, finding_line, heading
from laconic.workspace.process import run as run_program
from laconic.workspace.programs import find_program, is_within
from laconic.workspace.reading import as_text, read_bytes
from laconic.workspace.revisions import WORK, States, changes, states

_LARGEST: Final = 50_000_000  # bytes of a report
_SECONDS: Final = 300.0
_INSIDE: Final = "Install it outside of the workspace, or the user adds that path to `report.allow`."
_LONGEST: Final = 160  # characters of a line of context


class AnalyserCommand(msgspec.Struct, frozen=True):
    """How one tool is run, and what in a project says that it is used."""

    argv: tuple[str, ...]
    signs: tuple[str, ...]  # files; `file:word` means that the file contains the word


_BOTH: Final = frozenset({"cargo-test", "go-vet", "maven", "gradle"})  # what they say is on both streams
_PYPROJECT: Final = "pyproject.toml"
COMMANDS: Final[dict[str, AnalyserCommand]] = {
    "ruff": AnalyserCommand(
        ("ruff", "check", "--no-fix", "--output-format=json", "."),
        ("ruff.toml", ".ruff.toml", f"{_PYPROJECT}:[tool.ruff"),
    ),
    "mypy": AnalyserCommand(("mypy",), ("mypy.ini", ".mypy.ini", f"{_PYPROJECT}:[tool.mypy", "setup.cfg:[mypy")),
    "pyright": AnalyserCommand(("pyright", "--outputjson"), ("pyrightconfig.json", f"{_PYPROJECT}:[tool.pyright")),
    "pytest": AnalyserCommand(
        ("pytest", "-q", "--no-header", "-rfE"),
        ("pytest.ini", "conftest.py", "tests/conftest.py", f"{_PYPROJECT}:[tool.pytest", "tox.ini:[pytest"),
    ),
    "eslint": AnalyserCommand(
        ("eslint", "-f", "json", "."),
        (".eslintrc.js", ".eslintrc.json", ".eslintrc.cjs", ".eslintrc", "eslint.config.js", "eslint.config.mjs"),
    ),
    "tsc": AnalyserCommand(("tsc", "--noEmit", "--pretty", "false"), ("tsconfig.json",)),
    "cargo-check": AnalyserCommand(("cargo", "check", "--message-format=json"), ("Cargo.toml",)),
    "cargo-test": AnalyserCommand(("cargo", "test", "--no-fail-fast"), ("Cargo.toml",)),
    "go-vet": AnalyserCommand(("go", "vet", "./..."), ("go.mod",)),
    "go-test": AnalyserCommand(("go", "test", "-json", "./..."), ("go.mod",)),
    "maven": AnalyserCommand(("mvn", "-B", "test"), ("pom.xml",)),
    "gradle": AnalyserCommand(("gradle", "test", "--console=plain"), ("build.gradle", "build.gradle.kts")),
}


def find_configured(root: Path) -> list[str]:
    """The tools that a project is set up for."""
    found: list[str] = []
    for name, command in COMMANDS.items():
        if any(_sign(root, sign) for sign in command.signs):
            found.append(name)
    return found


def allowed_tools(settings: Settings) -> list[str]:
    """Names of tools, and full paths of programs inside of workspaces, that the user lets us run."""
    found: list[str] = []
    for part in settings.patterns("report.allow"):
        found += [part] if part.startswith(("/", "~")) or Path(part).is_absolute() else part.split()
    return found


def output_of(root: Path, name: str, allowed: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Run one tool that the user allowed, never through a shell; what it printed."""
    if name not in COMMANDS:
        raise UsageError(
            f"There is no tool {name!r}.", f"Use one of: {', '.join(find_configured(root) or COMMANDS)}."
        )
    program, *words = COMMANDS[name].argv
    inside = _find_allowed_inside(root, program, allowed)
    if not inside and name not in allowed:
        fix = f"The user can allow it: `report.allow` in the settings, now {', '.join(allowed) or 'empty'}."
        raise UsageError(f"Running {name} is not allowed.", fix)
    program = inside or find_program(program, root, environment, fix=_INSIDE)
    done = run_program([program, *words], root, seconds=_SECONDS, environment=environment)
    if name in _BOTH or not done.output.strip():
        return (done.output + b"\n" + done.complaints).decode("utf-8", "replace")
    return done.output.decode("utf-8", "replace")


def _find_allowed_inside(root: Path, program: str, allowed: Sequence[str]) -> str:
    """The program inside this workspace that the user allowed by its full path; empty if there is none."""
    for entry in allowed:
        path = Path(entry).expanduser()
        if path.is_absolute() and path.stem == program and is_within(path, root):
            return str(path)
    return ""


def run(call: ToolCall) -> ToolAnswer:
    root, tool, file = call.plane.root, call.text("run"), call.text("file")
    if tool:
        output = output_of(root, tool, allowed_tools(call.plane.settings))
    elif file:
        output = read_bytes(root, file, _LARGEST).decode("utf-8", "replace")
    else:
        names = ", ".join(find_configured(root)) or "no known tool"
        raise UsageError(f"Which report? This project is set up for: {names}.", "Name `file`, or `run` with a tool.")
    found = locate(root, read(output) if output.strip() else Findings(tool or file, ()))
    if base := call.text("since"):
        found = since(root, found, base)
    wanted = Wanted(
        call.text("severity"), call.text("category"), call.text("rule"), call.text("path"), call.number("start"), MOST
    )
    made = answer(root, found, wanted, context=call.flag("context"))
    if tool:
        kept = call.plane.archive.put(str(root), tool, output.encode(), f"output of {tool}")
        made = replace(made, note=f"{made.note}raw output: {call.ready('recall', kept)}\n")
    return made


def locate(root: Path, found: Findings) -> Findings:
    """The same findings with paths relative to the workspace, and with the symbols they stand in."""
    sources: dict[str, Sequence[tuple[Span, str]]] = {}
    items = []
    for item in found.items:
        path = _relative(root, item.path)
        if path not in sources:
            sources[path] = _symbols(root, path)
        line = 0
        if item.span:
            line = item.span.start
        inside = []
        for span, name in sources[path]:
            if span.start <= line <= span.end:
                inside.append((len(span), name))
        items.append(msgspec.structs.replace(item, path=path, symbol=min(inside)[1] if inside else ""))
    return msgspec.structs.replace(found, items=tuple(items))


def since(root: Path, found: Findings, base: str) -> Findings:
    """Only findings on lines that differ from a commit, or in files that are new since."""
    compared = States(states(root, base).old, WORK)
    touched = {}
    for change in changes(root, compared):
        touched[change.path] = _new_lines(change)
    kept = []
    for item in found.items:
        if item.path in touched and _on(item, touched[item.path]):
            kept.append(item)
    return msgspec.structs.replace(found, items=tuple(kept), claimed=None)


def answer(root: Path, found: Findings, wanted: Wanted, *, context: bool = False) -> ToolAnswer:
    """The summary, and a piece for every finding of the page."""
    chosen = select(found.items, wanted)
    shown = page(chosen, wanted)
    groups = _alike(shown)
    mixed = len({group[0].severity for group in groups}) > 1
    pieces = []
    for group in groups:
        short = f"{finding_line(group, severity=mixed)}\n"
        if context:
            lines = _context(root, group[0])
        else:
            lines = []
        texts = [short]
        if lines:
            texts.append(f"{finding_line(group, severity=mixed, context=lines)}\n")
        line = 0
        if group[0].span:
            line = group[0].span.start
        pieces.append(Piece(tuple(texts), group[0].path or "(no file)", line, _record(group)))
    rest = len(chosen) - max(0, wanted.start) - len(shown)
    note = ""
    if rest > 0:
        note = f"[{rest} more findings after these: start={wanted.start + len(shown)}, or narrow]\n"
    return ToolAnswer(pieces, "report", f"{_summary(found, chosen)}\n", note, unit="findings", spread=2.0)


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


def _relative(root: Path, path: str) -> str:
    top = root.resolve()
    full = Path(path)
    if path and full.is_absolute() and top in full.parents:
        return full.relative_to(top).as_posix()
    return path.removeprefix("./")


def _symbols(root: Path, path: str) -> list[tuple[Span, str]]:
    try:
        data = b""
        if path:
            data = read_bytes(root, path)
    except LaconicError:
        return []
    names: list[str] = []
    found = []
    for one in parse(path, data).definitions:
        around = one.owner
        if 0 <= one.parent < len(names):
            around = names[one.parent]
        names.append(f"{around}.{one.name}" if around else one.name)
        if one.kind not in {"variable", "constant", "field", "key", "heading"}:
            found.append((one.span, names[-1]))
    return found


def _context(root: Path, item: Finding) -> list[str]:
    """The line of a finding with one on each side."""
    if item.span is None or not item.path:
        return []
    try:
        lines = as_text(read_bytes(root, item.path)).split("\n")
    except LaconicError:
        return []
    first = max(1, item.span.start - 1)
    found: list[str] = []
    for number, line in enumerate(lines[first - 1 : item.span.start + 1], first):
        found.append(f"{number}\t{line[:_LONGEST]}")
    return found


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


def _sign(root: Path, sign: str) -> bool:
    name, _, word = sign.partition(":")
    try:
        return (root / name).is_file() and (not word or word.encode() in read_bytes(root, name))
    except Unreadable:
        return False


TOOL = Tool(
    "report",
    "Findings of linters, type checkers, builds and test runs, from a file or by running one",
    "Reads SARIF, JUnit, Checkstyle, PMD and SpotBugs XML, and what ESLint, ruff, mypy, pyright, pytest, tsc, cargo,"
    " go, javac, Maven and Gradle print. The summary comes first; severity, category, rule, path and since narrow it."
    " `run` starts a tool that the setting `report.allow` names; one that lies in the workspace"
    " only if its full path stands there.",
    (
        Argument("file", "text", "", aliases=("report", "output", "source", "input"), listed=True),
        Argument("run", "text", "ruff, pytest, ...", aliases=("tool", "command", "analyser", "analyzer")),
        Argument("severity", "text", "", choices=("error", "warning", "info"), listed=False),
        Argument("category", "text", "", aliases=("type", "kind")),
        Argument("rule", "text", "", aliases=("code", "rule_id", "check"), listed=False),
        Argument("path", "text", "", aliases=("folder", "under", "glob")),
        Argument("since", "text", "", aliases=("base", "baseline", "new_since", "against"), listed=False),
        Argument("start", "number", "", default=0, listed=False),
        Argument("context", "flag", "", default=False, listed=False),
    ),
    run,
    budget=3_000,
    examples=('report(run="ruff")', 'report(file="build/report.xml", severity="error")'),
    aliases="reports analysis get_reports findings lint diagnostics test_results analysis_getreports",
    indexed=False,
    runs=True,
)
