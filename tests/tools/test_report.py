"""`report`: a summary first, then findings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.config import Settings, load
from laconic.errors import CommandFailed, UsageError
from laconic.records import Finding, Span
from laconic.reduce.findings import Findings, read
from laconic.reduce.findings.select import MOST, FindingFilter
from laconic.tool_runtime.compose import compose
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import report, tools
from laconic.workspace import analysers

CODE = "class Box:\n    def get(self):\n        return 1\n\n\ndef free():\n    return 2\n"


def cost(text: str) -> int:
    return len(text.split())


def text(root: Path, found: Findings, wanted: FindingFilter, budget: int = 10_000, *, context: bool = False) -> str:
    made = report.answer(root, found, wanted, context=context)
    return compose(made, budget, cost, more=lambda start: f"offset {start}").text


def many(count: int, path: str = "a.py") -> Findings:
    items = [
        Finding(path, f"R{i % 3}", ("error", "warning")[i % 2], f"C{i % 3}", f"m{i}", "x", Span(i + 1, i + 1))
        for i in range(count)
    ]
    return Findings("x", tuple(items), count)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path


@pytest.mark.feature("J4", "J11")
def test_the_summary_comes_first_with_totals_severities_and_categories(root: Path) -> None:
    answer = text(root, many(9), FindingFilter())
    assert answer.startswith("x: 9 findings (5 errors, 4 warnings) in 1 file\nby category: C0 3, C1 3, C2 3\na.py\n")


@pytest.mark.feature("J4")
def test_findings_are_filtered_and_paged_and_never_more_than_two_hundred(root: Path) -> None:
    found = many(500)
    lines = text(root, found, FindingFilter(), 100_000).splitlines()
    assert sum(": m" in line for line in lines) == MOST
    assert lines[-1] == "[200 of 500 findings; more: offset 200]"
    page = text(root, found, FindingFilter(category="c1", severity="error"))
    assert sum(": m" in line for line in page.splitlines()) == 83
    assert "C0" not in page
    assert text(root, found, FindingFilter(path="other")) == "x: 0 findings\n"


@pytest.mark.feature("J4")
@pytest.mark.parametrize("budget", [60, 100, 400])
def test_the_budget_holds(root: Path, budget: int) -> None:
    assert cost(text(root, many(300), FindingFilter(), budget)) <= budget


@pytest.mark.feature("J4")
def test_a_finding_names_its_symbol_and_shows_three_lines(root: Path) -> None:
    item = Finding(str(root.resolve() / "a.py"), "R", "error", "C", "bad", "x", Span(3, 3))
    found = report.locate(root, Findings("x", (item,)))
    assert (found.items[0].path, found.items[0].symbol) == ("a.py", "Box.get")
    answer = text(root, found, FindingFilter(), context=True)
    assert "3 R in Box.get: bad\n  2\t    def get(self):\n  3\t        return 1\n  4\t" in answer


def test_findings_that_say_the_same_share_a_line(root: Path) -> None:
    items = tuple(Finding("a.py", "R", "error", "C", "bad", "x", Span(n, n)) for n in (2, 5, 9))
    assert "2,5,9 R: bad" in text(root, Findings("x", items), FindingFilter())


def test_a_count_that_differs_from_the_tools_own_is_said(root: Path) -> None:
    assert "itself counts 7; 1 could be read" in text(root, Findings("x", many(1).items, 7), FindingFilter())


@pytest.mark.feature("J4")
def test_only_new_findings_against_a_commit(root: Path) -> None:
    def git(*args: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *args], cwd=root, check=True, capture_output=True
        )

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    (root / "a.py").write_text(CODE.replace("return 2", "return 3"))
    (root / "new.py").write_text("x = 1\n")
    items = tuple(
        Finding(p, "R", "error", "C", "m", "x", Span(n, n)) for p, n in (("a.py", 3), ("a.py", 7), ("new.py", 1))
    )
    kept = report.since(root, Findings("x", items), "HEAD")
    assert [(item.path, item.span) for item in kept.items] == [("a.py", Span(7, 7)), ("new.py", Span(1, 1))]


def test_tools_run_only_when_allowed_and_configured_ones_are_named(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.ruff]\n[tool.mypy]\n")
    assert analysers.find_configured(root) == ["ruff", "mypy"]
    with pytest.raises(UsageError, match="not allowed"):
        analysers.run_analyser(root, "ruff", [])
    with pytest.raises(UsageError, match="no tool 'rm'"):
        analysers.run_analyser(root, "rm", ["rm"])
    with pytest.raises(CommandFailed, match="not installed"):
        analysers.run_analyser(root, "eslint", ["eslint"])


def test_a_tool_of_the_projects_own_environment_is_not_run_by_name(root: Path) -> None:
    """Whoever made the project made that program too; its name alone is no consent."""
    program = local(root, "#!/bin/sh\ntouch sprung\n")
    with pytest.raises(CommandFailed, match=r"only inside the workspace \(.*ruff\).*report\.allow"):
        analysers.run_analyser(root, "ruff", ["ruff"], {"PATH": f"{program.parent}:.venv/bin:/usr/bin:/bin"})
    assert not (root / "sprung").exists()


def test_a_full_path_allows_a_program_of_the_workspace_that_holds_it_and_no_other(root: Path, tmp_path: Path) -> None:
    program = local(root, "#!/bin/sh\necho '[]'\n")
    assert analysers.run_analyser(root, "ruff", [str(program)]).output == "[]\n"
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(UsageError, match="Running ruff is not allowed"):
        analysers.run_analyser(other, "ruff", [str(program)])
    with pytest.raises(UsageError, match="Running mypy is not allowed"):
        analysers.run_analyser(root, "mypy", [str(program)])


def test_paths_with_spaces_and_names_stand_side_by_side_in_the_setting(tmp_path: Path) -> None:
    given = load(flags={"report.allow": "ruff pytest, /my code/.venv/bin/mypy"}, environ={}, file=tmp_path / "none")
    assert analysers.allowed_tools(given) == ["ruff", "pytest", "/my code/.venv/bin/mypy"]


@pytest.mark.feature("J4")
@pytest.mark.parametrize("written", ['"ruff, pytest"', '"ruff pytest"', '["ruff", "pytest"]'])
def test_tools_are_allowed_by_a_text_or_by_a_list(tmp_path: Path, written: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[report]\nallow = {written}\n")
    assert analysers.allowed_tools(load(environ={}, file=file)) == ["ruff", "pytest"]


@pytest.mark.feature("J4")
def test_mypy_looks_at_all_of_a_project_that_names_no_files(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.mypy]\nwarn_return_any = true\n[tool.setuptools]\npackages = []\n")
    (root / "wrong.py").write_text("x: int = 'a'\n")
    program = root / "mypy"
    program.symlink_to(Path(sys.executable).with_name("mypy"))
    assert "wrong.py:1" in analysers.run_analyser(root, "mypy", [str(program)]).output


def test_a_linter_that_is_set_up_to_fix_changes_no_file(root: Path) -> None:
    program = local(root, "")
    (root / "pyproject.toml").write_text("[tool.ruff]\nfix = true\n")
    (root / "bad.py").write_text("import os\n")
    assert "F401" in analysers.run_analyser(root, "ruff", [str(program)]).output
    assert (root / "bad.py").read_text() == "import os\n"


def test_a_tool_that_writes_everywhere_changes_no_file_of_the_workspace(root: Path) -> None:
    """Whatever a linter is set up to do: it works on a copy."""
    program = local(
        root, "#!/bin/sh\necho 'x = 1' > a.py; rm -f b.py; mkdir made; echo \"$PWD/a.py:1:1: F401 unused\"\n"
    )
    (root / "b.py").write_text("y = 1\n")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    done = analysers.run_analyser(root, "ruff", [str(program)])
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert done.changed == ()
    found = report.locate(root, read(done.output), done.folder)
    assert found.items[0].path == "a.py"


@pytest.mark.feature("J4")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_tool_that_writes_by_full_path_or_through_a_link_changes_no_file(root: Path) -> None:
    """The workspace is read-only for it: also folders that the copy only links, and for processes that it leaves."""
    script = (
        f"#!/bin/sh\necho 'x = 1' > {root}/a.py; echo x > .venv/made; echo x > {root}/made\n"
        f"(echo late > {root}/late) & wait; chmod 777 {root}/a.py; rm -rf {root}/.venv; mv {root}/a.py {root}/b.py\n"
        f"mount -o remount,rw {root}; umount {root}; echo x > /proc/1/root{root}/made; echo '[]'\n"
    )
    program = local(root, script)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    done = analysers.run_analyser(root, "ruff", [str(program)])
    assert done.output == "[]\n"
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert (done.changed, done.unprotected) == ((), "")


def test_without_a_sandbox_that_is_said_and_a_file_that_changes_is_named(root: Path) -> None:
    program = local(root, f"#!/bin/sh\necho 'x = 1' > {root}/a.py; echo '[]'\n")
    done = analysers.run_analyser(root, "ruff", [str(program)], {"PATH": "/nowhere"})
    assert (done.changed, done.unprotected) == (("a.py",), "bubblewrap is not installed")


@pytest.mark.feature("J4", "J10")
@pytest.mark.parametrize(
    "words",
    [
        "spotbugs gradlew build.gradle spotbugsMain core/build/reports/spotbugs/main.xml",
        "pmd gradlew build.gradle.kts pmdMain build/reports/pmd/main.xml",
        "checkstyle mvnw pom.xml checkstyle:checkstyle core/target/checkstyle-result.xml",
        "spotbugs mvnw pom.xml spotbugs:spotbugs target/spotbugsXml.xml",
    ],
)
def test_spotbugs_pmd_and_checkstyle_are_run_by_the_wrapper_of_the_project(
    root: Path, tmp_path: Path, words: str
) -> None:
    tool, wrapper, build, task, left = words.split()
    (root / build).write_text("<artifactId>maven-checkstyle-plugin spotbugs-maven-plugin</artifactId> pmd spotbugs\n")
    sample = Path(__file__).parent.parent / "corpus" / "reports" / f"{tool}.xml"
    old = root / left
    old.parent.mkdir(parents=True)
    old.write_text(
        "<checkstyle><file name='old'><error line='1' severity='error' message='old'/></file></checkstyle>"
    )
    (root / "core").mkdir(exist_ok=True)
    (root / "core" / "A.java").write_text("class A {}\n")
    (root / ".gitignore").write_text("build\ntarget\n")
    program = root / wrapper
    program.write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = {task} ] && found=1; done; [ "$found" ] || exit 9\n'
        f"mkdir -p {Path(left).parent} && cp {sample} {left} && echo BUILD FAILED >&2; exit 1\n"
    )
    program.chmod(0o755)
    assert tool in analysers.find_configured(root)
    allowed = load(
        flags={"cache_dir": str(tmp_path / "cache"), "report.allow": str(program)}, environ={}, file=tmp_path / "x"
    )
    runtime = ToolRuntime(root, allowed, tools())
    try:
        said = json.loads(runtime.call("report", {"run": tool, "format": "json"}).text)
        expected = read(sample.read_text())
        assert said["summary"]["tool"] == tool
        assert said["summary"]["total"] == len(expected.items) > 0
        assert sum(said["summary"]["bySeverity"].values()) == len(expected.items)
        assert "old" not in {finding["message"] for finding in said["findings"]}
    finally:
        runtime.close()


@pytest.mark.feature("J4")
def test_the_wrapper_of_a_project_is_named_where_its_build_is_not_installed(root: Path) -> None:
    (root / "build.gradle").write_text("plugins { id 'checkstyle' }\n")
    (root / "gradlew").write_text("#!/bin/sh\n")
    with pytest.raises(CommandFailed, match=r"gradle is not installed.*gradlew to `report\.allow`"):
        analysers.run_analyser(root, "checkstyle", ["checkstyle"], {"PATH": "/nowhere"})


@pytest.mark.feature("J4")
def test_a_broken_conftest_shows_its_error(root: Path) -> None:
    program = Path(sys.executable).with_name("pytest")
    (root / "conftest.py").write_text("import no_such_module_anywhere\n")
    (root / "test_a.py").write_text("def test_a():\n    pass\n")
    done = analysers.run_analyser(root, "pytest", ["pytest"], {"PATH": f"{program.parent}:/usr/bin:/bin"})
    found = report.locate(root, read(done.output), done.folder)
    assert [(item.path, item.span, item.message) for item in found.items] == [
        ("conftest.py", Span(1, 1), "ModuleNotFoundError: No module named 'no_such_module_anywhere'")
    ]


@pytest.mark.feature("J4", "J10")
def test_reports_below_target_and_build_are_found_and_their_classes_mapped(root: Path, settings: Settings) -> None:
    source = root / "core" / "src" / "test" / "java" / "com" / "shop" / "CartTest.java"
    source.parent.mkdir(parents=True)
    source.write_text("package com.shop;\n\nclass CartTest {\n    void adds() {\n        fail();\n    }\n}\n")
    results = root / "core" / "target" / "surefire-reports"
    results.mkdir(parents=True)
    failure = '<failure message="boom">at com.shop.CartTest.adds(CartTest.java:5)</failure>'
    case = f'<testcase classname="com.shop.CartTest" name="adds">{failure}</testcase>'
    (results / "TEST-com.shop.CartTest.xml").write_text(f'<testsuite tests="1" failures="1">{case}</testsuite>')
    styled = root / "web" / "build" / "reports" / "checkstyle"
    styled.mkdir(parents=True)
    error = '<error line="2" severity="warning" message="Missing a comment." source="a.b.JavadocCheck"/>'
    (styled / "main.xml").write_text(f'<checkstyle><file name="{root}/a.py">{error}</file></checkstyle>')
    runtime = ToolRuntime(root, settings, tools())
    try:
        said = runtime.call("report", {}).text
        assert said.startswith("junit, checkstyle: 2 findings (1 error, 1 warning) in 2 files; 0 passed\n")
        assert (
            "core/src/test/java/com/shop/CartTest.java\n5 error failure com.shop.CartTest.adds in CartTest.adds: boom\n"
            in said
        )
        folder = runtime.call("report", {"file": "web/build", "format": "json"}).text
        assert json.loads(folder)["summary"] == {
            "tool": "checkstyle",
            "total": 1,
            "bySeverity": {"warning": 1},
            "topCategories": [{"category": "b", "count": 1}],
            "topFiles": [{"path": "a.py", "count": 1}],
        }
    finally:
        runtime.close()


@pytest.mark.feature("J4")
def test_messages_that_mypy_breaks_over_lines_keep_their_rule() -> None:
    output = (
        "a.py:3: error: Incompatible types in assignment (expression has type\n"
        '"str", variable has type "int")  [assignment]\n    x: int = ""\n             ^~\n'
        'b.py:1: error: Name "y" is not defined  [name-defined]\n    y\n    ^\n'
        "Found 2 errors in 2 files (checked 2 source files)\n"
    )
    found = read(output)
    assert [(item.rule, item.category) for item in found.items] == [("assignment",) * 2, ("name-defined",) * 2]
    assert found.items[0].message.endswith('variable has type "int")')


def local(root: Path, script: str) -> Path:
    """The `ruff` of a project's own environment: a script, or the real one."""
    program = root / ".venv" / "bin" / "ruff"
    program.parent.mkdir(parents=True)
    if not script:
        program.symlink_to(Path(sys.executable).with_name("ruff"))
        return program
    program.write_text(script)
    program.chmod(0o755)
    return program


@pytest.mark.feature("J4")
def test_the_output_of_a_tool_can_be_recalled(root: Path, tmp_path: Path) -> None:
    program = local(root, "")
    (root / "bad.py").write_text("import os\n")
    allowed = load(
        flags={"cache_dir": str(tmp_path / "cache"), "report.allow": str(program)}, environ={}, file=tmp_path / "x"
    )
    runtime = ToolRuntime(root, allowed, tools())
    try:
        reply = runtime.call("report", {"tool": "ruff"})
        assert "ruff: 1 finding (1 error) in 1 file\nbad.py\n1 F401" in reply.text
        ref = reply.text.rpartition("recall(")[2].partition(")")[0]
        assert '"F401"' in runtime.call("recall", {"ref": ref}).text
    finally:
        runtime.close()


def test_the_tool_says_what_the_project_is_set_up_for(root: Path, settings: Settings) -> None:
    (root / "go.mod").write_text("module x\n")
    runtime = ToolRuntime(root, settings, tools())
    try:
        assert "go-vet, go-test" in runtime.call("report", {}).text
        assert "not allowed" in runtime.call("report", {"run": "go-vet"}).text
    finally:
        runtime.close()


def test_the_command(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "out.txt").write_text("a.py:3:9: F821 Undefined name `x`\nFound 1 error.\n")
    config = tmp_path / "config.toml"
    config.write_text(f'cache_dir = "{tmp_path / "cache"}"\n')
    assert main(["report", "--config", str(config), "--root", str(root), "out.txt"]) == 0
    out = capsys.readouterr().out
    assert out == "ruff: 1 finding (1 error) in 1 file\na.py\n3 F821 in Box.get: Undefined name `x`\n"
