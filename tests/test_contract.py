"""The rules of the architecture that a machine can hold."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "laconic"
BENCHMARKS = ROOT / "benchmarks" / "laconic_benchmarks"


def _offenders(pattern: str, *allowed: str, source: Path = SOURCE) -> list[str]:
    rule = re.compile(pattern, re.MULTILINE)
    return [
        path.relative_to(source).as_posix()
        for path in sorted(source.rglob("*.py"))
        if not path.relative_to(source).as_posix().startswith(allowed) and rule.search(path.read_text("utf-8"))
    ]


def test_only_config_reads_the_environment() -> None:
    assert _offenders(r"os\.environ|getenv") == ["config.py"]
    assert _offenders(r"os\.environ|getenv", source=BENCHMARKS) == []


def test_only_commands_print() -> None:
    assert _offenders(r"^\s*print\(|sys\.stdout\.write", "cli/") == []
    assert _offenders(r"^\s*print\(|sys\.stdout\.write", "command.py", source=BENCHMARKS) == []


def test_only_tokens_knows_a_tokenizer() -> None:
    assert _offenders(r"import (splintr|tiktoken)|from (splintr|tiktoken)", "tokens/") == []


def test_no_token_guessing() -> None:
    assert _offenders(r"len\([a-z_.]+\) *// *[34]\b|/ *3\.5\b", "tokens/") == []


def test_only_the_store_speaks_sql_to_an_index() -> None:
    """`health` examines SQLite itself, in memory."""
    assert _offenders(r"store\.connection", "index/store/") == []
    assert _offenders(r"store\.connection", source=BENCHMARKS) == []
    assert _offenders(r"\.execute\(", "store/", source=SOURCE / "index") == ["health.py"]


def test_only_one_module_starts_git() -> None:
    assert _offenders(r"""(?:\[|run\(|find_program\()\(?["']git["']""") == ["workspace/git.py"]


def test_programs_are_found_in_one_way() -> None:
    """The client's own configuration is checked as the client reads it; `setup` only asks if we are installed."""
    assert _offenders(r"shutil\.which", "clients/", "cli/commands/setup.py") == []


def _public_classes() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] == "bench":
            continue
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        found.update(node.name for node in nodes if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    return found


def test_a_public_class_name_is_defined_once() -> None:
    """A name finds one class."""
    twice = {name for name, count in _public_classes().items() if count > 1}
    assert twice == set()


@pytest.mark.parametrize(
    ("module", "fault"),
    [
        ("tokens/planted.py", "from laconic.cli import main\n"),
        ("reduce/planted.py", "import sqlite3\n"),
        ("render/planted.py", "from laconic.reduce import fit\n"),
        ("cli/planted.py", "import laconic_benchmarks\n"),
    ],
    ids=["upward", "input-output", "neighbour", "benchmarks"],
)
def test_a_planted_fault_breaks_the_import_contract(tmp_path: Path, module: str, fault: str) -> None:
    """The contract fails when an import points up, sideways, out of a pure layer, or to the benchmarks."""
    shutil.copytree(SOURCE, tmp_path / "laconic", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    linter = [
        sys.executable,
        "-c",
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()",
    ]

    def lint() -> subprocess.CompletedProcess[str]:
        return subprocess.run([*linter, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert lint().returncode == 0
    (tmp_path / "laconic" / module).write_text(fault, "utf-8")
    broken = lint()
    assert broken.returncode == 1
    assert "BROKEN" in broken.stdout


def _measure_sentences() -> tuple[int, Counter[str]]:
    lines, found = 0, Counter[str]()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        lines += text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.IfExp):
                found["conditional"] += 1
                found["nested"] += sum(isinstance(inner, ast.IfExp) for inner in ast.walk(node)) - 1
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                found["comprehension"] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                found["longest"] = max(found["longest"], length)
    return lines, found


def test_lines_say_one_thing() -> None:
    """Conditions and loops are statements, but for the short ones; functions can be seen at once."""
    lines, found = _measure_sentences()
    assert found["nested"] == 0
    assert 1000 * found["conditional"] / lines <= 17
    assert 1000 * found["comprehension"] / lines <= 20
    assert found["longest"] <= 60


def test_every_package_that_is_imported_is_declared() -> None:
    """What another package happens to bring may be gone with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {_distribution(row) for row in project["dependencies"]}
    for extra in project["optional-dependencies"].values():
        for row in extra:
            declared.add(_distribution(row))
    missing = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for module in _imported(path):
            if module in sys.stdlib_module_names or module == "laconic":
                continue
            names = {_distribution(name) for name in packages_distributions().get(module, ())}
            if names and not names & declared:
                missing[module] = path.relative_to(SOURCE).as_posix()
    assert missing == {}


def _distribution(requirement: str) -> str:
    """The name in a requirement, in its normal form; a pool that comes as an extra of its package is named by it."""
    name = re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-").replace(".", "-")
    return {"psycopg-pool": "psycopg", "psycopg-binary": "psycopg"}.get(name, name)


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
