"""Say what is wrong, or missing, and what to do about it.

Looks at the settings, the cache folder, git, the parser and the index of a workspace; changes nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from laconic.config import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.index.health import examine  # loads SQLite and a grammar

    findings = examine(args.path, settings.cache_dir())
    if args.json:
        print(msgspec.json.encode(findings).decode())
    else:
        for finding in findings:
            mark = "ok  " if finding.well else "WARN"
            print(f"{mark} {finding.what}: {finding.seen}" + (f" {finding.advice}" if finding.advice else ""))
    return 0 if all(finding.well for finding in findings) else 1
