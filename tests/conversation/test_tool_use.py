"""What a call is about."""

from __future__ import annotations

import pytest

from laconic.conversation.tool_use import about


@pytest.mark.parametrize(
    "command",
    [
        "cat src/a.py",
        "cd /repo && sed -n '1,40p' src/a.py",
        "for f in docs/*.md; do cat $f; done",
        "find . -name SKILL.md -exec cat {} +",
        "ls src; cat src/a.py",
        "find . -name '*.md' | xargs head -20",
    ],
)
def test_commands_that_show_files_are_reads(command: str) -> None:
    assert about("Bash", {"command": command}).kind == "read"


@pytest.mark.parametrize(
    "command",
    [
        "git log | head -20",
        "pytest -q tests",
        "cat > a.py <<EOF\nx\nEOF",
        "echo hello",
        "make; tail -3 log",
    ],
)
def test_other_commands_are_runs(command: str) -> None:
    assert about("Bash", {"command": command}).kind == "run"


@pytest.mark.parametrize("command", ["gh api repos/a/b/pulls/1/comments", "cd x && curl -s https://a.test/b.md"])
def test_what_comes_from_elsewhere_is_fetched(command: str) -> None:
    what = about("Bash", {"command": command})
    assert (what.kind, what.fetched) == ("run", True)


@pytest.mark.parametrize(
    ("path", "test", "document"),
    [
        ("a/README.md", False, True),
        ("a/conf.yaml", False, True),
        ("a/x.go", False, False),
        ("tests/x.py", True, False),
    ],
)
def test_files_are_told_apart(path: str, test: bool, document: bool) -> None:
    what = about("Read", {"file_path": path})
    assert (what.test, what.document) == (test, document)


def test_a_patch_names_its_files() -> None:
    text = "*** Begin Patch\n*** Update File: src/app/a.py\n@@\n-x\n+y\n*** Add File: b.md\n+z\n*** End Patch"
    for arguments in (text, {"input": text}):
        what = about("apply_patch", arguments)
        assert what.changes and what.files == {"app/a.py", "b.md"}


@pytest.mark.parametrize(
    "command",
    ["ls src", "grep -rn name src | head", "cd /repo && find . -name '*.py'", "rg -l name", "git grep name"],
)
def test_commands_that_look_for_something_are_searches(command: str) -> None:
    found = about("Bash", {"command": command})
    assert found.kind == "search"
    assert found.shell


@pytest.mark.parametrize(
    ("name", "arguments", "around"),
    [
        ("Bash", {"command": "grep -rn -A 12 name src"}, True),
        ("Bash", {"command": "cd /w && rg -nC3 name"}, True),
        ("Bash", {"command": "rg --context=3 name"}, True),
        ("Bash", {"command": "grep -rn name src"}, False),
        ("Bash", {"command": "cat -A 1"}, False),
        ("Grep", {"pattern": "name", "-A": 12}, True),
        ("Grep", {"pattern": "name", "-A": 0}, False),
    ],
)
def test_searches_that_were_asked_for_the_lines_around_their_hits(
    name: str, arguments: dict[str, object], around: bool
) -> None:
    assert about(name, arguments).around is around


@pytest.mark.parametrize("shell", ["bash", "/bin/bash", "sh", "zsh"])
def test_words_that_start_a_shell_are_no_part_of_a_command(shell: str) -> None:
    shown = about("shell", {"command": [shell, "-lc", "cat /w/src/a.py"]})
    assert (shown.kind, shown.target) == ("read", "cat /w/src/a.py")
    assert about("shell", {"command": [shell, "-c", "make all"]}).target == "make all"
    assert about("shell", {"command": ["rg", "-n", "price"]}).kind == "search"


@pytest.mark.parametrize(
    ("name", "kind"), [("shell_command", "run"), ("read_many_files", "read"), ("list_directory", "search")]
)
def test_tools_of_codex_and_gemini_are_known(name: str, kind: str) -> None:
    assert about(name, {"command": "make"}).kind == kind
