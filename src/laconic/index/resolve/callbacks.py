"""The types that functions state for the functions which are passed to them, as written."""

from __future__ import annotations

import re
from typing import Final

from laconic.index.declared_types import split_outside, split_union

_CALLABLE: Final = re.compile(r"(?:Optional\[)?(?:[\w.]+\.)?Callable\[(.*?)\]\]?$", re.DOTALL)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


def read_parameters(written: str) -> list[str]:
    """The parameters of a signature or of a function type; nothing when it has none."""
    text = _skip_generics(written)
    start = text.find("(")
    end = _find_closing(text, start)
    if end < 0:
        return []
    found = []
    for each in split_arrows(text[start + 1 : end], ","):
        if each.strip():
            found.append(each.strip())
    return found


def read_called_result(written: str) -> str:
    """What a function type (`(a: T) => R`) or a call signature (`(a: T): R`) gives."""
    text = _skip_generics(written)
    end = _find_closing(text, text.find("("))
    rest = text[end + 1 :].lstrip() if end >= 0 else ""
    if rest.startswith("=>"):
        return rest[2:].strip()
    if rest.startswith(":"):
        return rest[1:].strip()
    return ""


def read_parameter_type(parameter: str) -> str:
    """`name?: T` states T."""
    name, colon, written = parameter.partition(":")
    if colon and "(" not in name and "{" not in name:
        return written.partition(" = ")[0].strip()
    return ""


def list_arguments(parameters: list[str], position: int) -> list[str]:
    """The types that an argument may have; those of a rest parameter are the ones of its elements."""
    if not parameters:
        return []
    rest = parameters[-1].startswith("...")
    if position >= len(parameters) - 1 and rest:
        written = read_parameter_type(parameters[-1])
        if written.startswith("[") and written.endswith("]"):
            return [each.strip().removeprefix("...") for each in split_arrows(written[1:-1], ",")]
        return [written.removesuffix("[]").strip("()")]
    if position < len(parameters):
        return [read_parameter_type(parameters[position])]
    return []


def find_call_signatures(body: str) -> list[str]:
    """The ways in which a value of an interface can be called, from the text of the interface."""
    found: list[str] = []
    start = body.find("{")
    depth, begin = 0, start + 1
    for at in range(start + 1, len(body)):
        letter = body[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth < 0 or (
            depth == 0 and letter in ";\n" and not body[at + 1 :].lstrip().startswith((":", "|", "&", ")"))
        ):
            piece = body[begin:at].strip().rstrip(";,")
            if piece.startswith(("(", "<")) and ")" in piece:
                found.append(piece)
                begin = at + 1
            elif not piece.startswith("<"):
                begin = at + 1
        if depth < 0:
            break
    return found


def is_function_type(written: str) -> bool:
    """`(a: T) => R`, `<A>(a: A) => R`."""
    text = _skip_generics(written)
    end = _find_closing(text, 0) if text.startswith("(") else -1
    return end > 0 and text[end + 1 :].lstrip().startswith("=>")


def read_function_type(written: str) -> str | None:
    """A function type without what is around it: `((a: A) => R) | undefined`, `Callable[[A], R]`."""
    if "=>" in written:
        sides = split_union(written)
        if len(sides) != 1:
            return None
        text = sides[0]
        while text.startswith("(") and _find_closing(text, 0) == len(text) - 1:
            text = text[1:-1].strip()
        return text if is_function_type(text) else None
    match = _CALLABLE.match(written.strip().strip("\"'"))
    if match is None:
        return None
    return f"() => {split_outside(match[1], ',')[-1].strip()}"


def split_arrows(text: str, mark: str) -> list[str]:
    """Parts between marks outside of brackets, where `=>` closes none."""
    return [each.replace("=\0", "=>") for each in split_outside(text.replace("=>", "=\0"), mark)]


def _skip_generics(written: str) -> str:
    """The text without the type parameters before the parenthesis."""
    text = written.strip().removeprefix("new ").strip()
    at = text.find("<")
    if at < 0 or (0 <= text.find("(") < at):
        return text
    depth = 0
    for position in range(at, len(text)):
        letter = text[position]
        if letter == "<":
            depth += 1
        elif letter == ">" and text[position - 1] != "=":
            depth -= 1
            if depth == 0:
                return text[:at] + text[position + 1 :].lstrip()
    return text


def _find_closing(text: str, start: int) -> int:
    if start < 0:
        return -1
    stack: list[str] = []
    for at in range(start, len(text)):
        letter = text[at]
        if letter in _CLOSING:
            stack.append(_CLOSING[letter])
        elif stack and letter == stack[-1]:
            stack.pop()
            if not stack:
                return at
    return -1
