"""Write requirements.lock: every package that an installation needs, for all platforms, each file by its hash.

Versions are those of constraints.txt where it names them. Needs `uv` (in the `flows` extra) and a package registry.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEAD = "# Made by scripts/lock.py. Install with: pip install --require-hashes -r requirements.lock\n"


def main() -> int:
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--python-version", "3.11"]
    done = subprocess.run(
        [*command, "--constraint", "constraints.txt", "pyproject.toml"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        print("uv could not resolve the requirements; `pip install uv` if it is missing.", file=sys.stderr)
        return 1
    if "://" in done.stdout:
        print("The list names an address; a lock must not depend on where packages come from.", file=sys.stderr)
        return 1
    LOCK.write_text(HEAD + done.stdout, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
