"""Our hooks of Claude Code: how they are registered, and what the one behind its shell is told and answers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from laconic.clients import jsonc
from laconic.clients.claude import notes_folder
from laconic.clients.install import ConfigChange
from laconic.clients.setup import NAME, ClientFolders, Scope
from laconic.clients.tools_wait import WAIT_WORDS, start_hook

_SHELL_WORDS: Final = "hook"
_PERSISTED: Final = "persistedOutputPath"
_PERSISTED_SIZE: Final = "persistedOutputSize"
_LARGEST: Final = 2_000_000  # bytes


def shell_hook_edit(places: ClientFolders, scope: Scope, program: str) -> ConfigChange:
    """The hook that shortens what the shell prints."""
    hook = {"type": "command", "command": f"{program} {_SHELL_WORDS}", "timeout": 20}
    return _hook_edit(places, scope, "PostToolUse", {"matcher": "Bash", "hooks": [hook]}, _SHELL_WORDS)


def start_hook_edit(places: ClientFolders, scope: Scope, program: str) -> ConfigChange:
    """The hook that lets the first prompt wait for our tools."""
    return _hook_edit(places, scope, "SessionStart", start_hook(program), WAIT_WORDS)


def _hook_edit(places: ClientFolders, scope: Scope, event: str, ours: dict[str, object], words: str) -> ConfigChange:
    """A hook beside those of others in Claude Code's settings; `words` are what ends its command."""
    folder = places.root / ".claude" if scope == "project" else notes_folder(places)
    at = ("hooks", event)

    def put(text: str) -> str:
        held = _registered(text, at)
        if ours in held:
            return text
        return jsonc.append(take(text), at, ours)

    def take(text: str) -> str:
        held = _registered(text, at)
        for index in reversed(range(len(held))):
            if _is_ours(held[index], words):
                text = jsonc.drop(text, at, index)
        return text

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


def _registered(text: str, at: tuple[str, ...]) -> list[Any]:
    held: Any = jsonc.parse(text)
    for key in at:
        held = held.get(key) if isinstance(held, dict) else None
    return held if isinstance(held, list) else []


def _is_ours(entry: object, words: str) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    for hook in hooks if isinstance(hooks, list) else []:
        command = str(hook.get("command", "")) if isinstance(hook, dict) else ""
        if command.endswith(f" {words}") and _is_our_program(command.removesuffix(words)):
            return True
    return False


def _is_our_program(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and Path(words[-1]).stem == NAME
