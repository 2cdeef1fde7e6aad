"""Build or refresh the index of a workspace.

Shows progress on a terminal, and prints statistics at the end.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from laconic import __version__
from laconic.cli.terminal import ProgressBar
from laconic.config import Settings
from laconic.errors import IndexUnavailable, Unreadable
from laconic.render.escape_control import visible_name
from laconic.render.plural import count_of
from laconic.workspace.atomic_write import write_whole
from laconic.workspace.git import home
from laconic.workspace.secrets import SecretFiles

if TYPE_CHECKING:
    from laconic.index.workspace_index import Index


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", type=Path, help="the workspace (default: the repository around this folder)"
    )
    parser.add_argument("--json", action="store_true", help="print the statistics as JSON")
    parser.add_argument(
        "--rebuild", action="store_true", help="first delete the old index, for all checkouts that share it"
    )
    parser.add_argument(
        "--yes", action="store_true", help="index a folder that does not look like a project, such as / or ~"
    )
    parser.add_argument(
        "--scip", type=Path, metavar="FILE", help="also write definitions and sure references as SCIP"
    )
    parser.add_argument("--wait", type=float, default=0.0, metavar="S", help="seconds to wait for another writer")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.index import catalog  # SQLite and the parser: not for `--help`
    from laconic.index.choose_parser import choose_parser
    from laconic.index.workspace_index import Index

    root = args.path or home(Path())
    if not root.is_dir():
        raise Unreadable(f"{root} is not a folder.", "Name the folder of a code base.")
    force = args.yes or catalog.is_known(settings.cache_dir(), root)
    if args.rebuild:
        catalog.forget_repository(settings.cache_dir(), root)
    secrets = SecretFiles.of(settings)
    index = Index.open(root, settings.cache_dir(), choose_parser(settings), secrets, force=force)
    bar = ProgressBar("files")
    try:
        outcome = index.build(bar, seconds=args.wait)
        numbers = index.statistics()
        if args.scip is not None and not outcome.locked:
            _write_scip(index, args.scip, bar)
    finally:
        bar.close()
        index.close()
    if outcome.locked:
        raise IndexUnavailable("Another process is writing this index.", "Wait for it, or use --wait SECONDS.")
    if args.json:
        print(msgspec.json.encode({**msgspec.to_builtins(numbers), "outcome": msgspec.to_builtins(outcome)}).decode())
        return 0
    files, symbols = count_of(numbers.files, "file"), count_of(numbers.symbols, "symbol")
    print(
        f"{visible_name(numbers.root)}: {files} ({numbers.parsed} parsed, {numbers.skipped} skipped, "
        f"{numbers.failed} failed), {symbols}, {count_of(numbers.lines, 'line')}; "
        f"{numbers.index_bytes / 1e6:.1f} MB for {numbers.source_bytes / 1e6:.1f} MB of text; "
        f"{outcome.written} written, {outcome.removed} removed in {outcome.seconds:.1f} s"
    )
    return 0


def _write_scip(index: Index, file: Path, bar: ProgressBar) -> None:
    from laconic.index.resolve import Code  # with the parser, as above
    from laconic.index.scip.writing import write_index

    try:
        write_whole(file, write_index(Code(index.store, index.root), __version__, bar))
    except OSError as error:
        raise Unreadable(
            f"{file} cannot be written: {error.strerror}.", "Name a file in a folder of yours."
        ) from None
