"""Changes as text: files, then their symbols, one line each; or hunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.records import ChangeRisk, FileChange, Hunk
from laconic.render.plural import count_of

_MARKS: Final = {
    "added": "+",
    "removed": "-",
    "renamed": ">",
    "moved": ">",
    "signature": "!",
    "body": "~",
    "cosmetic": "=",
}
_STATUS: Final = {"added": " new", "removed": " gone", "unmerged": " unmerged"}
_VALUES: Final = frozenset({"variable", "constant", "field"})
_NAMES_SHOWN: Final = 6


def file_line(change: FileChange, added: int, removed: int, imports: Sequence[str] = ()) -> str:
    """One file: what became of it, lines, and imports that came or went."""
    parts = [change.path + _STATUS.get(change.status, "")]
    if change.old_path:
        parts.append(f"was {change.old_path}")
    if change.note:
        parts.append(change.note)
    if added or removed:
        parts.append(" ".join(f"{mark}{n}" for mark, n in (("+", added), ("-", removed)) if n))
    if len(parts) > 2:
        line = ", ".join(parts)
    else:
        line = " ".join(parts)
    if imports and change.status not in {"added", "removed"}:
        return f"{line}; imports {_some(imports)}"
    return line


def symbol_line(item: ChangeRisk, detail: str) -> str:
    """One symbol; more detail adds signatures, then who depends on it."""
    change = item.change
    words = [_MARKS[change.changes[0]], change.name]
    if change.changes[0] in {"renamed", "moved"}:
        old = change.old_name or change.name
        words[1] = f"{f'{change.old_path}::' if change.old_path else ''}{old} -> {change.name}"
    words.append(change.kind)
    if change.span:
        words.append(str(change.span))
    extra = []
    for one in change.changes:
        if one not in {"added", "removed"}:
            extra.append(one)
    if extra:
        words.append("+".join(extra))
        words.append(" ".join(f"{mark}{n}" for mark, n in (("+", change.added), ("-", change.removed)) if n))
    line = " ".join(word for word in words if word)
    if item.risk in {"medium", "high"}:
        line += f"; {item.risk}" + (f": {item.why}" if detail in {"standard", "full"} else "")
    elif item.impact and item.impact.references:
        line += f"; {item.impact.references} refs"
    return "\n".join([line, *_more(item, detail)])


def _more(item: ChangeRisk, detail: str) -> list[str]:
    change = item.change
    lines = []
    if detail in {"standard", "full"} and {"signature", "renamed"} & set(change.changes):
        if change.old_signature != change.signature:
            lines += [f"  was {change.old_signature}", f"  now {change.signature}"]
    elif detail in {"standard", "full"} and change.changes == ("added",) and change.kind not in _VALUES:
        lines.append(f"  {change.signature}")
    if detail == "full" and item.impact:
        lines += [f"  used in {_some(item.impact.files, 20)}"] if item.impact.files else []
        lines += [f"  tests {_some(item.impact.tests, 20)}"] if item.impact.tests else []
    return lines


def within_line(items: Sequence[ChangeRisk]) -> str:
    """Symbols that came or went with the one above."""
    return "  with " + _some([item.change.name.rpartition(".")[2] for item in items], 40)


def totals(changes: int, files: int, items: Sequence[ChangeRisk]) -> str:
    """The first line of an answer."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item.change.changes[0]] = counts.get(item.change.changes[0], 0) + 1
    said = ", ".join(f"{n} {word}" for word, n in counts.items())
    return f"{count_of(files, 'file')}, {count_of(changes, 'symbol')}" + (f" ({said})" if said else "")


def hunk_text(hunk: Hunk) -> str:
    """One hunk as git writes it."""
    return "\n".join(
        [f"@@ -{_range(hunk.old_start, hunk.old_lines)} +{_range(hunk.new_start, hunk.new_lines)} @@", *hunk.body]
    )


def _range(start: int, lines: int) -> str:
    if lines == 1:
        return str(start)
    return f"{start},{lines}"


def _some(names: Sequence[str], most: int = _NAMES_SHOWN) -> str:
    rest = len(names) - most
    return " ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
