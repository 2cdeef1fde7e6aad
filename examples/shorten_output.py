"""Run a command and keep the lines that matter.

python examples/shorten_output.py 200 python -m pytest
"""

from __future__ import annotations

import subprocess
import sys

from laconic import shorten


def main(budget: int, command: list[str]) -> int:
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    short = shorten(ran.stdout, budget)
    print(short.text)
    print(f"{short.kind}: {short.tokens} of {short.tokens_before} tokens", file=sys.stderr)
    return ran.returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
