"""Read calls out of a model's text as it streams. How the text is cut into chunks never changes the outcome.

Calls stand in a fence, in a tag, or bare at the start of a line. Whatever else the model writes passes as text, byte
for byte: code in other fences, examples within a sentence, thoughts. Calls are handed out at the end, when it is
known that nothing was cut off and that no neighbour is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from laconic.wire.prompted_tool_calls.calls import (
    HEAD_KEYS,
    BrokenCall,
    PromptedCall,
    PromptedTool,
    calls_in,
    mentions,
)

_TOOL_FENCES: Final = frozenset({"tool", "tool_call", "tool_calls", "tool_code", "tool_use", "function_call", "call"})
_JSON_FENCES: Final = frozenset({"", "json", "jsonc", "json5", "jsonl"})
_TAGS: Final = {
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "[TOOL_CALLS]": "",
    "<|python_tag|>": "",
}
_QUIET: Final = {"<think>": "</think>", "<thinking>": "</thinking>", "<reasoning>": "</reasoning>"}
_NAMED: Final = "<function="  # Llama: the name in the tag, the arguments behind it
_OPENERS: Final = ("```", *_TAGS, *_QUIET, _NAMED)
_NAME: Final = re.compile(rf"{_NAMED}([\w.:-]{{1,128}})>\s*(?={{)")
_NAMING: Final = re.compile(rf"{_NAMED}(?:[\w.:-]{{0,128}}|[\w.:-]{{1,128}}>\s*)")  # more has to come
_FENCE: Final = re.compile(r"```([\w-]*)[ \t]*(?:\r?\n|(?=[{\[]))")
_HEAD: Final = re.compile(r"""\{\s*(?:(["'])([\w-]+)\1|([A-Za-z_]\w*))\s*:""")


class ParsedAnswer(msgspec.Struct, frozen=True):
    """What a whole answer comes to."""

    text: str  # what was not handed out before
    calls: tuple[PromptedCall, ...] = ()
    broken: tuple[BrokenCall, ...] = ()

    @property
    def useless(self) -> bool:
        """Calls were written, and none of them can be used."""
        return bool(self.broken) and not self.calls


class _Unit:
    """A stretch of text that may hold calls, followed until its end."""

    __slots__ = ("closer", "depth", "escaped", "kind", "name", "opened", "pos", "quote", "values")

    def __init__(self, kind: str, pos: int, closer: str, name: str = "") -> None:
        self.kind = kind  # tool, json, bare
        self.closer = closer  # what ends it; empty: the end of its line
        self.name = name  # of the tool, where it stands outside the value
        self.pos = pos  # how far it was looked at
        self.depth = 0
        self.quote = ""
        self.escaped = False
        self.opened = -1
        self.values: list[tuple[int, int]] = []

    def scan(self, text: str) -> int:
        """Go on reading; the end of the unit (where what follows begins), or -1 when it is not there yet."""
        while self.pos < len(text):
            sign = text[self.pos]
            if self.quote:
                self._in_string(sign)
            elif self.depth:
                self._in_value(sign)
            elif sign in "{[":
                self.depth, self.opened = 1, self.pos
            elif self.closer:
                if text.startswith(self.closer, self.pos):
                    return self.pos + len(self.closer)
                if self.closer.startswith(text[self.pos :]):
                    return -1
            elif sign == "\n":
                return self.pos
            self.pos += 1
        return -1

    def _in_string(self, sign: str) -> None:
        if self.escaped:
            self.escaped = False
        elif sign == "\\":
            self.escaped = True
        elif sign == self.quote:
            self.quote = ""

    def _in_value(self, sign: str) -> None:
        if sign in "\"'":
            self.quote = sign
        elif sign in "{[":
            self.depth += 1
        elif sign in "}]":
            self.depth -= 1
            if not self.depth:
                self.values.append((self.opened, self.pos + 1))


class CallParser:
    """Takes a model's text in chunks, gives back what is certainly text, and at the end the calls."""

    def __init__(self, tools: Iterable[PromptedTool]) -> None:
        self._tools: Mapping[str, PromptedTool] = {tool.name: tool for tool in tools}
        self._buffer = ""
        self._fresh = True  # at the start of a line
        self._until = ""  # inside a stretch that passes as text up to this
        self._unit: _Unit | None = None
        self._held: list[tuple[str, list[PromptedCall | BrokenCall]]] = []  # units with calls, as written

    def feed(self, chunk: str) -> str:
        """The next piece of the answer; returns the text that can go to the client now."""
        self._buffer += chunk
        return self._advance(last=False)

    def close(self, *, truncated: bool = False) -> ParsedAnswer:
        """The answer has ended; `truncated` when the provider says that it was cut off."""
        text = self._advance(last=True)
        found = [item for _, items in self._held for item in items]
        broken = []
        for item in found:
            if isinstance(item, BrokenCall):
                broken.append(item)
        if not truncated and not broken:
            return ParsedAnswer(text, tuple(item for item in found if isinstance(item, PromptedCall)))
        reason = "batch"
        if truncated:
            reason = "truncated"
        calls: list[PromptedCall] = []
        for written, items in self._held:
            good = []
            for item in items:
                if isinstance(item, PromptedCall):
                    good.append(item)
            safe = []
            for item in good:
                if self._tools[item.name].reads_only:
                    safe.append(item)
            calls += safe
            for item in good:
                if item not in safe:
                    broken.append(BrokenCall(reason, item.name))
            if len(safe) < len(items):
                text += written
        return ParsedAnswer(text, tuple(calls), tuple(broken))

    def _advance(self, *, last: bool) -> str:
        """Take from the buffer all that is decided."""
        passed: list[str] = []
        while self._buffer:
            before = (len(self._buffer), self._unit, self._until)
            if self._unit is not None:
                passed.append(self._follow(self._unit, last))
            elif self._until:
                passed.append(self._pass_until(last))
            elif self._fresh:
                passed.append(self._open(last))
            else:
                passed.append(self._pass_line())
            if (len(self._buffer), self._unit, self._until) == before:
                break
        return "".join(passed)

    def _take(self, size: int) -> str:
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        if taken:
            self._fresh = taken.endswith("\n")
        return taken

    def _pass_line(self) -> str:
        end = self._buffer.find("\n")
        return self._take(end + 1 if end >= 0 else len(self._buffer))

    def _pass_until(self, last: bool) -> str:
        end = self._buffer.find(self._until)
        if end >= 0:
            size = end + len(self._until)
            self._until = ""
            return self._take(size)
        return self._take(len(self._buffer) if last else max(0, len(self._buffer) - len(self._until) + 1))

    def _open(self, last: bool) -> str:
        """At the start of a line: is this the start of a call? Waits until that is certain."""
        line = self._buffer.lstrip(" \t\r\n")
        indent = len(self._buffer) - len(line)
        if not line:
            if last:
                return self._take(len(self._buffer))
            return ""
        if not last and any(opener.startswith(line) for opener in _OPENERS):
            return ""
        if line.startswith("```"):
            return self._open_fence(line, indent, last)
        for opener, closer in _TAGS.items():
            if line.startswith(opener):
                self._unit = _Unit("tool", indent + len(opener), closer)
                return ""
        if line.startswith(_NAMED):
            return self._open_named(line, indent, last)
        for opener, closer in _QUIET.items():
            if line.startswith(opener):
                self._until = closer
                return self._take(indent + len(opener))
        if line[0] in "{[":
            return self._open_bare(line, indent, last)
        return self._take(indent) + self._pass_line()

    def _open_fence(self, line: str, indent: int, last: bool) -> str:
        head = _FENCE.match(line)
        if head is None:
            undecided = "\n" not in line and re.fullmatch(r"```[\w-]*[ \t]*\r?", line) is not None
            if undecided and not last:
                return ""
            return self._take(indent) + self._pass_line()
        word = head[1].lower()
        if word in _TOOL_FENCES | _JSON_FENCES:
            self._unit = _Unit("tool" if word in _TOOL_FENCES else "json", indent + head.end(), "```")
            return ""
        self._until = "\n```"
        return self._take(indent + head.end() - 1)

    def _open_named(self, line: str, indent: int, last: bool) -> str:
        """A tag that names the tool is one only when an object follows."""
        head = _NAME.match(line)
        if head is not None:
            self._unit = _Unit("tool", indent + head.end(), "</function>", head[1])
            return ""
        if _NAMING.fullmatch(line) and not last:
            return ""
        return self._take(indent) + self._pass_line()

    def _open_bare(self, line: str, indent: int, last: bool) -> str:
        """A bare value is looked at only when its first key is one that calls have."""
        inner = line.lstrip("[ \t\r\n")
        match = _HEAD.match(inner)
        if match is None:
            could = not inner or re.fullmatch(r"""\{\s*(?:["']?[\w-]*["']?)?\s*""", inner) is not None
            if could and len(inner) < 80 and not last:
                return ""
        if match is None or (match[2] or match[3]) not in HEAD_KEYS:
            return self._take(indent) + self._pass_line()
        self._unit = _Unit("bare", indent, "")
        return ""

    def _follow(self, unit: _Unit, last: bool) -> str:
        """Inside a unit: go on until it ends, then decide what it was."""
        end = unit.scan(self._buffer)
        if end < 0:
            if not last:
                return ""
            end = len(self._buffer)
        elif not last and not self._is_line_decided(end):
            return ""
        self._unit = None
        items = self._judge(unit)
        if not items:
            return self._take(end)
        rest = re.match(r"[ \t]*\r?\n?", self._buffer[end:])
        written = self._take(end + (rest.end() if rest else 0))
        self._fresh = True
        self._held.append((written, items))
        return ""

    def _is_line_decided(self, end: int) -> bool:
        """Whether the line break behind a unit, which goes with it, has arrived."""
        return self._buffer[end:].strip(" \t\r") != ""

    def _judge(self, unit: _Unit) -> list[PromptedCall | BrokenCall]:
        """The calls in a unit, good and broken; none when it is only text."""
        raw = self._buffer
        if unit.depth or unit.quote:
            cut = unit.name or mentions(raw[unit.opened :], self._tools)
            if cut or unit.kind == "tool":
                return [BrokenCall("truncated", cut)]
            return []
        start = unit.values[0][0] if unit.values else unit.pos
        outside = self._outside(unit, start)
        if outside and unit.kind != "tool":
            return []
        found: list[PromptedCall | BrokenCall] = []
        for first, end in unit.values:
            try:
                items = calls_in(raw[first:end], self._tools, marked=unit.kind == "tool", name=unit.name)
            except ValueError:
                name = unit.name or mentions(raw[first:end], self._tools)
                if name or unit.kind == "tool":
                    items = [BrokenCall("not-json", name)]
                else:
                    items = []
            if not items:
                if unit.kind == "tool":
                    return [BrokenCall("not-json")]
                return []
            found += items
        return found or ([BrokenCall("not-json")] if unit.kind == "tool" else [])

    def _outside(self, unit: _Unit, start: int) -> str:
        """What stands in a unit beside its values."""
        ends = [start, *(end for _, end in unit.values)]
        starts = [*(first for first, _ in unit.values), unit.pos]
        return "".join(self._buffer[end:first] for end, first in zip(ends, starts, strict=True)).strip(" \t\r\n,;")
