"""Names and contents of a code base steer no terminal: control characters leave as escapes."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from tests.samples import git, shop

from laconic.config import Settings
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

ESCAPE = "\x1b]0;owned\x07\x1b[2J"
NAME = f"evil{ESCAPE}\n\u202e.py"
CODE = f'def harmless():\n    """Says {ESCAPE}."""\n    return "{ESCAPE}"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = shop(tmp_path)
    (made / "shop" / NAME).write_text(CODE)
    git(made, "add", ".")
    git(made, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "second")
    return made


def harmless(text: str) -> bool:
    return (
        not any(unicodedata.category(char) == "Cc" and char not in "\n\t" for char in text) and "\u202e" not in text
    )


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search", {"query": "harmless"}),
        ("search", {"query": "owned"}),
        ("search", {"query": f"nothing{ESCAPE}"}),
        ("search", {"query": f"/{ESCAPE}(/"}),
        ("read", {"targets": "harmless"}),
        ("read", {"targets": f"none{ESCAPE}.py"}),
        ("read", {"targets": "shop"}),
        ("map", {}),
        ("map", {"path": "shop"}),
        ("inspect", {"symbol": "harmless"}),
        ("context", {"task": "what does harmless say that is owned"}),
        ("trace", {"symbol": "harmless"}),
        ("diff", {"states": "HEAD^!", "view": "hunks"}),
        ("diff", {"states": "HEAD^!"}),
        (f"tool{ESCAPE}", {}),
    ],
)
def test_no_answer_holds_one(root: Path, settings: Settings, form: str, tool: str, given: dict[str, object]) -> None:
    runtime = ToolRuntime(root, settings, tools())
    try:
        reply = runtime.call(tool, {**given, "format": form})
    finally:
        runtime.close()
    assert harmless(reply.text)
    if form == "json":
        json.loads(reply.text)


def test_a_name_can_be_read_as_it_is_shown(root: Path, settings: Settings) -> None:
    runtime = ToolRuntime(root, settings, tools())
    try:
        shown = runtime.call("search", {"query": "harmless"}).text.splitlines()[0]
        assert shown == "shop/evil\\x1b]0;owned\\x07\\x1b[2J\\x0a\\u202e.py"
        assert 'return "\\x1b]0;owned' in runtime.call("read", {"targets": [shown]}).text
    finally:
        runtime.close()


@pytest.mark.parametrize("words", [["search", "harmless"], ["read", "harmless"], ["search", f"x{ESCAPE}", "--flag"]])
def test_the_shell_prints_none(root: Path, tmp_path: Path, words: list[str]) -> None:
    environment = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-m", "laconic", *words], cwd=root, env=environment, capture_output=True, check=False
    )
    assert harmless((done.stdout + done.stderr).decode())
