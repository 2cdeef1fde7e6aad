"""Our hooks of Claude Code: registered beside others, removed byte for byte, and what they answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from laconic.clients.claude_hook import answer_hook, shell_hook_edit, start_hook_edit
from laconic.clients.setup import ClientFolders
from laconic.config import child_environment

SETTINGS = """{
  "hooks": {"PostToolUse": [ {"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]} ]},
  "model": "x"   // mine
}
"""


def event(stdout: object, name: str = "PostToolUse") -> bytes:
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
    given = {"command": "make"}
    return json.dumps({"hook_event_name": name, "tool_input": given, "tool_response": response}).encode()


@pytest.mark.parametrize("program", ["laconic", "'/home/my user/bin/laconic'", "/usr/bin/python -P -m laconic"])
def test_hooks_are_put_beside_others_and_taken_out_in_any_order(tmp_path: Path, program: str) -> None:
    places = ClientFolders(tmp_path, {"HOME": str(tmp_path)})
    shell = shell_hook_edit(places, "project", program)
    start = start_hook_edit(places, "project", program)
    put = start.put(shell.put(SETTINGS))
    assert put.count('"fmt"') == 1
    assert put.count(f"{program} hook") == 2
    assert shell.put(start.put(put)) == put
    assert start.take(shell.take(put)) == shell.take(start.take(put)) == SETTINGS
    assert start.take(start.put("")).strip() == shell.take(shell.put("")).strip() == "{}"


def test_a_hook_of_ours_that_names_another_place_is_replaced(tmp_path: Path) -> None:
    places = ClientFolders(tmp_path, {"HOME": str(tmp_path)})
    old = start_hook_edit(places, "project", "/old/bin/laconic").put(SETTINGS)
    new = start_hook_edit(places, "project", "laconic").put(old)
    assert new == start_hook_edit(places, "project", "laconic").put(SETTINGS)


def test_only_a_long_output_is_changed_and_its_other_members_stay() -> None:
    said = json.loads(answer_hook(event("much longer"), lambda text, command: command))
    output = said["hookSpecificOutput"]
    assert output["hookEventName"] == "PostToolUse"
    assert output["updatedToolOutput"] == {
        "stdout": "make",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
    }
    assert answer_hook(event("same"), lambda text, command: text) == ""


def test_an_output_that_was_cut_off_is_read_whole(tmp_path: Path) -> None:
    """Claude Code writes what is too long to a file and shows its beginning."""
    file = tmp_path / "output.txt"
    file.write_text("all of it")
    asked = json.loads(event("all of"))
    asked["tool_response"] |= {"persistedOutputPath": str(file), "persistedOutputSize": 9}
    said = json.loads(answer_hook(json.dumps(asked).encode(), lambda text, command: text.upper()[-2:]))
    changed = said["hookSpecificOutput"]["updatedToolOutput"]
    assert changed == {"stdout": "IT", "stderr": "", "interrupted": False, "isImage": False}


@pytest.mark.parametrize("asked", [b"", b"not json", b"[]", b"{}", event(7), event("x", "PreToolUse"), event("")])
def test_what_is_not_an_output_is_left_alone(asked: bytes) -> None:
    assert answer_hook(asked, lambda text, command: "changed") == ""


def test_the_command_shortens_and_keeps(tmp_path: Path) -> None:
    passed = "\n".join(f"tests/test_{i}.py::test_it PASSED   [ {i // 9}%]" for i in range(900))
    failed = "FAILED tests/x.py::test_901 - assert 1 == 2\n== 1 failed, 900 passed in 3s =="
    lines = f"===== test session starts =====\n{passed}\n{failed}"
    variables = child_environment({"LACONIC_CACHE_DIR": str(tmp_path)})

    def laconic(*words: str, given: bytes = b"") -> str:
        command = [sys.executable, "-m", "laconic", *words]
        return subprocess.run(command, input=given, capture_output=True, check=True, env=variables).stdout.decode()

    short = json.loads(laconic("hook", given=event(lines)))["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert "FAILED tests/x.py::test_901 - assert 1 == 2" in short
    assert len(short) < len(lines) / 2
    ref = short.rsplit("recall ", 1)[1].strip("]\n")
    assert laconic("recall", ref) == lines
