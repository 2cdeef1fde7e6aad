"""A foreign tool in one line: its name, the arguments that it needs, and what it does. Pure.

Names and descriptions are foreign text: whatever they hold, they stay one short line below the name of their server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from laconic.mcp_proxy.messages import Message

WIDTHS: Final = (60, 48, 40, 34, 28, 22, 16, 0)  # characters of what a tool does, the best first
_NAME: Final = 80
_ARGUMENTS: Final = 6  # required ones that a line names
_FEW: Final = 2  # optional ones that are named where none is required
_WHOLE: Final = 30_000  # characters of a tool that is shown whole
_DESCRIBED: Final = 2_000  # of its description otherwise
_LISTED: Final = 60  # and of its arguments, so many
_PROBLEMS: Final = 8  # that are named
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_INVISIBLE: Final = re.compile(  # joiners, directions, and letters that only a model reads
    r"[\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?:;])\s|\n|\s-\s|, (?:which|including|such)\b|\s\(")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FILLERS: Final = frozenset(
    ("a", "an", "the", "of", "to", "for", "in", "on", "with", "and", "or", "by", "from", "this")
)
_DANGLING: Final = _FILLERS | {
    "that",
    "which",
    "using",
    "based",
    "all",
    "is",
    "are",
    "be",
    "can",
    "as",
    "via",
    "onto",
}
_ARTICLE: Final = re.compile(r"\b(?:the|an?|this|provided|given|specific|specified) (?=\w)", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"^(?:this tool (?:will |can |is used to )?|use this (?:tool )?to |tool (?:to|for) |allows? (?:you )?to )", re.I
)


def describe_tool(name: str, tool: Message, width: int = WIDTHS[0]) -> str:
    """`name(needed, arguments) what it does`; a star says that it only reads, `?` that an argument is optional."""
    needed = required_names(tool)
    shown = [visible(one, 40) for one in needed[:_ARGUMENTS]]
    if len(needed) > _ARGUMENTS:
        shown.append("...")
    if not needed and len(properties_of(tool)) <= _FEW:  # many a tool forgets to say that it needs its only argument
        shown = [f"{visible(one, 40)}?" for one in properties_of(tool)]
    line = visible(name, _NAME)
    if only_reads(tool):
        line += "*"
    line += f"({', '.join(shown)})"
    summary = summarise(str(tool.get("description") or tool.get("title") or ""), name, width)
    if summary:
        line += f" {summary}"
    return line


def summarise(description: str, name: str = "", width: int = WIDTHS[0]) -> str:
    """The first sentence without its articles, shortened; empty where it says no more than the name."""
    text = _OPENING.sub("", visible(description.strip(), 2_000))
    first = _ARTICLE.sub("", _SENTENCE.split(text, maxsplit=1)[0]).strip(" .:;,-*#`")
    if len(first) > width:
        words = first[: width + 1].split(" ")[:-1]
        while words and words[-1].lower().strip(",") in _DANGLING:
            words.pop()
        first = " ".join(words).rstrip(" ,;:(")
    known = {word.lower().rstrip("s") for word in _WORDS.findall(name)}
    told = [word for word in _WORDS.findall(first) if word.lower() not in _FILLERS]
    news = [word for word in told if word.lower().rstrip("s") not in known]
    if not news:
        return ""
    return first


def visible(text: str, most: int) -> str:
    """Foreign text on one line, without control and invisible characters, at most so long."""
    line = " ".join(_INVISIBLE.sub("", _CONTROL.sub(" ", text)).split())
    if len(line) > most:
        return line[: most - 1] + "…"
    return line


def schema_of(tool: Message) -> Mapping[str, Any]:
    schema = tool.get("inputSchema")
    if isinstance(schema, Mapping):
        return schema
    return {}


def properties_of(tool: Message) -> Mapping[str, Any]:
    found = schema_of(tool).get("properties")
    if isinstance(found, Mapping):
        return found
    return {}


def required_names(tool: Message) -> list[str]:
    found = schema_of(tool).get("required")
    if not isinstance(found, list):
        return []
    return [name for name in found if isinstance(name, str)]


def write_schema(tool: Message) -> str:
    """A tool as JSON, all of it unless it is absurdly long: then its arguments by name and type, as many as fit."""
    whole = msgspec.json.encode(tool).decode()
    if len(whole) <= _WHOLE:
        return whole
    needed = required_names(tool)
    listed = sorted(properties_of(tool).items(), key=lambda item: item[0] not in needed)
    shown: dict[str, str] = {}
    for name, schema in listed[:_LISTED]:
        shown[visible(name, 60)] = _wanted(schema) if isinstance(schema, Mapping) else "any"
    short = {
        "name": visible(str(tool.get("name", "")), _NAME),
        "description": visible(str(tool.get("description", ""))[:_DESCRIBED], _DESCRIBED),
        "arguments": shown,
        "required": [visible(name, 60) for name in needed[:_LISTED]],
        "left out": f"{len(whole):,} characters of schema, {max(0, len(listed) - _LISTED)} more arguments",
    }
    return msgspec.json.encode(short).decode()


def only_reads(tool: Message) -> bool:
    annotations = tool.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True


def misfits(tool: Message, arguments: Mapping[str, Any]) -> list[str]:
    """Why a call does not fit the schema at its first level; what lies deeper is the server's to judge."""
    known = properties_of(tool)
    found = [f"`{name}` is missing" for name in required_names(tool) if name not in arguments]
    for name, value in arguments.items():
        if name not in known:
            if known and schema_of(tool).get("additionalProperties") in (None, False):
                found.append(f"`{visible(name, 60)}` is not an argument")
        elif not _fits(known[name], value):
            found.append(f"`{visible(name, 60)}` is not {_wanted(known[name])}")
        if len(found) >= _PROBLEMS:
            break
    return found[:_PROBLEMS]


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _fits(schema: object, value: object) -> bool:
    if not isinstance(schema, Mapping):
        return True
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return False
    kinds = schema.get("type")
    names: Iterable[object] = [kinds] if isinstance(kinds, str) else kinds or ()
    allowed = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if not allowed:
        return True
    if isinstance(value, bool):
        return any(bool in types for types in allowed)
    return any(isinstance(value, types) for types in allowed)


def _wanted(schema: Mapping[str, Any]) -> str:
    if isinstance(schema.get("enum"), list):
        return "one of " + ", ".join(visible(str(choice), 40) for choice in schema["enum"][:12])
    return f"of type {visible(str(schema.get('type')), 40)}"
