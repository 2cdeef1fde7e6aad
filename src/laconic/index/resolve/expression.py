"""Receivers and assigned expressions as chains of names, calls and subscripts, from text alone."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_STEP: Final = re.compile(
    r"(?:\?\.|!\.|&\.|\.|::|\?->|->)?\s*([A-Za-z_$@][\w$]*|(?<=\.)\d+|\(\)|\[\]|\{\}|<>|\"\"|!|\?)"
)
_NAME: Final = re.compile(r"(?:[A-Za-z_$@][\w$]*|\d+)\Z")
_OPEN: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_LEAD: Final = re.compile(r"(?:await|new|return|yield|&mut|&|\*|\(|typeof|ref|out|try|copy)\s*")
_TOKEN: Final = re.compile(r"[A-Za-z_$@][\w$]*|\?\.|!\.|\.|::|\?->|->")
_OPERATORS: Final = frozenset("+-*/%|&<>=?")
_LONGEST: Final = 400


class Step(NamedTuple):
    """One link: a name, or what is done to the value before it: `()`, `[]`, `{}`."""

    text: str

    @property
    def is_name(self) -> bool:
        return _NAME.match(self.text) is not None


def steps(receiver: str) -> tuple[Step, ...] | None:
    """A receiver as the parser writes it; nothing when it is not a plain chain."""
    found: list[Step] = []
    at = 0
    while at < len(receiver):
        match = _STEP.match(receiver, at)
        if match is None:
            return None
        if match[1] == "()" and match[0][0] == ".":
            found.append(Step("[]"))  # a type assertion of Go: what it makes of the value is no longer in the text
        elif match[1] not in {"<>", "!", "?"}:
            found.append(Step(match[1]))
        at = match.end()
    return tuple(found)


def chain(text: str) -> str:
    """The leading chain of an expression in a program, arguments emptied: `Foo(1).bar[2] + x` is `Foo().bar[]`.

    Empty when the expression is anything else, a literal for instance, or goes on with an operator.
    """
    text = text[:_LONGEST].strip()
    while (lead := _LEAD.match(text)) and lead.end():
        if lead[0][0].isalpha() and not lead[0][-1].isspace():
            break
        text = text[lead.end() :]
    parts: list[str] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter in "([{<":
            end = _closing(text, at)
            if letter == "<" and (end < 0 or text[end + 1 : end + 2] not in {"(", ":", "{", "."}):
                break
            if letter == "{" and (not parts or (text[at - 1].isspace() and parts[-1][:1].islower())):
                break
            parts.append("" if letter == "<" else letter + _OPEN[letter])
            if end < 0:
                break
            at = end + 1
            continue
        token = _TOKEN.match(text, at)
        if token:
            parts.append(token[0])
            at = token.end()
        elif (letter in "!?" and parts) or (letter in "\n\t " and _continues(text, at)):
            at += 1
        else:
            break
    rest = text[at:].lstrip(" \t")
    comment = rest.startswith(("//", "/*", "#"))
    if not comment and (rest[:1] in _OPERATORS or rest[:3] in {"or ", "and", "if "}):
        return ""
    joined = "".join(parts).rstrip(".:")
    if joined[:1] not in "([{.":
        return joined
    return ""


def _continues(text: str, at: int) -> bool:
    rest = text[at:].lstrip()
    return (rest[:1] == "." and rest[:2] != "..") or rest[:2] in {"?.", "::", "->"}


def _closing(text: str, start: int) -> int:
    opener, closer = text[start], _OPEN[text[start]]
    depth = 0
    quote = ""
    for at in range(start, len(text)):
        letter = text[at]
        if quote:
            if letter == quote and text[at - 1] != "\\":
                quote = ""
        elif letter in '"`' or (letter == "'" and text[at - 1 : at] not in {"&", "<"}):
            quote = letter
        elif letter == opener:
            depth += 1
        elif letter == closer:
            depth -= 1
            if depth == 0:
                return at
    return -1
