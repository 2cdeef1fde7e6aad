"""Edit files by line and tag, or by exact text: all edits in a call are made, or none.

Edits are JSON, one object or a list, as arguments or on standard input:
{"path": "a.py", "tag": "4f2a91", "start": 40, "end": 42, "text": "..."}; `insert_after` or `insert_before` instead of
`start` inserts; {"path", "find", "text", "count"} replaces an exact text; {"path", "create": true, "text"} creates a
file. Lines are 1-based and inclusive, as `laconic read` shows them. An edit without text deletes the lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from laconic.config import Settings
from laconic.errors import UsageError
from laconic.render.escape_control import visible
from laconic.workspace.secrets import SecretFiles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("edits", nargs="*", metavar="JSON", help="edits (default: standard input)")
    parser.add_argument("--root", type=Path, default=Path(), help="the workspace (default: this folder)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written")
    parser.add_argument("--undo", action="store_true", help="undo the last edit made with this command")


def run(args: argparse.Namespace, settings: Settings) -> int:
    from laconic.tool_runtime.edit_workspace import (  # the parser: not for `--help`
        EditWorkspace,
        StaleEdit,
        edit,
        undo,
    )

    workspace = EditWorkspace(args.root, settings.cache_dir(), SecretFiles.of(settings))
    try:
        if args.undo:
            print(visible(undo(workspace)))
        else:
            made = edit(workspace, _calls(args.edits or [sys.stdin.read()]), dry=args.dry_run)
            print(visible(made))
    except StaleEdit as stale:
        workspace.note_shown(stale)  # the message is printed whole
        raise
    finally:
        workspace.close()
    return 0


def _calls(texts: list[str]) -> list[dict[str, object]]:
    calls: list[dict[str, object]] = []
    for text in texts:
        try:
            given = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise UsageError(f"The edits are not JSON: {error}.", "See `laconic edit --help`.") from None
        if isinstance(given, dict) and isinstance(given.get("edits"), list):
            given = given["edits"]
        for call in given if isinstance(given, list) else [given]:
            if not isinstance(call, dict):
                raise UsageError(f"{call!r} is not an edit.", "See `laconic edit --help`.")
            calls.append(call)
    return calls
