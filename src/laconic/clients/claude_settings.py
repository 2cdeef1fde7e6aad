"""The variables that Claude Code's settings files set. It reads them strictly, and ignores a file with a mistake."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from laconic.clients.command_options import has_option, last_value
from laconic.clients.config_files import Table, at, read_json, read_text, table_at
from laconic.clients.wrapped_client import LaunchContext
from laconic.errors import Unroutable

# Words of a file that decides where requests go.
_DECIDES: Final = re.compile(r"ANTHROPIC_BASE_URL|ANTHROPIC_UNIX_SOCKET|CLAUDE_CODE_USE_|_proxy\b", re.IGNORECASE)
_NO_JSON: Final = "is not JSON, which has neither comments nor trailing commas"
_TEXTS: Final = [str]
MANAGED: Final = (
    Path("/Library/Application Support/ClaudeCode") if sys.platform == "darwin" else Path("/etc/claude-code")
)
_MODES: Final = frozenset({"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"})
_TYPES: Final[Mapping[tuple[str, ...], object]] = {  # of common fields: with any other type the whole file is ignored
    ("apiKeyHelper",): str,
    ("cleanupPeriodDays",): int,
    ("env",): dict,
    ("hooks",): dict,
    ("includeCoAuthoredBy",): bool,
    ("model",): str,
    ("outputStyle",): str,
    ("permissions",): dict,
    ("permissions", "additionalDirectories"): _TEXTS,
    ("permissions", "allow"): _TEXTS,
    ("permissions", "ask"): _TEXTS,
    ("permissions", "defaultMode"): str,
    ("permissions", "deny"): _TEXTS,
    ("statusLine",): dict,
}


def user_folder(seen: LaunchContext) -> Path:
    return Path(seen.variable("CLAUDE_CONFIG_DIR") or seen.home / ".claude")


def file_variables(seen: LaunchContext) -> dict[str, str]:
    """What all its files and `--settings` set, in its order: the later win."""
    moved = seen.variable("CLAUDE_CONFIG_DIR")
    found = read_variables(read_json(Path(moved or seen.home) / ".claude.json"))
    sources = {
        "user": user_folder(seen) / "settings.json",
        "project": seen.folder / ".claude" / "settings.json",
        "local": seen.folder / ".claude" / "settings.local.json",
    }
    for name in _chosen_sources(seen, tuple(sources)):
        settings = read_settings(sources[name])
        if name != "user" and _starts_worktree(seen):
            _refuse_worktree(sources[name], settings)
        else:
            found |= read_variables(settings)
    return found | read_variables(flag_settings(seen))


def flag_settings(seen: LaunchContext) -> Table:
    """What `--settings` says: JSON, or the name of a file. With a mistake in it, none of our own would count."""
    given = last_value(seen.args, "--settings").strip()
    if not given.startswith("{"):
        source, text = str(seen.folder / given), read_text(seen.folder / given) if given else ""
    else:
        source, text = "--settings", given
    settings, mistake = _parse(text)
    if mistake:
        raise Unroutable(f"{source} {mistake}.", "Fix it.")
    return settings


def read_settings(path: Path) -> Table:
    """A file as Claude Code reads it. One that it ignores is refused if it was meant to decide where requests go."""
    text = read_text(path)
    settings, mistake = _parse(text)
    if mistake and (mistake == _NO_JSON or _DECIDES.search(text)):
        raise Unroutable(
            f"{path} {mistake}, so Claude Code ignores the whole file, whatever address or proxy it names.",
            "Fix the file.",
        )
    return settings


def find_mistake(text: str) -> str:
    """For what Claude Code ignores a whole file of settings; empty: it reads the file."""
    return _parse(text)[1]


def managed_files(folder: Path) -> list[Path]:
    """Settings that nobody can override."""
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


def read_variables(settings: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table_at(settings, "env").items():
        found[name] = str(value)
    return found


def _parse(text: str) -> tuple[Table, str]:
    """The settings, and the mistake for which they are ignored."""
    if not text.strip():
        return {}, ""
    try:
        held: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}, _NO_JSON
    if not isinstance(held, dict):
        return {}, "holds no JSON object"
    for path, wanted in _TYPES.items():
        if not _has_type(at(held, *path), wanted):
            return {}, f"has a wrong value for `{'.'.join(path)}`"
    if at(held, "permissions", "defaultMode") not in {None, *_MODES}:
        return {}, f"has a mode in `permissions.defaultMode` that is none of {', '.join(sorted(_MODES))}"
    if not all(_is_hook_list(hooks) for hooks in table_at(held, "hooks").values()):
        return {}, "has a wrong value for `hooks`"
    return held, ""


def _has_type(value: object, wanted: object) -> bool:
    if value is None:
        return True
    if wanted is _TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is wanted


def _is_hook_list(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(entry, dict) and isinstance(entry.get("hooks"), list) for entry in value)


def _chosen_sources(seen: LaunchContext, known: tuple[str, ...]) -> Iterator[str]:
    """All, or those that `--setting-sources` names, which may be none."""
    chosen = {word.strip() for word in last_value(seen.args, "--setting-sources").split(",")}
    for name in known:
        if name in chosen or not has_option(seen.args, "--setting-sources"):
            yield name


def _starts_worktree(seen: LaunchContext) -> bool:
    return has_option(seen.args, "--worktree") or has_option(seen.args, "-w")


def _refuse_worktree(path: Path, settings: Table) -> None:
    """A new worktree has the committed files only, which may say something else."""
    if any(_DECIDES.search(name) for name in read_variables(settings)):
        raise Unroutable(
            f"{path} decides where requests go, and a new worktree may have another version of it.",
            "Create the worktree first, and run `laconic wrap claude` in it.",
        )
