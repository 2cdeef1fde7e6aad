"""Which of several functions of one name a call means, by how many arguments it has and by those written out.

Only for languages in which functions of one name with other parameters are other functions. What cannot be told apart
this way (`f(a)` where both `f(int)` and `f(String)` exist) belongs to all that fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from laconic.index.store import Symbol

_ROWS: Final = 30  # lines of one call that are read
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_MANY: Final = re.compile(r"\.\.\.|\bvararg\b|^\s*params\b")
_NUMERIC: Final = re.compile(
    r"\b(?:int|long|short|byte|float|double|bool|boolean|size_t|Int|Long|Short|Byte|Float|Double|Boolean)\b"
)
_TEXT: Final = re.compile(r"\b(?:String|string|str|char\s*\*)")
_STRING: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*')
_NUMBER: Final = re.compile(r"\s*-?\d[\w.]*\s*")
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')


@dataclass(frozen=True, slots=True)
class Parameters:
    """How a function can be called."""

    types: tuple[str, ...]  # as written, with their names
    fewest: int
    most: int | None  # None: any number

    def accept(self, arguments: Sequence[str]) -> bool:
        if len(arguments) < self.fewest or (self.most is not None and len(arguments) > self.most):
            return False
        return not any(_contradicts(*pair) for pair in zip(arguments, self.types, strict=False))


def read_parameters(symbol: Symbol) -> Parameters | None:
    """The parameters that a signature lists; None where it lists none."""
    at = re.search(rf"\b{re.escape(symbol.name)}\s*(?:<[^()]*>)?\s*\(", symbol.signature)
    if at is None:
        return None
    types = _split_list(symbol.signature, at.end())
    if types is None:
        return None
    if types == ["void"]:
        types = []
    fewest = 0
    most: int | None = len(types)
    for text in types:
        if _MANY.search(text):
            most = None
        elif "=" not in text:
            fewest += 1
    return Parameters(tuple(types), fewest, most)


def read_arguments(lines: Sequence[str], line: int, column: int) -> list[str] | None:
    """The arguments of the call whose name stands at a place; None where it is no call."""
    text = "\n".join([lines[line - 1][column:], *lines[line : line + _ROWS]])
    called = re.match(r"~?\w+\s*(?:<[\w\s,.?<>&*\[\]]*>)?\s*\(", text)
    if called is None:
        return None
    return _split_list(text, called.end())


def _split_list(text: str, start: int) -> list[str] | None:
    """What stands between commas up to the bracket that closes; None where none does."""
    plain = _QUOTED.sub(lambda found: '"' + "s" * (len(found[0]) - 2) + '"', text)
    parts: list[str] = []
    depth = 0
    angles = 0
    begin = start
    for at in range(start, len(plain)):
        sign = plain[at]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING and depth:
            depth -= 1
        elif sign == "<" and re.match(r"<[\w\s,.?<>&*\[\]]*>", plain[at:]):
            angles += 1
        elif sign == ">" and angles:
            angles -= 1
        elif not depth and sign == ")":
            last = text[begin:at]
            if parts or last.strip():
                parts.append(last)
            return [part.strip() for part in parts]
        elif not depth and not angles and sign == ",":
            parts.append(text[begin:at])
            begin = at + 1
    return None


def _contradicts(argument: str, parameter: str) -> bool:
    """Whether a text is passed for a number, or a number for a text."""
    if _STRING.fullmatch(argument):
        return _NUMERIC.search(parameter) is not None
    return _NUMBER.fullmatch(argument) is not None and _TEXT.search(parameter) is not None


class Overloads:
    """The functions of one name that a symbol is one of."""

    def __init__(self, symbol: Symbol, others: Iterable[Symbol], *, declared_apart: bool) -> None:
        self._own = read_parameters(symbol)
        self._others: list[Parameters] = []
        for each in others:
            found = read_parameters(each)
            if found is None or self._own is None or found == self._own:
                continue
            if (
                declared_apart and found.most == self._own.most
            ):  # another declaration of it, maybe with default values
                self._own = replace(self._own, types=(), fewest=min(found.fewest, self._own.fewest))
            else:
                self._others.append(found)

    def may_mean(self, lines: Sequence[str], line: int, column: int) -> bool:
        """Whether the use at a place can be one of the symbol: not where only others fit."""
        if self._own is None or not self._others or line > len(lines):
            return True
        arguments = read_arguments(lines, line, column)
        if arguments is None or self._own.accept(arguments):
            return True
        return not any(other.accept(arguments) for other in self._others)
