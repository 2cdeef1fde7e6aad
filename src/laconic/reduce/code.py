"""Shorten a body of code to its structure: signatures, documentation and returns stay, then control flow as it fits.

A return stands with the conditions under which it is reached: without them it would say the opposite as easily.
Every line that remains is verbatim; every gap says which lines it stands for (`    … 57-63`). What each line is comes
in as one mark for each line: from the syntax tree where there is one, from `guess` where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

SHARE: Final = 0.25  # of the cost of the whole body that structure may take when no budget is given


class LineKind:
    """What a line is, as one character."""

    SIGNATURE: Final = "s"
    DOC: Final = "d"  # the first line of documentation
    MORE_DOC: Final = "m"
    RETURN: Final = "r"  # return, raise, throw, yield
    FLOW: Final = "f"
    CLOSER: Final = "c"
    BODY: Final = "b"
    BLANK: Final = " "

    RANK: Final = {" ": 0, "b": 1, "c": 2, "m": 3, "f": 4, "r": 4, "d": 5, "s": 6}


@dataclass(frozen=True, slots=True)
class FoldedCode:
    """A body with gaps."""

    text: str
    shown: int  # lines that are shown verbatim
    total: int

    @property
    def whole(self) -> bool:
        return self.shown == self.total


Cost = Callable[[str], int]


def fold(lines: Sequence[str], marks: str, first: int = 1, *, cost: Cost, budget: int | None = None) -> FoldedCode:
    """A body cut to its structure.

    Without a budget the structure takes about a quarter of the whole; signatures, first lines of documentation and
    returns stay whatever they cost. With a budget as much is shown as fits, the most important first, and the
    result never costs more than the budget.
    """
    body = _Body(lines, marks, first, cost)
    if budget is not None and cost("\n".join(lines)) <= budget:
        return body.render(set(range(len(lines))))
    kept = set()
    for row, mark in enumerate(marks):
        if mark in "sd":
            kept.add(row)
    target = budget
    if target is None:
        target = int(SHARE * sum(body.costs))
    body.add_returns(kept, budget)
    body.fill(kept, target, "fc" if budget is None else "fcmb ")
    folded = body.render(kept)
    if budget is None:
        return folded
    return body.shrink(kept, folded, budget)


class _Body:
    """The lines of one body with their costs."""

    def __init__(self, lines: Sequence[str], marks: str, first: int, cost: Cost) -> None:
        self.lines = lines
        self.marks = marks
        self.first = first
        self.cost = cost
        self.costs = [cost(line + "\n") for line in lines]
        self.indents = [_indent(line) for line in lines]
        self.gap = cost(f"    … {first + 10}-{first + 20}\n")

    def fill(self, kept: set[int], target: int, order: str) -> None:
        """Add lines of the given marks, most important first, while the target allows."""
        spent = sum(self.costs[row] for row in kept) + self.gap * self._gaps(kept)
        for row in self._rank_lines(kept, order):
            added = self.costs[row] + self.gap * self._more_gaps(kept, row)
            if spent + added <= target:
                kept.add(row)
                spent += added

    def add_returns(self, kept: set[int], budget: int | None) -> None:
        """Add what the body gives back, each return with its conditions, the outermost first, while a budget allows."""
        returns = []
        for row, mark in enumerate(self.marks):
            if mark == LineKind.RETURN:
                returns.append(row)
        for row in sorted(returns, key=lambda row: (self.indents[row], -row)):
            added = []
            for each in (*self._conditions(row), row):
                if each not in kept:
                    added.append(each)
            if budget is not None and sum(self.costs[each] for each in [*kept, *added]) > budget:
                return
            kept.update(added)

    def _conditions(self, row: int) -> list[int]:
        """The lines of control flow around a line, by how far they are indented, each branch with what it belongs to."""
        found: list[int] = []
        indent = self.indents[row]
        branch = row
        for above in range(row - 1, -1, -1):
            if not self.lines[above].strip() or self.indents[above] > indent:
                continue
            if self.marks[above] == LineKind.SIGNATURE:
                break
            if self.indents[above] < indent:
                indent = self.indents[above]
                if self.marks[above] == LineKind.FLOW:
                    found.append(above)
                    branch = above
            elif self._leads_to(above, branch):
                found.append(above)
                branch = above
        return found

    def _leads_to(self, above: int, branch: int) -> bool:
        """Whether a line is the condition that an `else` turns around, the head of a `case`, or falls into it."""
        if self.marks[above] not in (LineKind.FLOW, LineKind.RETURN):
            return False
        if _ELSE.match(self.lines[branch]):
            return _IF.search(self.lines[above]) is not None
        if not _CASE.match(self.lines[branch]):
            return False
        if _CASE.match(self.lines[above]):
            return above == branch - 1 and self.marks[above] == LineKind.FLOW
        return self.marks[above] == LineKind.FLOW

    def _rank_lines(self, kept: set[int], order: str) -> list[int]:
        """Structure from the outside in; then plain lines in the order of the file."""
        rows = []
        for row, mark in enumerate(self.marks):
            if mark in order and row not in kept:
                rows.append(row)
        return sorted(rows, key=lambda row: self._rank(row, order))

    def _rank(self, row: int, order: str) -> tuple[int, int, int]:
        mark = self.marks[row]
        if mark in "fc":
            return 0, self.indents[row], row
        return order.index(mark), 0, row

    def _gaps(self, kept: set[int]) -> int:
        return sum(row not in kept and (row == 0 or row - 1 in kept) for row in range(len(self.lines)))

    def _more_gaps(self, kept: set[int], row: int) -> int:
        """How many gaps more (or fewer) there are when one more line is shown."""
        above = row > 0 and row - 1 not in kept
        below = row + 1 < len(self.lines) and row + 1 not in kept
        return int(above) + int(below) - 1

    def render(self, kept: set[int]) -> FoldedCode:
        parts: list[str] = []
        row, total, shown = 0, len(self.lines), len(kept)
        while row < total:
            if row in kept:
                parts.append(self.lines[row])
                row += 1
                continue
            end = row
            while end < total and end not in kept:
                end += 1
            if end - row == 1 and self.costs[row] <= self.gap:
                parts.append(self.lines[row])  # the line itself is no longer than the word that it is missing
                shown += 1
            elif any(self.marks[hidden] != LineKind.BLANK for hidden in range(row, end)):
                parts.append(self._gap(row, end - 1))
            row = end
        return FoldedCode("\n".join(parts), shown, total)

    def _gap(self, start: int, end: int) -> str:
        indent = next((self.indents[row] for row in range(start, end + 1) if self.lines[row].strip()), 0)
        lead = next((line[:indent] for line in self.lines[start : end + 1] if line.strip()), "")
        if start == end:
            numbers = f"{self.first + start}"
        else:
            numbers = f"{self.first + start}-{self.first + end}"
        return f"{lead}… {numbers}"

    def shrink(self, kept: set[int], folded: FoldedCode, budget: int) -> FoldedCode:
        """Give up lines, least important first, until the text costs no more than the budget."""
        order = sorted(kept, key=self._importance)
        while order and self.cost(folded.text) > budget:
            gone = max(1, len(order) // 8)
            kept.difference_update(order[:gone])
            order = order[gone:]
            folded = self.render(kept)
        if self.cost(folded.text) <= budget:
            return folded
        return FoldedCode("", 0, len(self.lines))

    def _importance(self, row: int) -> tuple[int, int, int]:
        """What is given up first comes first: of one rank the deepest and last lines, a return before its condition."""
        return LineKind.RANK[self.marks[row]], -self.indents[row], -row


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_SIGNATURE: Final = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|pub(?:\([^)]*\))?"
    r"|unsafe|extern|open|suspend|inline|const)\s+)*(?:def|class|func|function|fun|fn|sub|proc|interface|struct|enum|trait|impl|module"
    r"|namespace|object|record|type)\b|^\s*@\w"
)
_RETURN: Final = re.compile(r"^\s*(?:\}\s*)?(?:return|raise|throw|yield)\b|[{:;)]\s*(?:return|raise|throw|yield)\b")
_FLOW_LINE: Final = re.compile(
    r"^\s*(?:\}\s*)?(?:if|else|elif|elsif|elseif|unless|for|foreach|while|until|do|loop|switch|case|match|when|select|default|try"
    r"|except|catch|finally|with|begin|rescue|ensure)\b"
)
_CASE: Final = re.compile(r"\s*(?:case|default|when)\b")
_ELSE: Final = re.compile(r"\s*(?:\}\s*)?(?:else|elif|elsif|elseif)\b")
_IF: Final = re.compile(r"^\s*(?:\}\s*)?(?:else\s+)?(?:if|unless|elif|elsif|elseif|for|while)\b")
_COMMENT: Final = re.compile(r"^\s*(?:#(?!\[)|//|/\*|\*|--|;;|\"\"\"|''')")
_CLOSER: Final = re.compile(r"^\s*(?:[})\]]+[;,)]*|end|fi|done|esac)\s*$")


def guess(lines: Sequence[str]) -> str:
    """Marks from the words at the start of each line, for code without a grammar."""
    found: list[str] = []
    for line in lines:
        before = LineKind.SIGNATURE
        if found:
            before = found[-1]
        if not line.strip():
            mark = LineKind.BLANK
        elif _SIGNATURE.match(line) or not found:
            mark = LineKind.SIGNATURE
        elif _RETURN.search(line):
            mark = LineKind.RETURN
        elif _FLOW_LINE.match(line):
            mark = LineKind.FLOW
        elif _CLOSER.match(line):
            mark = LineKind.CLOSER
        elif _COMMENT.match(line) and before in "sd":
            mark = LineKind.MORE_DOC
            if before == LineKind.SIGNATURE:
                mark = LineKind.DOC
        else:
            mark = LineKind.BODY
        found.append(mark)
    return "".join(found)
