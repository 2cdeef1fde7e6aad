"""What agents and harnesses wrap around an output: a return code, a command line, tags. It stays as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from laconic.reduce.text.clean import clean

_BEFORE: Final = re.compile(
    r"^(?:<returncode>.*</returncode>|</?(?:output|stdout|stderr|result|tool_result|function_results"
    r"|exception)>|Exit code:? -?\d+"
    r"|Error: Exit code -?\d+|(?:\[[\w:.-]+\] )?\$ .*|> \S.*@\S+ \S+|\[?(?:Command|command|cmd)\]?: .*"
    r"|exit_code: ?-?\d+|Output:|Wall time: .*"
    r"|Chunk ID: .*|Process exited with code -?\d+|Original token count: .*|\[The command .*|OBSERVATION:"
    r"|Here's the result of running .*)\s*$"
)
_AFTER: Final = re.compile(
    r"^(?:</(?:output|stdout|stderr|result|tool_result|function_results)>"
    r"|\[Command finished with exit code.*|\[Current working directory:.*"
    r"|\[Python (?:Interpreter|interpreter):.*|\[(?:The command completed|exit code|Exit code).*"
    r"|\(Open file: .*|\(Current directory: .*|bash-\$|EXIT: ?\d+"
    r"|<returncode>.*</returncode>|exit(?: code| status)?[:=] ?\d+)\s*$"
)
_MOST: Final = 6
_WIDEST: Final = 400
_SHARE: Final = 0.5  # of a JSON object, from which on a text in it is what the object was made for


@dataclass(frozen=True, slots=True)
class WrappedText:
    """A text between the lines that wrap it."""

    before: tuple[str, ...]
    body: str
    after: tuple[str, ...]


def unwrap(text: str) -> WrappedText:
    """Part the wrapping from the output; both may be empty."""
    start = 0
    before: list[str] = []
    while len(before) < _MOST:
        end = text.find("\n", start)
        if end < 0:
            break
        line = text[start:end]
        if line.strip() and (len(line) > _WIDEST or not _BEFORE.match(line)):
            break
        if line.strip():
            before.append(line)
        start = end + 1
    stop = len(text)
    after: list[str] = []
    while len(after) < _MOST and stop > start:
        begin = text.rfind("\n", start, stop) + 1 or start
        line = text[begin:stop]
        if line.strip() and (len(line) > _WIDEST or not _AFTER.match(line)):
            break
        if line.strip():
            after.insert(0, line)
        stop = begin - 1
        if begin == start:
            stop = start
    return WrappedText(tuple(before), text[start : max(start, stop)], tuple(after))


def unwrap_prefaced(wrapped: WrappedText) -> WrappedText | None:
    """A JSON document with the warnings before it that its program wrote on the other channel, if it is one."""
    if not wrapped.body.endswith(("}", "]")):
        return None
    lines = wrapped.body.split("\n", _MOST + 1)
    for above in range(1, len(lines)):
        if lines[above].startswith(("{", "[")):
            body = "\n".join(lines[above:])
            try:
                msgspec.json.decode(body)
            except (msgspec.DecodeError, RecursionError):
                return None
            said = tuple(line for line in lines[:above] if line.strip())
            fits = all(len(line) <= _WIDEST for line in said)
            if fits:
                return WrappedText((*wrapped.before, *said), body, wrapped.after)
            return None
    return None


def unwrap_object(wrapped: WrappedText) -> WrappedText | None:
    """The text in a JSON object that holds little else, as programs return an output, between the other fields."""
    try:
        fields = msgspec.json.decode(wrapped.body)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(fields, dict) or not 0 < len(fields) <= _MOST:
        return None
    longest = max(fields, key=lambda name: _count_characters(fields[name]))
    text = fields[longest]
    if not isinstance(text, str) or "\n" not in text.strip() or len(text) < _SHARE * len(wrapped.body):
        return None
    before, after = list(wrapped.before), list(wrapped.after)
    names = list(fields)
    place = names.index(longest)
    for name in names[:place]:
        before.append(_write_field(name, fields[name]))
    for name in reversed(names[place + 1 :]):
        after.insert(0, _write_field(name, fields[name]))
    if any(len(line) > _WIDEST or "\n" in line for line in (*before, *after)):
        return None
    return WrappedText((*before, f"{longest}:"), clean(text), tuple(after))


def _count_characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    return 0


def _write_field(name: str, value: object) -> str:
    if isinstance(value, str):
        return f"{name}: {value}"
    return f"{name}: {msgspec.json.encode(value).decode()}"
