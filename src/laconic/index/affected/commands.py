"""Commands that run some test files with the runners of their project.

Names of files and crates are a stranger's, and somebody may run these commands in a shell: every name is quoted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from laconic.errors import WorkspaceError
from laconic.workspace.read_file import as_text, read_bytes


def commands(root: Path, files: Sequence[str]) -> list[str]:
    """Commands of the project's runners for some test files."""
    made = []
    python = []
    for path in files:
        if path.endswith(".py"):
            python.append(path)
    if python:
        made.append(f"pytest {_join(python)}")
    script = []
    for path in files:
        if re.search(r"\.[cm]?[jt]sx?$", path):
            script.append(path)
    if script:
        made.append(f"{_script_runner(root)} {_join(script)}")
    go = dict.fromkeys(f"./{path.rpartition('/')[0]}".rstrip("/") for path in files if path.endswith(".go"))
    if go:
        made.append(f"go test {_join(go)}")
    if rust := [path for path in files if path.endswith(".rs")]:
        made.append(_cargo(root, rust))
    if java := [path for path in files if path.endswith((".java", ".kt", ".groovy", ".scala"))]:
        gradle = any((root / name).is_file() for name in ("build.gradle", "build.gradle.kts", "settings.gradle.kts"))
        made += _gradle(root, java) if gradle else [_maven(root, java)]
    ruby = []
    for path in files:
        if path.endswith(".rb"):
            ruby.append(path)
    if ruby:
        runner = "rspec" if any("spec" in path for path in ruby) else "ruby -Itest"
        made.append(f"bundle exec {runner} {_join(ruby)}")
    return made


def _join(names: Iterable[str]) -> str:
    return " ".join(_quote(name) for name in names)


def _quote(name: str) -> str:
    """A name as one word, which no program takes for an option."""
    if name.startswith("-"):
        name = f"./{name}"
    return shlex.quote(name)


def _cargo(root: Path, files: Sequence[str]) -> str:
    """Crates of a workspace are named; tests of their own are, where nothing else has to run."""
    crates = dict.fromkeys(_crate(root, path) for path in files)
    words: list[str] = []
    for name in crates:
        if name:
            words.extend(("-p", _quote(name)))
    if words and "" in crates:
        words = ["--workspace"]
    whole = []
    for path in files:
        if re.search(r"(?:^|/)tests/[^/]+\.rs$", path):
            whole.append(Path(path).stem)
    if len(whole) == len(files):
        for name in dict.fromkeys(whole):
            words.extend(("--test", _quote(name)))
    return " ".join(["cargo test", *words])


def _crate(root: Path, path: str) -> str:
    """The name of the crate that a file of a workspace belongs to; empty for the one at the top."""
    for folder in list(Path(path).parents)[:-1]:
        try:
            text = as_text(read_bytes(root, str(folder / "Cargo.toml")))
        except WorkspaceError:
            continue
        named = re.search(r'^name\s*=\s*"([^"]+)"', text, re.MULTILINE)
        if named:
            return named[1]
        return folder.name
    return ""


def _maven(root: Path, files: Sequence[str]) -> str:
    program = "mvn"
    if (root / "mvnw").is_file():
        program = "./mvnw"
    modules = dict.fromkeys(module for path in files if (module := _module(path)))
    where = ""
    if modules:
        where = f" -pl {_quote(','.join(modules))} -am -Dsurefire.failIfNoSpecifiedTests=false"
    tests = ",".join(Path(path).stem for path in files)
    return f"{program}{where} test -Dtest={shlex.quote(tests)}"


def _gradle(root: Path, files: Sequence[str]) -> list[str]:
    """One command for each module: a filter belongs to one task."""
    program = "gradle"
    if (root / "gradlew").is_file():
        program = "./gradlew"
    modules: dict[str, list[str]] = {}
    for path in files:
        modules.setdefault(_module(path), []).append(f"--tests {_quote('*' + Path(path).stem)}")
    tasks = {}
    for module in modules:
        tasks[module] = f":{module.replace('/', ':')}:test" if module else "test"
    found: list[str] = []
    for module, names in modules.items():
        found.append(f"{program} {_quote(tasks[module])} {' '.join(names)}")
    return found


def _module(path: str) -> str:
    """The folder of a module, as builds for Java lay them out."""
    before, found, _ = path.partition("src/test/")
    if found:
        return before.rstrip("/")
    return ""


def _script_runner(root: Path) -> str:
    try:
        text = as_text(read_bytes(root, "package.json"))
    except WorkspaceError:
        return "npx jest"
    return next(
        (f"npx {name}" for name in ("vitest run", "jest", "mocha", "ava") if f'"{name.split()[0]}"' in text),
        "npm test --",
    )
