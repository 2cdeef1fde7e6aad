"""Decide whether a value that a model wrote is a call of a known tool, and which."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec

from laconic.wire.prompted_tool_calls.repair import decode

NAME_KEYS: Final = ("name", "tool", "tool_name", "function", "action")
_ARGUMENT_KEYS: Final = ("arguments", "args", "parameters", "params", "input", "action_input")
_WRAPPERS: Final = ("tool_calls", "calls", "tool_call", "function_call")
_EXTRA_KEYS: Final = frozenset({"id", "type", "index", "call_id"})
HEAD_KEYS: Final = frozenset({*NAME_KEYS, *_ARGUMENT_KEYS, *_WRAPPERS, *_EXTRA_KEYS})
_READING: Final = (
    "read", "grep", "glob", "search", "list", "ls", "find", "view", "get", "fetch", "inspect", "map", "show", "open",
    "cat", "head", "tail", "stat", "lookup", "recall", "describe", "trace", "diff", "context", "query",
)  # fmt: skip
_WRITING: Final = (
    "write", "edit", "delete", "remove", "replace", "run", "exec", "bash", "shell", "move", "rename", "patch",
    "apply", "create", "insert", "update", "set", "put", "post", "send", "kill", "save", "install", "commit", "push",
)  # fmt: skip


class PromptedTool(msgspec.Struct, frozen=True):
    """A tool as far as reading its calls needs it."""

    name: str
    properties: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    free: bool = False  # it takes a text of any form, here as its argument `input`

    @property
    def reads_only(self) -> bool:
        """By its name; what is not surely harmless counts as writing."""
        words = _words(self.name)
        return any(word in _READING for word in words) and not any(word in _WRITING for word in words)


class PromptedCall(msgspec.Struct, frozen=True):
    """A call that may run."""

    name: str
    arguments: dict[str, object]


class BrokenCall(msgspec.Struct, frozen=True):
    """A call that may not, and why: truncated, not-json, unknown-tool, arguments, batch."""

    reason: str
    name: str = ""


class UnusableCalls(msgspec.Struct, frozen=True):
    """An answer with calls of which none can be used: what the model wrote, and what is wrong with it."""

    written: str
    broken: tuple[BrokenCall, ...]


def calls_in(
    text: str, tools: Mapping[str, PromptedTool], *, marked: bool, name: str = ""
) -> list[PromptedCall | BrokenCall]:
    """The calls in a text that is one JSON value; none when it is any other value. ValueError: it is no value.

    `marked`: it stands where only calls do; elsewhere the form has to be beyond doubt. `name`: of the tool whose
    arguments the value is, whatever keys it has.
    """
    if name:
        named = _call({"name": name, "arguments": decode(text)}, tools, marked=True)
        if named is not None:
            return [named]
        return []
    found = []
    for item in _flat(decode(text)):
        found.append(_call(item, tools, marked=marked))
    if None in found:
        return []
    return [item for item in found if item is not None]


def mentions(text: str, tools: Collection[str]) -> str:
    """The tool that a text which is no value seems to call; empty when none."""
    for key in NAME_KEYS:
        for quote in "\"'":
            head = text.find(f"{quote}{key}{quote}")
            if head >= 0:
                tail = text[head + len(key) + 2 :].lstrip(" \t\r\n:")
                for name in tools:
                    if tail.startswith((f'"{name}"', f"'{name}'")):
                        return name
    return ""


def _flat(value: object) -> Iterator[object]:
    """Arrays and wrappers opened."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    elif isinstance(value, Mapping):
        wrapper = next((key for key in _WRAPPERS if isinstance(value.get(key), list | dict)), None)
        yield from _flat(value[wrapper]) if wrapper and not _read_name(value) else iter([value])
    else:
        yield value


def _read_name(value: Mapping[str, object]) -> str:
    return next((name for key in NAME_KEYS if isinstance(name := value.get(key), str)), "")


def _call(value: object, tools: Mapping[str, PromptedTool], *, marked: bool) -> PromptedCall | BrokenCall | None:
    if not isinstance(value, Mapping):
        return None
    if isinstance(inner := value.get("function"), Mapping):  # OpenAI's own form, written by hand
        value = inner
    name = _read_name(value)
    given = next((key for key in _ARGUMENT_KEYS if key in value), None)
    tool = _find(name, tools)
    if tool is None:
        if name and given:
            return BrokenCall("unknown-tool", name)
        return None
    if not marked and given is None and isinstance(value.get("name"), str):
        return None  # any record may have a name
    arguments = _arguments(value, given, tool)
    if arguments is None or not tool.required <= arguments.keys():
        return BrokenCall("arguments", tool.name)
    return PromptedCall(tool.name, arguments)


def _find(name: str, tools: Mapping[str, PromptedTool]) -> PromptedTool | None:
    """By name; a difference in case alone is forgiven when only one tool can be meant."""
    if name in tools:
        return tools[name]
    near = []
    for tool in tools.values():
        if tool.name.lower() == name.lower():
            near.append(tool)
    if len(near) == 1:
        return near[0]
    return None


def _arguments(value: Mapping[str, object], given: str | None, tool: PromptedTool) -> dict[str, object] | None:
    if given is None:  # written beside the name: only when they are the tool's own
        beside = {}
        for key, item in value.items():
            if key not in {*NAME_KEYS, *_EXTRA_KEYS}:
                beside[key] = item
        if beside.keys() <= tool.properties:
            return beside
        return None
    arguments = value[given]
    if isinstance(arguments, str):
        try:
            arguments = decode(arguments) if arguments.strip() else {}
        except ValueError:
            return None
    if arguments is None:
        return {}
    if isinstance(arguments, Mapping):
        return {str(key): item for key, item in arguments.items()}
    return None


def _words(name: str) -> list[str]:
    """The words of a name: `readFile`, `read_file` and `mcp__fs__read` all hold `read`."""
    spaced = re.sub(r"([A-Z])", r" \1", re.sub(r"[\W_]", " ", name))
    return [*spaced.lower().split(), name.lower()]
