"""Patches and git logs: less context around changes with hunk headers made right again, short commit headers.

What stays is a patch that applies; what goes, goes as whole hunks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from laconic.reduce.text.parts import (
    COMMON,
    EDGE,
    HUNK_LINES,
    KEY,
    NEAR,
    NOISE,
    PLACE,
    TOP,
    UNSAID,
    TextPart,
    shorten,
)

HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$")
COMMIT: Final = re.compile(r"^commit ([0-9a-f]{7,64})(.*)$")
_META: Final = re.compile(
    r"^(?:index |old mode|new mode|new file mode|deleted file mode|similarity index|dissimilarity index"
    r"|rename |copy |Binary files |GIT binary)"
)
_GENERATED: Final = re.compile(
    r"(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|uv\.lock|go\.sum"
    r"|composer\.lock|Gemfile\.lock"
    r"|\.min\.(?:js|css)|\.map|\.snap|_pb2\.py|\.pb\.go)$"
)
_TRAILER: Final = re.compile(r"^\s+(?:Signed-off-by|Co-[Aa]uthored-[Bb]y|Reviewed-by|Acked-by|Tested-by|Change-Id): ")
_CONTEXT: Final = 1
_MESSAGE: Final = 24  # lines before the first file that are a message
_SHA: Final = 12


def patch_parts(lines: Sequence[str]) -> list[TextPart]:
    """Parts of a diff or a log with diffs: file headers, hunks, commits, and whatever stands between."""
    parts: list[TextPart] = []
    index, head = 0, -1
    generated = False
    while index < len(lines):
        line = lines[index]
        if starts_file(lines, index):
            header, index = _file_header(lines, index)
            generated = any(_GENERATED.search(text) for text in header)
            head = len(parts)
            parts.append(TextPart("\n".join(header), KEY, len(header), "diff header lines"))
        elif (found := HUNK.match(line)) and head >= 0:
            body, index = _hunk_body(lines, index + 1, found)
            if generated or _only_blank_changes(body):
                worth = COMMON
            else:
                worth = PLACE
            hunks = _trim_hunk(found, body)
            for text in hunks:
                parts.append(TextPart(text=text, worth=worth, lines=text.count("\n") + 1, what=HUNK_LINES, head=head))
            dropped = len(body) + len(hunks) - sum(text.count("\n") + 1 for text in hunks)
            parts.append(TextPart("", NOISE, dropped, UNSAID))
        elif COMMIT.match(line):
            commit, index = _commit(lines, index)
            head = -1
            parts.append(TextPart(commit, TOP, commit.count("\n") + 1))
        else:
            if line.strip():
                parts.append(TextPart(shorten(line, 400), _worth_outside(head, len(parts))))
            index += 1
    return parts


def _worth_outside(head: int, place: int) -> int:
    """What a line outside of all hunks is worth: what is before the first file says what the patch is for."""
    if head >= 0:
        return EDGE
    return KEY if place < _MESSAGE else NEAR


def starts_file(lines: Sequence[str], index: int) -> bool:
    """A file's header begins here."""
    line = lines[index]
    if line.startswith(("diff --git ", "diff --cc ", "diff --combined ")):
        return True
    return line.startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ ")


def _file_header(lines: Sequence[str], index: int) -> tuple[list[str], int]:
    start = index
    index += 1
    while index < len(lines) and (_META.match(lines[index]) or lines[index].startswith(("--- ", "+++ "))):
        index += 1
        if lines[index - 1].startswith("+++ "):
            break
    header = []
    for line in lines[start:index]:
        if not line.startswith(("index ", "similarity index")):
            header.append(line)
    plain = all(line.startswith(("diff --git", "--- ", "+++ ")) for line in header)
    if plain and len(header) == 3:  # the two paths say it all
        header = header[1:]
    return header, index


def _hunk_body(lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[list[str], int]:
    """The lines that the header counts; a blank line stands for an empty line of context."""
    old, new = int(found[2] or 1), int(found[4] or 1)
    body: list[str] = []
    while index < len(lines) and (old > 0 or new > 0 or lines[index].startswith("\\")):
        line = lines[index]
        sign = line[:1] or " "
        if sign not in " +-\\":
            break
        old -= sign in " -"
        new -= sign in " +"
        body.append(line or " ")
        index += 1
    return body, index


def _only_blank_changes(body: Sequence[str]) -> bool:
    """Nothing but white space changes in this hunk."""
    gone = ""
    for line in body:
        if line[:1] == "-":
            gone += "".join(line[1:].split())
    come = ""
    for line in body:
        if line[:1] == "+":
            come += "".join(line[1:].split())
    return gone == come


def _trim_hunk(found: re.Match[str], body: Sequence[str]) -> list[str]:
    """The hunk with less context, as one or more hunks whose headers are right."""
    old, new = int(found[1]), int(found[3])
    numbered: list[tuple[int, int, str]] = []
    for line in body:
        numbered.append((old, new, line))
        old += line[:1] in " -"
        new += line[:1] in " +"
    changed = []
    for i, line in enumerate(body):
        if line[:1] in "+-":
            changed.append(i)
    if not changed:
        return ["\n".join([found.group(), *body])]
    keep: set[int] = set()
    for i in changed:
        keep.update(range(max(0, i - _CONTEXT), min(len(body), i + _CONTEXT + 1)))
    keep |= {i for i, line in enumerate(body) if line[:1] == "\\" and i - 1 in keep}
    hunks: list[list[int]] = []
    for i in sorted(keep):
        if hunks and i - hunks[-1][-1] <= 2:
            hunks[-1].extend(range(hunks[-1][-1] + 1, i + 1))
        else:
            hunks.append([i])
    # An anchor to the start or end of a file is told by missing context: keep what git printed there.
    made: list[str] = []
    for n, hunk in enumerate(hunks):
        made.append(_hunk_text([numbered[i] for i in hunk], found[5] if n == 0 else ""))
    return made


def _hunk_text(rows: Sequence[tuple[int, int, str]], title: str) -> str:
    old = 0
    for _, _, line in rows:
        old += line[:1] in " -"
    new = 0
    for _, _, line in rows:
        new += line[:1] in " +"
    start_old = rows[0][0] - (old == 0)
    start_new = rows[0][1] - (new == 0)
    header = f"@@ -{_range(start_old, old)} +{_range(start_new, new)} @@{title}"
    return "\n".join([header, *(line for _, _, line in rows)])


def _range(start: int, count: int) -> str:
    if count == 1:
        return str(start)
    return f"{start},{count}"


def _commit(lines: Sequence[str], index: int) -> tuple[str, int]:
    """`commit 1a2b3c Author, date` and the message."""
    found = COMMIT.match(lines[index])
    assert found is not None
    facts = [f"commit {found[1][:_SHA]}{found[2]}"]
    index += 1
    while index < len(lines) and (
        field := re.match(r"^(Author|AuthorDate|Date|Merge|Commit|CommitDate): +(.*)$", lines[index])
    ):
        facts.append(re.sub(r" <[^>]*>$", "", field[2]) if field[1] in {"Author", "Commit"} else field[2])
        index += 1
    message: list[str] = []
    while index < len(lines) and (not lines[index].strip() or lines[index].startswith("    ")):
        if lines[index].strip() and not _TRAILER.match(lines[index]):
            message.append(lines[index][2:])
        index += 1
    return "\n".join([", ".join(dict.fromkeys(facts)), *message]), index
