"""Show what changed between two states, by symbol: signatures, bodies, renames, and the risk of each.

STATES is nothing (the working tree against HEAD), `staged`, `unstaged`, a commit or branch (the working tree against
it), `A..B`, `A...B` (since they parted), `A^!` (one commit), or a patch file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from laconic.config import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("states", nargs="?", default="", metavar="STATES", help="what to compare")
    parser.add_argument("paths", nargs="*", help="only these files or folders")
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--detail", choices=("minimal", "compact", "standard", "full"), default="standard")
    parser.add_argument("--hunks", action="store_true", help="unified hunks instead of symbols")
    parser.add_argument("--json", action="store_true", help="JSON for programs; --detail full spells everything out")
    parser.add_argument("--budget", type=int, default=6000, metavar="TOKENS", help="size of the answer at most")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.index.compare.symbols import compare  # the parser: not for `--help`
    from laconic.tokens.count import counter
    from laconic.tools import diff

    cost = counter(settings.text("model"))
    files = diff.changed(args.root, args.states, args.paths, context=3 if args.hunks else 0)
    if not files:
        print("Nothing changed.")
    elif args.hunks:
        print(diff.hunks(files, cost, budget=args.budget))
    elif args.json:
        print(diff.as_json(compare(files), detail=args.detail))
    else:
        print(diff.by_symbol(files, cost, detail=args.detail, budget=args.budget))
    return 0
