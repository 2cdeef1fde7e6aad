"""Ask a code base questions, and use the answers as text for a model or as records for a program.

python examples/ask_a_code_base.py FOLDER NAME
"""

from __future__ import annotations

import sys

from laconic import Workspace


def main(folder: str, name: str) -> None:
    with Workspace(folder) as code:
        found = code.search(name, budget=400)
        print(f"{name}: {len(found.records)} hits in {found.tokens} tokens")
        for hit in found.records:
            print(f"  {hit['path']}:{hit['line']}  {hit['kind']}")
        print(code.inspect(name, budget="compact"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3])
