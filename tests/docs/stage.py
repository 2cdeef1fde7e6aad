"""A copy of this repository and the home of a user who has nothing set up, where the blocks of a page run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT, Block
from tests.samples import git

_SECONDS = 300.0
_PARTS = (  # enough for the questions on the pages; the less there is to index, the faster they run
    "src/laconic/records.py",
    "src/laconic/reduce",
    "src/laconic/tokens",
    "src/laconic/tool_runtime",
    "src/laconic/tools",
    "docs",
    "tests/tokens",
    "README.md",
    "pyproject.toml",
)


def copy(folder: Path) -> Path:
    """A part of what a reader has after cloning, with one commit."""
    root = folder / "laconic"
    for name in _PARTS:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
    return root


@dataclass(frozen=True)
class Shell:
    """Follows the blocks of a page as a reader would: in one shell, stopping at the first that fails."""

    home: Path
    project: Path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """No settings of the user, our program on the path, and no way out but loopback."""
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            **(more or {}),
        }

    def follow(self, blocks: Sequence[Block], more: Mapping[str, str] | None = None) -> str:
        """Run all, and what they start in the background is ended with them; returns what they printed."""
        script = self.home / "page.sh"
        script.write_text("".join(_part(block) for block in blocks), "utf-8")
        said = self.home / "said.txt"  # a file: a process in the background would keep a pipe open
        with said.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", str(script)],
                cwd=self.project,
                env=self.environment(more),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(_SECONDS)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        text = said.read_text("utf-8", "replace")
        assert code == 0, text[-4000:]
        return text


def _part(block: Block) -> str:
    text = block.text
    if block.language == "python":
        text = f"python - <<'END_OF_BLOCK'\n{text}END_OF_BLOCK\n"
    return f"echo '--- {block}'\n{text}"
