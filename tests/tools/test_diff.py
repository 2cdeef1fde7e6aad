"""`diff` on a real repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from laconic.config import Settings
from laconic.errors import UnknownName, Unreadable
from laconic.index.compare.symbols import compare
from laconic.tool_runtime.compose import compose
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic.tools.diff import by_hunk, by_symbol, read_changes, records

CODE = "def one(a):\n    return a\n\n\ndef two(b):\n    return b + one(b)\n"
Git = Callable[..., None]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    def run(*args: str) -> None:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *named, *args], cwd=tmp_path, check=True, capture_output=True)

    run("init", "-q")
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "notes.md").write_text("# Title\n\ntext\n")
    (tmp_path / "pic").write_bytes(b"\0one")
    run("add", "-A")
    run("commit", "-qm", "first")
    return run


def cost(text: str) -> int:
    return len(text.split())


def text(root: Path, wanted: str = "", detail: str = "standard", limit: int = 10_000) -> str:
    return compose(
        by_symbol(compare(read_changes(root, wanted)), detail), limit, cost, more=lambda start: "diff"
    ).text


def names(root: Path, wanted: str = "") -> dict[str, str]:
    return {change.path: change.status for change in read_changes(root, wanted)}


@pytest.mark.feature("C3")
def test_every_way_in_which_a_file_can_change_appears(tmp_path: Path, git: Git) -> None:
    git("mv", "a.py", "b.py")
    (tmp_path / "notes.md").chmod(0o755)
    (tmp_path / "pic").write_bytes(b"\0two")
    (tmp_path / "new.py").write_text("def three():\n    pass\n")
    (tmp_path / ".laconic-0a1b2c3d-4-0.tmp").write_text("ours")
    assert names(tmp_path) == {"b.py": "renamed", "notes.md": "mode", "pic": "changed", "new.py": "added"}
    assert names(tmp_path, "staged") == {"b.py": "renamed"}
    answer = text(tmp_path)
    assert "b.py, was a.py" in answer.replace("b.py was", "b.py, was")
    assert "pic binary" in answer
    assert "mode 100644 -> 100755" in answer
    assert "+ three function 1-2" in answer


@pytest.mark.feature("C3")
def test_commits_branches_and_ranges(tmp_path: Path, git: Git) -> None:
    git("checkout", "-qb", "topic")
    (tmp_path / "a.py").write_text(CODE.replace("one(a)", "one(a, c=1)"))
    git("commit", "-qam", "second")
    git("checkout", "-q", "main")
    (tmp_path / "notes.md").write_text("# Title\n\nother\n")
    git("commit", "-qam", "third")
    assert names(tmp_path, "main..topic") == {"a.py": "changed", "notes.md": "changed"}
    assert names(tmp_path, "main...topic") == {"a.py": "changed"}
    assert names(tmp_path, "topic^!") == {"a.py": "changed"}
    assert names(tmp_path, "main~1^!") == {"a.py": "added", "notes.md": "added", "pic": "added"}
    assert names(tmp_path, "topic") == names(tmp_path, "topic..main")
    answer = text(tmp_path, "topic^!")
    assert "  was def one(a)\n  now def one(a, c=1)" in answer
    with pytest.raises(UnknownName):
        names(tmp_path, "nowhere")
    with pytest.raises(UnknownName):
        names(tmp_path, "--output=x")


@pytest.mark.feature("C3")
def test_the_target_is_read_from_the_commit_and_not_from_the_working_tree(tmp_path: Path, git: Git) -> None:
    (tmp_path / "a.py").write_text(CODE.replace("return a", "return -a"))
    git("commit", "-qam", "second")
    (tmp_path / "a.py").write_text("broken(")
    found = compare(read_changes(tmp_path, "HEAD^!"))
    assert [(c.name, c.changes) for c in found.symbols] == [("one", ("body",))]


def test_a_patch_file_is_compared_with_the_disk(tmp_path: Path, git: Git) -> None:
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def one(a):\n-    return a\n+    return 2 * a\n"
    (tmp_path / "change.patch").write_text(patch)
    found = compare(read_changes(tmp_path, "change.patch"))
    assert [(c.name, c.changes) for c in found.symbols] == [("one", ("body",))]


@pytest.mark.feature("C3")
def test_each_detail_says_less_and_json_is_for_programs(tmp_path: Path, git: Git) -> None:
    (tmp_path / "a.py").write_text(CODE.replace("one(a)", "one(a, c=1)").replace("def two", "def three"))
    sizes = [len(text(tmp_path, detail=detail)) for detail in ("minimal", "compact", "standard", "full")]
    assert sizes == sorted(sizes)
    small, large = (records(compare(read_changes(tmp_path)), detail) for detail in ("compact", "full"))
    assert small[0] == {
        "path": "a.py", "kind": "function", "name": "one", "change": "signature_changed", "risk": "high", "lines": 2,
        "span": [1, 2],
    }  # fmt: skip
    assert len(large) == len(small)
    assert large[0]["qualified_name"] == "one"


@pytest.mark.feature("C3")
@pytest.mark.parametrize("budget", [60, 120])
def test_an_answer_keeps_its_budget_and_the_riskiest(tmp_path: Path, git: Git, budget: int) -> None:
    many = "".join(f"def f{i}(a):\n    return a + {i}\n\n\n" for i in range(40))
    (tmp_path / "a.py").write_text(many)
    answer = text(tmp_path, limit=budget)
    assert cost(answer) <= budget
    assert "[" in answer and "of" in answer


@pytest.mark.feature("J5")
def test_hunks_leave_out_white_space_and_say_so(tmp_path: Path, git: Git) -> None:
    (tmp_path / "notes.md").write_text("# Title\n\n  text\n")
    (tmp_path / "a.py").write_text(CODE.replace("return a", "return 5"))
    answer = compose(by_hunk(read_changes(tmp_path, context=1)), 1000, cost, more=str).text
    assert "notes.md +1 -1; 1 of white space only left out" in answer
    assert "@@ -1,3 +1,3 @@\n def one(a):\n-    return a\n+    return 5" in answer


def test_a_repository_without_a_commit_shows_its_files_as_new(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "x.py").write_text("x = 1\n")
    assert names(tmp_path) == {"x.py": "added"}


@pytest.mark.feature("C3")
def test_the_tool_names_references_and_the_tests_to_run(tmp_path: Path, git: Git, settings: Settings) -> None:
    (tmp_path / "use.py").write_text("from a import one\n\n\ndef use():\n    return one(2)\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(
        "from a import one\n\n\ndef test_one():\n    assert one(1) == 1\n"
    )
    git("add", "-A")
    git("commit", "-qm", "second")
    (tmp_path / "a.py").write_text(CODE.replace("one(a)", "one(a, c)"))
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        runtime.index.build()
        reply = runtime.call("diff", {})
        assert "! one function 1-2 signature" in reply.text
        assert "3 references in 3 files" in reply.text or "references in" in reply.text
        assert "tests: pytest tests/test_one.py\n" in reply.text
        assert '"change":"signature_changed"' in runtime.call("diff", {"format": "json"}).text
        assert "@@ -1," in runtime.call("git_diff", {"view": "hunks"}).text
        assert "a.py" in runtime.call("diff", {"base": "HEAD", "paths": "a.py"}).text
        assert runtime.call("diff", {"states": "HEAD..HEAD"}).text == "nothing changed\n"
        assert runtime.call("diff", {"states": "nowhere"}).failed
    finally:
        runtime.close()


def test_what_is_gone_from_a_renamed_file_stands_under_its_new_name(tmp_path: Path, git: Git) -> None:
    more = "".join(f"def f{i}(a):\n    return a + {i}\n\n\n" for i in range(9))
    (tmp_path / "a.py").write_text(more + CODE)
    git("commit", "-qam", "second")
    git("mv", "a.py", "b.py")
    (tmp_path / "b.py").write_text((more + CODE).replace("def one(a):\n    return a\n\n\n", ""))
    answer = text(tmp_path)
    assert "b.py, was a.py, -4\n- one function" in answer


def test_a_folder_outside_of_git_is_told_so(tmp_path: Path) -> None:
    for wanted in ("", "main..topic", "staged"):
        with pytest.raises(Unreadable, match="is not in a git repository"):
            read_changes(tmp_path, wanted)


@pytest.mark.feature("C3")
def test_json_says_what_was_compared_and_each_detail_says_more(tmp_path: Path, git: Git, settings: Settings) -> None:
    (tmp_path / "a.py").write_text(CODE.replace("one(a)", "one(a, c=1)"))
    (tmp_path / "data.bin").write_bytes(b"\0")
    (tmp_path / ".git" / "info" / "exclude").write_text("cache\n")
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        answers = {
            detail: json.loads(runtime.call("diff", {"budget": detail, "format": "json", "again": True}).text)
            for detail in ("compact", "standard", "full")
        }
    finally:
        runtime.close()
    scope = answers["standard"]["scope"]
    assert (scope["files"], scope["dirty"], scope["without_symbols"]) == (2, True, ["data.bin"])
    assert len(scope["base"]) == 12
    small, usual, large = (answers[detail]["changes"][0] for detail in answers)
    assert set(small) < set(usual)
    assert usual["old_signature"] != usual["new_signature"]
    assert large["risk_basis"] == usual["why"]


@pytest.mark.feature("C3")
def test_the_command_names_no_file_in_which_a_runner_finds_nothing(
    tmp_path: Path, git: Git, settings: Settings
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "_util.py").write_text("from a import one\n\n\ndef helped():\n    return one(2)\n")
    (tmp_path / "tests" / "loop.py").write_text(
        "from a import one\n\n\nclass LoopTest:\n    def test_it(self):\n        one(3)\n"
    )
    (tmp_path / "tests" / "test_one.py").write_text("from a import one\n\n\ndef test_one():\n    one(1)\n")
    git("add", "-A")
    git("commit", "-qm", "tests")
    (tmp_path / "a.py").write_text(CODE.replace("one(a)", "one(a, c)"))
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        runtime.index.build()
        said = runtime.call("diff", {}).text.partition("tests: ")[2]
    finally:
        runtime.close()
    assert "tests/test_one.py" in said
    assert "tests/loop.py" in said
    assert "_util.py" not in said


@pytest.mark.feature("C3")
def test_a_rename_that_leaves_uses_of_the_old_name_is_a_risk(tmp_path: Path, git: Git, settings: Settings) -> None:
    (tmp_path / "user.py").write_text("from a import one\n\none(1)\n")
    git("add", "-A")
    git("commit", "-qm", "use it")
    (tmp_path / "a.py").write_text(CODE.replace("def one(", "def first("))
    runtime = ToolRuntime(tmp_path, settings, tools())
    try:
        said = runtime.call("diff", {}).text
        assert "high: renamed, " in said
        assert "3 uses of the old name left: a.py:6, user.py:1, user.py:3" in said
    finally:
        runtime.close()
