"""Linters, type checkers, builds and test runs: which a project is set up for, how to run them, where they leave reports.

They run on a copy of the workspace, for which the workspace itself is read-only: none of them can change it, however it
is set up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec

from laconic.config import Settings
from laconic.errors import CommandFailed, Unreadable, UsageError
from laconic.workspace.listing import listing
from laconic.workspace.process import run
from laconic.workspace.programs import find_program, is_within
from laconic.workspace.read_file import read_bytes
from laconic.workspace.read_only import protect
from laconic.workspace.working_copy import find_changed, working_copy

_SECONDS: Final = 300.0
_INSIDE: Final = "Install it outside of the workspace, or the user adds that path to `report.allow`."
_DEEPEST: Final = 8  # folders below the top in which reports are looked for
_MOST_REPORTS: Final = 400
_WITHOUT: Final = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "src", "vendor"})
_REPORTS: Final = (
    "target/surefire-reports/TEST-*.xml", "target/failsafe-reports/TEST-*.xml", "target/checkstyle-result.xml",
    "target/pmd.xml", "target/cpd.xml", "target/spotbugsXml.xml", "build/test-results/*.xml",
    "build/reports/checkstyle/*.xml", "build/reports/pmd/*.xml", "build/reports/spotbugs/*.xml", "*.sarif",
    "junit.xml", "junit-*.xml", "test-results/*.xml", "reports/*.xml", "reports/*.json",
)  # fmt: skip
_WRAPPERS: Final = {"mvn": "mvnw", "gradle": "gradlew"}  # scripts of the project that fetch the right version
_PYPROJECT: Final = "pyproject.toml"
_MYPY_FILES: Final = ("mypy.ini", ".mypy.ini", _PYPROJECT, "setup.cfg")
_MYPY_TARGETS: Final = re.compile(rb"\[(?:tool\.)?mypy\][^\[]*?^(?:files|packages|modules)\s*=", re.MULTILINE)
_QUIET: Final = {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}


class AnalyserCommand(msgspec.Struct, frozen=True):
    """How one tool is run, and what in a project says that it is used."""

    argv: tuple[str, ...]
    signs: tuple[str, ...]  # files; `file:word` means that the file contains the word
    both: bool = False  # what it says is on both streams
    leaves: tuple[str, ...] = ()  # where it writes its reports, if not to a stream
    targets: tuple[str, ...] = ()  # given where the project does not say what is to be looked at


class AnalyserRun(msgspec.Struct, frozen=True):
    """What a tool printed, and how it ended."""

    output: str
    code: int
    folder: Path  # where it ran, as its output names it
    changed: tuple[str, ...] = ()  # files of the workspace that changed meanwhile
    reports: tuple[str, ...] = ()  # texts of the files in which it left its findings
    unprotected: str = ""  # why the workspace was not read-only for it


COMMANDS: Final[dict[str, AnalyserCommand]] = {
    "ruff": AnalyserCommand(
        ("ruff", "check", "--no-fix", "--output-format=json", "."),
        ("ruff.toml", ".ruff.toml", f"{_PYPROJECT}:[tool.ruff"),
    ),
    "mypy": AnalyserCommand(
        ("mypy", "--no-pretty", "--show-error-codes"),
        ("mypy.ini", ".mypy.ini", f"{_PYPROJECT}:[tool.mypy", "setup.cfg:[mypy"),
        targets=(".",),
    ),
    "pyright": AnalyserCommand(("pyright", "--outputjson"), ("pyrightconfig.json", f"{_PYPROJECT}:[tool.pyright")),
    "pytest": AnalyserCommand(
        ("pytest", "-q", "--no-header", "-rfE"),
        ("pytest.ini", "conftest.py", "tests/conftest.py", f"{_PYPROJECT}:[tool.pytest", "tox.ini:[pytest"),
        both=True,
    ),
    "eslint": AnalyserCommand(
        ("eslint", "-f", "json", "."),
        (".eslintrc.js", ".eslintrc.json", ".eslintrc.cjs", ".eslintrc", "eslint.config.js", "eslint.config.mjs"),
    ),
    "tsc": AnalyserCommand(("tsc", "--noEmit", "--pretty", "false"), ("tsconfig.json",)),
    "cargo-check": AnalyserCommand(("cargo", "check", "--message-format=json"), ("Cargo.toml",)),
    "cargo-test": AnalyserCommand(("cargo", "test", "--no-fail-fast"), ("Cargo.toml",), both=True),
    "go-vet": AnalyserCommand(("go", "vet", "./..."), ("go.mod",), both=True),
    "go-test": AnalyserCommand(("go", "test", "-json", "./..."), ("go.mod",)),
    "maven": AnalyserCommand(("mvn", "-B", "test"), ("pom.xml",), both=True),
    "gradle": AnalyserCommand(
        ("gradle", "test", "--console=plain", "--no-daemon"), ("build.gradle", "build.gradle.kts"), both=True
    ),
    "checkstyle": AnalyserCommand(("checkstyle", "-c", "checkstyle.xml", "-f", "xml", "."), ("checkstyle.xml",)),
    "pmd": AnalyserCommand(
        ("pmd", "check", "-d", ".", "-R", "pmd.xml", "-f", "xml", "--no-progress", "--no-cache"), ("pmd.xml",)
    ),
    "spotbugs": AnalyserCommand(
        ("spotbugs", "-textui", "-xml:withMessages", "-exclude", "spotbugs-exclude.xml", "."),
        ("spotbugs-exclude.xml",),
    ),
}

_MAVEN: Final = ("mvn", "-B", "--fail-never")
_GRADLE: Final = ("gradle", "--continue", "--console=plain", "--no-daemon")
_GRADLE_FILES: Final = ("build.gradle", "build.gradle.kts")


def _built_by(name: str, goals: tuple[str, ...], plugin: str, result: str) -> tuple[AnalyserCommand, ...]:
    """An analyser of Java as Maven runs it, and as Gradle does."""
    maven = AnalyserCommand(
        argv=(*_MAVEN, *goals), signs=(f"pom.xml:{plugin}",), both=True, leaves=(f"target/{result}",)
    )
    signs = []
    for file in _GRADLE_FILES:
        signs.append(f"{file}:{name}")
    gradle = AnalyserCommand(
        argv=(*_GRADLE, f"{name}Main"), signs=tuple(signs), both=True, leaves=(f"build/reports/{name}/*.xml",)
    )
    return maven, gradle


# Analysers of Java that the build of a project runs, with the settings that it has for them.
BUILD_COMMANDS: Final[dict[str, tuple[AnalyserCommand, ...]]] = {
    "checkstyle": _built_by(
        "checkstyle", ("checkstyle:checkstyle",), "maven-checkstyle-plugin", "checkstyle-result.xml"
    ),
    "pmd": _built_by("pmd", ("pmd:pmd",), "maven-pmd-plugin", "pmd.xml"),
    "spotbugs": _built_by("spotbugs", ("compile", "spotbugs:spotbugs"), "spotbugs-maven-plugin", "spotbugsXml.xml"),
}


def find_configured(root: Path) -> list[str]:
    """The tools that a project is set up for."""
    found: list[str] = []
    for name, command in COMMANDS.items():
        if _is_set_up(root, command) or choose_command(root, name) is not command:
            found.append(name)
    return found


def choose_command(root: Path, name: str) -> AnalyserCommand:
    """How a tool is run here: by the build of the project if that knows it, else by itself."""
    for command in BUILD_COMMANDS.get(name, ()):
        if _is_set_up(root, command):
            return command
    return COMMANDS[name]


def _is_set_up(root: Path, command: AnalyserCommand) -> bool:
    return any(_has_sign(root, sign) for sign in command.signs)


def allowed_tools(settings: Settings) -> list[str]:
    """Names of tools, and full paths of programs inside of workspaces, that the user lets us run."""
    found: list[str] = []
    for part in settings.patterns("report.allow"):
        if part.startswith(("/", "~")) or Path(part).is_absolute():
            found.append(part)
        else:
            found += part.split()
    return found


def run_analyser(
    root: Path, name: str, allowed: Sequence[str], environment: Mapping[str, str] | None = None
) -> AnalyserRun:
    """Run one tool that the user allowed on a copy of the workspace, never through a shell."""
    if name not in COMMANDS:
        raise UsageError(
            f"There is no tool {name!r}.", f"Use one of: {', '.join(find_configured(root) or COMMANDS)}."
        )
    command = choose_command(root, name)
    program, *words = command.argv
    if command.targets and not _names_targets(root):
        words += command.targets
    inside = _find_allowed_inside(root, program, allowed)
    if inside is None and name not in allowed:
        fix = f"The user can allow it: `report.allow` in the settings, now {', '.join(allowed) or 'empty'}."
        raise UsageError(f"Running {name} is not allowed.", fix)
    if inside is None:
        inside = _find_outside(root, program, environment)
    before = listing(root)
    with working_copy(root) as copy:
        if inside.name in _WRAPPERS.values():
            inside = copy / inside.name  # it works where it lies
        words, unprotected = protect([str(inside), *words], root, copy, environment)
        done = run(words, copy, seconds=_SECONDS, environment={**_QUIET, **(environment or {})})
        output = done.output
        if command.both or not output.strip():
            output += b"\n" + done.complaints
        return AnalyserRun(
            output=output.decode("utf-8", "replace"),
            code=done.code,
            folder=copy,
            changed=tuple(find_changed(root, before)),
            reports=tuple(_read_left(copy, command.leaves)),
            unprotected=unprotected,
        )


def _find_outside(root: Path, program: str, environment: Mapping[str, str] | None) -> Path:
    try:
        return Path(find_program(program, root, environment, fix=_INSIDE))
    except CommandFailed as error:
        wrapper = root / _WRAPPERS.get(program, "")
        if wrapper.is_file():
            error.fix = f"The project has its own: the user can add {wrapper} to `report.allow`."
        raise


def _read_left(copy: Path, patterns: Sequence[str]) -> Iterator[str]:
    """The reports that a tool has left in the copy; what was built before is not there."""
    for path in find_reports(copy):
        if any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for pattern in patterns):
            yield read_bytes(copy, path).decode("utf-8", "replace")


def find_reports(root: Path, folder: str = "") -> list[str]:
    """The reports that builds and test runs have left, in the places where these tools leave them."""
    found: list[str] = []
    for path in _walk(root, folder):
        if any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for pattern in _REPORTS):
            found.append(path)
    return sorted(found)[:_MOST_REPORTS]


def _walk(root: Path, folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(root / folder):
        inner = Path(place).relative_to(root)
        folders[:] = [name for name in folders if name not in _WITHOUT and len(inner.parts) < _DEEPEST]
        for name in names:
            yield (inner / name).as_posix()


def _find_allowed_inside(root: Path, program: str, allowed: Sequence[str]) -> Path | None:
    """The program inside this workspace that the user allowed by its full path."""
    for entry in allowed:
        path = Path(entry).expanduser()
        if path.is_absolute() and path.stem in {program, _WRAPPERS.get(program)} and is_within(path, root):
            return path
    return None


def _names_targets(root: Path) -> bool:
    """Whether the settings for mypy say what it is to check."""
    for name in _MYPY_FILES:
        with suppress(Unreadable):
            if (root / name).is_file() and _MYPY_TARGETS.search(read_bytes(root, name)):
                return True
    return False


def _has_sign(root: Path, sign: str) -> bool:
    name, _, word = sign.partition(":")
    try:
        return (root / name).is_file() and (not word or word.encode() in read_bytes(root, name))
    except Unreadable:
        return False
