"""Understand a call as it was meant: guessed names, a string for a list, "20" for 20.

What cannot be understood is answered with the tool's signature and an example, never with a bare refusal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from laconic.errors import UsageError
from laconic.tool_runtime.tool import Argument, Tool, Value

# Names that agents use for the same thing; a tool's argument answers to all names of its family.
_FAMILIES: Final = (
    ("path", "paths", "file", "files", "file_path", "filepath", "filename", "folder", "directory", "dir"),
    ("query", "q", "pattern", "text", "search", "regex", "term", "search_query", "question", "keywords"),
    ("symbol", "symbols", "name", "names", "identifier", "symbol_name", "function", "class", "entity"),
    ("targets", "target", "paths", "path", "files", "file", "file_path", "filename", "ranges", "spans"),
    ("task", "query", "question", "description", "prompt", "issue", "goal", "problem", "text"),
    ("limit", "count", "max_results", "max_count", "n", "top_k", "k", "num_results", "page_size"),
    ("ref", "reference", "id", "cursor", "handle", "archive"),
    ("in", "within", "mode", "scope", "search_type", "filter", "target"),
    ("to", "target", "dest", "destination", "end", "to_symbol"),
    ("lines", "range", "line_range", "span"),
    ("grep", "pattern", "match", "find", "regex"),
    ("action", "operation", "command", "op"),
    ("edits", "changes", "operations", "patches", "modifications"),
    ("base", "from", "ref", "since", "commit", "against", "left", "old"),
    ("language", "lang", "languages"),
)
_WRAPPERS: Final = ("arguments", "args", "input", "params", "parameters", "kwargs")
_LONGEST: Final = 60  # characters of a word that is compared with names
_FARTHEST: Final = 1_000_000_000  # no number that is meant is larger
_YES: Final = {"true", "yes", "1", "on"}
_NO: Final = {"false", "no", "0", "off", "", "none", "null"}


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The values of a call, and what had to be guessed."""

    values: dict[str, Value]
    repaired: tuple[str, ...]  # what was understood otherwise than written
    ignored: tuple[str, ...]  # what could not be used


def understand(tool: Tool, given: Mapping[str, object]) -> ParsedArguments:
    """The arguments of a call by their right names and types."""
    given, repaired = _unwrap(tool, {clean(name): value for name, value in given.items()})
    values: dict[str, Value] = {}
    ignored: list[str] = []
    spans = _span_words(tool, given)
    for name, raw in given.items():
        argument = _argument(tool, name, set(given) | set(values))
        if argument is None:
            if name not in spans:
                ignored.append(name)
            continue
        if argument.name != name:
            repaired.append(f"{name} as {argument.name}")
        if raw is None:
            continue
        value = _value(tool, argument, raw)
        if value != raw:
            repaired.append(argument.name)
        if argument.name in values and isinstance(values[argument.name], list) and isinstance(value, list):
            value = [*values[argument.name], *value]  # type: ignore[misc]
        values[argument.name] = value
    _add_span(tool, values, spans)
    for argument in tool.fields.values():
        if argument.required and not values.get(argument.name):
            raise UsageError(f"{tool.name} needs `{argument.name}`.", usage(tool))
        values.setdefault(argument.name, argument.default)
    return ParsedArguments(values, tuple(dict.fromkeys(repaired)), tuple(ignored))


def usage(tool: Tool) -> str:
    """The signature in one line and a call that works."""
    example = ""
    if tool.examples:
        example = f" For example: {tool.examples[0]}"
    return f"Call {tool.signature()}.{example}"


def _unwrap(tool: Tool, given: Mapping[str, object]) -> tuple[Mapping[str, object], list[str]]:
    if len(given) == 1:
        (name, inner), *_ = given.items()
        if name in _WRAPPERS and name not in tool.fields:
            if isinstance(inner, str):
                inner = _parse_json(inner)
            if isinstance(inner, dict):
                return inner, [name]
    return _gather(tool, given)


def _gather(tool: Tool, given: Mapping[str, object]) -> tuple[Mapping[str, object], list[str]]:
    """The one record that was written out as arguments, where a tool takes a list of such records and got none."""
    records = [argument for argument in tool.fields.values() if argument.kind == "records"]
    if len(records) != 1:
        return given, []
    meant = {name: _argument(tool, name, set(given)) for name in given}
    loose = [name for name in given if meant[name] is None]
    if not loose or records[0] in meant.values():
        return given, []
    found: dict[str, object] = {name: value for name, value in given.items() if name not in loose}
    found[records[0].name] = [{name: given[name] for name in loose}]
    return found, [f"{', '.join(loose)} as one of {records[0].name}"]


def _argument(tool: Tool, name: str, taken: set[str]) -> Argument | None:
    """The argument that a name stands for: itself, an alias, a family member, or a near spelling."""
    if name in tool.fields:
        return tool.fields[name]
    plain = name.lower().replace("-", "_").strip("_")
    if plain not in tool.fields:
        plain = _snake(name)
    free = []
    for argument in tool.fields.values():
        if argument.name not in taken:
            free.append(argument)
    for argument in free:
        if plain == argument.name or plain in argument.aliases:
            return argument
    for argument in free:
        if any(family[0] == argument.name and plain in family for family in _FAMILIES):
            return argument
    near = get_close_matches(plain[:_LONGEST], [argument.name for argument in free], n=1, cutoff=0.75)
    if near:
        return tool.fields[near[0]]
    return None


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")


def _value(tool: Tool, argument: Argument, raw: object) -> Value:
    try:
        value = _read(raw, argument)
    except (ValueError, TypeError, OverflowError, RecursionError):
        problem = f"`{argument.name}` of {tool.name} should be {_SPOKEN[argument.kind]}, not {_quote(raw)}."
        raise UsageError(problem, usage(tool)) from None
    if argument.choices and isinstance(value, str) and value not in argument.choices:
        return _choice(tool, argument, value)
    return value


def _choice(tool: Tool, argument: Argument, value: str) -> str:
    """The choice that a word means. One that changes something must be written out."""
    word = value.lower()[:_LONGEST]
    for other, choice in argument.also:
        if word == other:
            return choice
    guessable = [choice for choice in argument.choices if choice not in argument.exact]
    near = get_close_matches(word, guessable, n=1, cutoff=0.5)
    if not near:
        choices = ", ".join(argument.choices)
        raise UsageError(f"`{argument.name}` of {tool.name} is one of: {choices}.", usage(tool))
    return near[0]


def _text(raw: object) -> str:
    if isinstance(raw, list):
        return " ".join(_text(item) for item in raw)
    if isinstance(raw, dict):
        raise TypeError(raw)
    return clean(str(raw))


def clean(text: str) -> str:
    """Text that can be stored and sent: half a surrogate pair shows as a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _texts(raw: object, argument: Argument) -> list[str]:
    if isinstance(raw, str):
        if raw.lstrip()[:1] in {"[", "{"}:
            parsed = _parse_json(raw)
        else:
            parsed = None
        if isinstance(parsed, list | dict):
            return _texts(parsed, argument)
        raw = clean(raw)
        if argument.words:
            parts = raw.replace("\n", ",").split(",")
        else:
            parts = raw.replace(",", " ").split()
        found: list[str] = []
        for part in parts:
            if part.strip():
                found.append(part.strip())
        return found
    if isinstance(raw, dict):
        return [clean(_target(raw))]
    if isinstance(raw, list):
        made: list[str] = []
        for item in raw:
            made.append(clean(_target(item) if isinstance(item, dict) else str(item)))
        return made
    return [str(raw)]


def _target(raw: Mapping[str, object]) -> str:
    """`{path, start, end}` or `{path, symbol}` as one text."""
    names = {}
    for key, value in raw.items():
        names[str(key)] = value
    path = next((str(names[key]) for key in ("path", "file", "file_path", "filename", "target") if key in names), "")
    symbol = next((str(names[key]) for key in ("symbol", "name", "function") if names.get(key)), "")
    start = next((names[key] for key in _START if names.get(key) is not None), None)
    end = next((names[key] for key in _END if names.get(key) is not None), None)
    if not path and not symbol:
        raise ValueError(raw)
    if symbol:
        if path:
            return f"{path}::{symbol}"
        return symbol
    if start is None and end is None:
        return path
    return f"{path}:{start if start is not None else 1}-{end if end is not None else start}"


_START: Final = ("start", "start_line", "line_start", "from_line", "first_line", "begin", "line", "offset")
_END: Final = ("end", "end_line", "line_end", "to_line", "last_line", "stop")


def _span_words(tool: Tool, given: Mapping[str, object]) -> dict[str, object]:
    """`start`/`end` given beside one path, for tools that take targets."""
    if "targets" not in tool.fields:
        return {}
    found = {}
    for name, value in given.items():
        if name in {*_START, *_END, "limit"} and value is not None:
            found[name] = value
    if any(name in found for name in _START) or any(name in found for name in _END):
        return found
    return {}


def _add_span(tool: Tool, values: dict[str, Value], spans: Mapping[str, object]) -> None:
    targets = values.get("targets")
    if not spans or not isinstance(targets, list) or len(targets) != 1 or not isinstance(targets[0], str):
        return
    if ":" in targets[0]:
        return
    first = next((spans[name] for name in _START if name in spans), 1)
    last = next((spans[name] for name in _END if name in spans), None)
    try:
        start = _number(first)
        if last is None:
            end = start
        else:
            end = _number(last)
        if last is None and "limit" in spans:
            end = start + _number(spans["limit"]) - 1
    except (ValueError, TypeError, OverflowError):
        raise UsageError(f"{_quote(first)} to {_quote(last)} are not lines.", usage(tool)) from None
    values["targets"] = [f"{targets[0]}:{max(1, start)}-{max(1, end)}"]
    values.pop("offset", None)


def _number(raw: object) -> int:
    if isinstance(raw, bool):
        raise TypeError(raw)
    if isinstance(raw, str):
        raw = raw.strip().replace("_", "").replace(",", "")
    return max(-_FARTHEST, min(_FARTHEST, int(float(str(raw)))))


def _flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueError(raw)


def _records(raw: object) -> list[dict[str, object]]:
    if isinstance(raw, str):
        raw = _parse_json(raw)
    if isinstance(raw, dict):
        raw = [raw]
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        raise TypeError(raw)
    return raw


def _read(raw: object, argument: Argument) -> Value:
    match argument.kind:
        case "texts":
            return _texts(raw, argument)
        case "number":
            return _number(raw)
        case "flag":
            return _flag(raw)
        case "records":
            return _records(raw)
    return _text(raw)


_SPOKEN: Final = {
    "text": "text",
    "texts": "a list of texts",
    "number": "a number",
    "flag": "true or false",
    "records": "a list of objects",
}


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _quote(raw: object) -> str:
    try:
        text = clean(repr(raw))
    except RecursionError:
        text = f"a deeply nested {type(raw).__name__}"
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."
