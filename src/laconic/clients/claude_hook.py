"""A hook of Claude Code that shortens what its shell prints: where it is registered, and what it is told and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from laconic.clients import jsonc
from laconic.clients.claude import notes_folder
from laconic.clients.install import ConfigChange
from laconic.clients.setup import ClientFolders, Scope

_AT: Final = ("hooks", "PostToolUse")
_PERSISTED: Final = "persistedOutputPath"
_PERSISTED_SIZE: Final = "persistedOutputSize"
_LARGEST: Final = 2_000_000  # bytes
_MARK: Final = " hook"  # how our command ends


def hook_edit(places: ClientFolders, scope: Scope, program: str) -> ConfigChange:
    """Our hook beside those of others in Claude Code's settings."""
    folder = places.root / ".claude" if scope == "project" else notes_folder(places)
    command = f"{program}{_MARK}"
    ours = {"matcher": "Bash", "hooks": [{"type": "command", "command": command, "timeout": 20}]}

    def put(text: str) -> str:
        return jsonc.put(text, _AT, [*_others(text), ours])

    def take(text: str) -> str:
        kept = _others(text)
        if len(kept) == len(_registered(text)):
            return text
        if kept:
            return jsonc.put(text, _AT, kept)
        return jsonc.take(text, _AT)

    within = (places.root,) if scope == "project" else (places.home, folder)
    return ConfigChange(folder / "settings.json", put, take, within)


def answer_hook(asked: bytes, shorten: Callable[[str, str], str]) -> str:
    """What Claude Code is told after a command; nothing where its output stays. `shorten` gets the command too."""
    try:
        event = json.loads(asked)
    except ValueError:
        return ""
    if not isinstance(event, dict) or event.get("hook_event_name") != "PostToolUse":
        return ""
    output, given = event.get("tool_response"), event.get("tool_input")
    if not isinstance(output, Mapping) or not isinstance(given, Mapping) or output.get("isImage"):
        return ""
    printed = output.get("stdout")
    if not isinstance(printed, str) or not printed:
        return ""
    whole = _read_persisted(output.get(_PERSISTED)) or printed
    short = shorten(whole, str(given.get("command", "")))
    if short == printed or len(short) > len(printed):
        return ""
    changed = {**output, "stdout": short}
    for name in (_PERSISTED, _PERSISTED_SIZE):  # it would put the path of the file around the shorter text
        changed.pop(name, None)
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": changed}})


def _read_persisted(path: object) -> str:
    """What a command printed, where Claude Code cut it off and wrote the whole to a file."""
    if not isinstance(path, str) or not path:
        return ""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError):
        return ""
    if len(data) > _LARGEST:
        return ""
    return data.decode("utf-8", "replace")


def _registered(text: str) -> list[Any]:
    held: Any = jsonc.parse(text)
    for key in _AT:
        held = held.get(key) if isinstance(held, dict) else None
    return held if isinstance(held, list) else []


def _others(text: str) -> list[Any]:
    return [entry for entry in _registered(text) if not _is_ours(entry)]


def _is_ours(entry: object) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    for hook in hooks if isinstance(hooks, list) else []:
        command = str(hook.get("command", "")) if isinstance(hook, dict) else ""
        if command.endswith(_MARK) and Path(command.removesuffix(_MARK).split()[-1]).stem == "laconic":
            return True
    return False
