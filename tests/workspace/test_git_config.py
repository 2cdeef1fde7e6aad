"""Our reading of a configuration against git's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.workspace.git_config import parse_config

TEXTS = [
    "[core]\n\tautocrlf = true\n",
    "[Core]\nAutoCRLF=input # why\n; more\n",
    '[core "x.Y z"] a = 1\n[remote "o\\"n\\\\e"]\n url = "a b" c ; d\n',
    "[core]\n\tbare\n\tworktree = a\\\n  b\\tc\n",
    '[core]\n\tworktree = "/a # b" # c\n\tother = x;y\n',
    "[core] ignorecase = yes\r\n\teol = lf\r\n",
    "[a.b]\n\tc-d = \n[extensions]\nobjectFormat = sha256\n",
    '[core]\nx = "a\\nb" "c"\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_names_and_values_are_those_that_git_reads(text: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(text.encode())
    words = ["git", "config", "--file", str(tmp_path / "config"), "--no-includes", "--list", "-z"]
    listed = subprocess.run(words, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    pairs = [entry.partition("\n") for entry in listed.split("\0") if entry]
    assert parse_config(text) == {name: value if mark else "true" for name, mark, value in pairs}


@given(st.text(alphabet='[]"\\=#; \nabc.\r\t\0'))
def test_any_text_can_be_read(text: str) -> None:
    parse_config(text)
