"""Questions are answered where nothing can be kept: no cache folder, a full disk, a folder that vanished."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import load
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

QUESTIONS: list[tuple[str, dict[str, object], str]] = [
    ("read", {"targets": "shop/money.py:13-14"}, "13\tdef total(prices"),
    ("search", {"query": "Cart.checkout"}, "return total(self.items)"),
    ("search", {"query": "count must be positive"}, "shop/cart.py"),
    ("inspect", {"symbol": "total"}, "references: 2 in 1 file"),
    ("map", {}, "shop 1.2"),
    ("context", {"task": "checkout of the cart"}, "checkout"),
    ("trace", {"symbol": "total"}, "checkout"),
    ("workspace", {}, "symbols"),
    ("diff", {}, "nothing changed"),
]


@pytest.mark.parametrize(("tool", "given", "said"), QUESTIONS)
def test_no_cache_folder_can_be_made(tmp_path: Path, tool: str, given: dict[str, object], said: str) -> None:
    (tmp_path / "file").write_text("")
    settings = load(flags={"cache_dir": str(tmp_path / "file" / "cache")}, environ={}, file=tmp_path / "none")
    runtime = ToolRuntime(shop(tmp_path), settings, tools())
    try:
        reply = runtime.call(tool, given)
        assert not reply.failed
        assert said in reply.text
        if tool not in {"workspace", "read"}:  # a read of lines needs no index
            assert "cache_dir" in reply.text  # what to do about it
        again = runtime.call(tool, given)
        assert said in again.text
    finally:
        runtime.close()


@pytest.mark.parametrize(("tool", "given", "said"), QUESTIONS)
def test_the_cache_folder_vanishes_under_a_server(
    tmp_path: Path, tool: str, given: dict[str, object], said: str
) -> None:
    runtime = ToolRuntime(
        shop(tmp_path),
        load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none"),
        tools(),
    )
    try:
        assert said in runtime.call(tool, given).text
        shutil.rmtree(tmp_path / "cache")
        assert said in runtime.call(tool, given).text
        if tool != "diff":
            (runtime.root / "shop" / "late.py").write_text("def arrived():\n    return 1\n")
            assert "shop/late.py" in runtime.call("search", {"query": "arrived"}).text
    finally:
        runtime.close()


_FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from laconic.cli.main import entry
sys.argv = ["laconic", *sys.argv[1:]]
entry()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit is POSIX's")
@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("words", [["read", "shop/money.py:13-14"], ["search", "total"], ["map"]])
def test_not_a_byte_can_be_written_anywhere(tmp_path: Path, built: bool, words: list[str]) -> None:
    """As on a full disk; with an index from before, and without."""
    root = shop(tmp_path)
    environment = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    if built:
        subprocess.run([sys.executable, "-m", "laconic", "index"], cwd=root, env=environment, check=True)
        (root / "shop" / "money.py").write_text((root / "shop" / "money.py").read_text() + "\n")
    done = subprocess.run(
        [sys.executable, "-c", _FULL, *words], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "total" in done.stdout or words == ["map"]
    assert "laconic doctor" in done.stdout or words[0] == "read"
