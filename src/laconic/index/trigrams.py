"""Which trigrams a text must hold to match a literal or a regular expression; pure, and careful to ask too little.

Only trigrams within a run of letters, digits and underscores count: the index knows no others.
The question that comes out is an FTS5 query for the `texts` table, or nothing when every file may match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z0-9_]{3}")
_ENOUGH: Final = 10  # trigrams of one literal; more cost time and exclude little
_BRANCHES: Final = 12
_CLASS_ESCAPES: Final = "dDsSwWbBAZzpPXRKGh"  # an escaped letter that stands for no single character
_SPECIAL: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}

Branches = list[list[str]]  # any of these, each: all of these


def for_literal(text: str) -> str:
    """The query for files that may hold a literal."""
    return _all([text])


def for_regex(pattern: str) -> str:
    """The query for files that may hold a match."""
    if "(?x" in pattern or "(?-" in pattern or "(?|" in pattern or "(?(" in pattern:
        return ""
    scanner = _Scanner(pattern)
    branches = scanner.alternatives()
    if scanner.at < len(pattern) or len(branches) > _BRANCHES:
        return ""
    queries = []
    for literals in branches:
        queries.append(_all(literals))
    if not all(queries):
        return ""
    return " OR ".join(f"({query})" for query in dict.fromkeys(queries))


def _all(literals: list[str]) -> str:
    found: dict[str, None] = {}
    for text in literals:
        # Folding may change the length of characters beyond ASCII: those are not asked for.
        grams = []
        for at in range(len(text) - 2):
            if _WORD.fullmatch(gram := text[at : at + 3]):
                grams.append(gram)
        step = max(1, len(grams) // _ENOUGH)
        for gram in [*grams[::step], *grams[-1:]]:
            found[gram.lower()] = None
    return " AND ".join(f'"{gram}"' for gram in found)


@dataclass(slots=True)
class _Scanner:
    """Reads a pattern from left to right and keeps the literals that every match must hold."""

    pattern: str
    at: int = 0

    def alternatives(self) -> Branches:
        branches = self._sequence()
        while self._peek() == "|":
            self.at += 1
            branches = branches + self._sequence()
        return branches

    def _sequence(self) -> Branches:
        """One branch: literals in a row; a group with alternatives multiplies it."""
        done: Branches = [[]]
        run = ""
        while self.at < len(self.pattern) and self._peek() not in "|)":
            piece, inner = self._item()
            optional, exact = self._quantifier()
            if piece is not None and exact:
                run += piece
                continue
            if piece is not None and not optional:
                run += piece  # at least once, so it ends the run that it belongs to
            done = [[*branch, run] if run else branch for branch in done]
            run = piece if piece is not None and not optional else ""
            if inner is not None and not optional:
                crossed = []
                for left in done:
                    for right in inner:
                        crossed.append([*left, *right])
                done = crossed if len(crossed) <= _BRANCHES else done
        found: Branches = []
        for branch in done:
            found.append([*branch, run] if run else branch)
        return found

    def _item(self) -> tuple[str | None, Branches | None]:
        """The next character or group: a literal character, or what is inside a group, or neither."""
        char = self._peek()
        self.at += 1
        if char == "\\":
            return self._escape(), None
        if char == "[":
            self._skip_class()
            return None, None
        if char == "(":
            return None, self._group()
        if char in ".^$":
            return (None, None)
        return (char, None)

    def _escape(self) -> str | None:
        char = self._peek()
        self.at += 1
        if char in _CLASS_ESCAPES or char.isdigit() or char in "xuUNkgLQEmM":
            if char in "xuUNkgpP":
                self._skip_argument(char)
            return None
        return _SPECIAL.get(char, char)

    def _skip_argument(self, char: str) -> None:
        if self._peek() in "{<":
            closer = "}" if self._peek() == "{" else ">"
            end = self.pattern.find(closer, self.at)
            self.at = len(self.pattern) if end < 0 else end + 1
        else:
            self.at += {"x": 2, "u": 4, "U": 8, "p": 1, "P": 1}.get(char, 0)

    def _skip_class(self) -> None:
        if self._peek() == "^":
            self.at += 1
        first = True
        while self.at < len(self.pattern) and (self._peek() != "]" or first):
            self.at += 2 if self._peek() == "\\" else 1
            first = False
        self.at += 1

    def _group(self) -> Branches | None:
        """What is inside; nothing for look-arounds, comments and flags, which may demand absence."""
        plain = self._peek() != "?"
        if not plain:
            head = self.pattern[self.at : self.at + 3]
            if head.startswith("?:"):
                self.at += 2
                plain = True
            elif head.startswith(("?P<", "?<")) and not head.startswith(("?<=", "?<!")):
                end = self.pattern.find(">", self.at)
                self.at = len(self.pattern) if end < 0 else end + 1
                plain = True
        inner = self.alternatives()
        self.at += 1  # the closing parenthesis
        if plain:
            return inner
        return None

    def _quantifier(self) -> tuple[bool, bool]:
        """Whether the item before may be absent, and whether it stands there exactly once."""
        char = self._peek()
        if char in {"*", "?"}:
            self.at += 1
            optional = True
        elif char == "+":
            self.at += 1
            optional = False
        elif char == "{" and (end := self.pattern.find("}", self.at)) > 0:
            least = self.pattern[self.at + 1 : end].split(",", 1)[0]
            self.at = end + 1
            optional = not least.isdigit() or int(least) == 0
        else:
            return False, True
        if self._peek() in {"?", "+"}:  # lazy or possessive
            self.at += 1
        return optional, False

    def _peek(self) -> str:
        if self.at < len(self.pattern):
            return self.pattern[self.at]
        return "\0"
