"""Tests to run for a change, as commands."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.index.affected.commands import commands
from laconic.index.affected.impact import reaching
from laconic.index.compare.symbols import compare
from laconic.records import FileChange
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools


@pytest.mark.feature("C3")
def test_tests_that_reach_a_change_come_before_those_that_are_farther(tmp_path: Path, settings: Settings) -> None:
    old = "def base():\n    return 1\n\n\ndef middle():\n    return base()\n"
    files = {
        "pkg/core.py": old.replace("return 1", "return 2"),
        "tests/test_direct.py": "from pkg.core import base\n\n\ndef test_base():\n    assert base()\n",
        "tests/test_far.py": "from pkg.core import middle\n\n\ndef test_middle():\n    assert middle()\n",
        "tests/test_core.py": "def test_nothing():\n    pass\n",
        "tests/test_other.py": "def test_other():\n    pass\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        runtime.index.build()
        found = compare([FileChange("pkg/core.py", "changed", old=old.encode(), new=files["pkg/core.py"].encode())])
        assert reaching(runtime.code, found) == ["tests/test_direct.py", "tests/test_core.py", "tests/test_far.py"]
        with_past = reaching(
            runtime.code, found, [["pkg/core.py", "tests/test_other.py"], ["a", "tests/test_far.py"]]
        )
        assert sorted(with_past) == sorted(name for name in files if name.startswith("tests/"))
    finally:
        runtime.close()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["tests/test_a.py", "tests/b_test.py"], ["pytest tests/test_a.py tests/b_test.py"]),
        (["src/a.test.ts"], ["npx vitest run src/a.test.ts"]),
        (["pkg/a_test.go", "pkg/b_test.go", "c_test.go"], ["go test ./pkg ."]),
        (["tests/it.rs"], ["cargo test --test it"]),
        (["src/test/java/x/ATest.java"], ["mvn test -Dtest=ATest"]),
        (
            ["core/src/test/java/x/ATest.java"],
            ["mvn -pl core -am -Dsurefire.failIfNoSpecifiedTests=false test -Dtest=ATest"],
        ),
        (["tests/it.rs", "crates/one/src/a.rs"], ["cargo test --workspace"]),
        (["crates/one/src/a.rs", "crates/one/tests/it.rs"], ["cargo test -p one-lib"]),
        (["spec/a_spec.rb"], ["bundle exec rspec spec/a_spec.rb"]),
        (["README.md"], []),
    ],
)
def test_each_runner_gets_its_command(tmp_path: Path, files: list[str], expected: list[str]) -> None:
    (tmp_path / "package.json").write_text('{"devDependencies": {"vitest": "1"}}')
    (tmp_path / "crates/one").mkdir(parents=True)
    (tmp_path / "crates/one/Cargo.toml").write_text('[package]\nname = "one-lib"\n')
    assert commands(tmp_path, files) == expected


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_$(touch x).py",
        "tests/a; touch x;.test.ts",
        "pkg`touch x`/a_test.go",
        "tests/`touch x`.rs",
        "core & touch x/src/test/java/x/ATest.java",
        "src/test/java/x/A$(touch x)Test.java",
        "spec/a\ntouch x\n_spec.rb",
        "-c touch x/src/test_a.py",
        "crates/one/src/a.rs",
    ],
)
@pytest.mark.parametrize("gradle", [False, True])
def test_no_name_runs_anything_in_a_shell(tmp_path: Path, path: str, gradle: bool) -> None:
    """A model or a person may run what is proposed."""
    (tmp_path / "crates/one").mkdir(parents=True)
    (tmp_path / "crates/one/Cargo.toml").write_text('[package]\nname = "one; touch x"\n')
    if gradle:
        (tmp_path / "build.gradle").touch()
    (command,) = commands(tmp_path, [path])
    for program in ("pytest", "npx", "go", "cargo", "mvn", "gradle", "bundle"):
        command = f"{program}() {{ :; }}; {command}"
    subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, check=True)
    assert not (tmp_path / "x").exists()


def test_manifests_that_must_not_be_opened_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "Cargo.toml").symlink_to("/dev/zero")
    assert commands(tmp_path, ["a.test.js", "a/b.rs"]) == ["npx jest a.test.js", "cargo test"]


def test_modules_of_gradle_get_a_command_each_by_the_wrapper_of_the_project(tmp_path: Path) -> None:
    for name in ("settings.gradle.kts", "gradlew"):
        (tmp_path / name).touch()
    files = ["a/b/src/test/java/ATest.java", "src/test/kotlin/BTest.kt", "a/b/src/test/java/CTest.java"]
    assert commands(tmp_path, files) == [
        "./gradlew :a:b:test --tests '*ATest' --tests '*CTest'",
        "./gradlew test --tests '*BTest'",
    ]
