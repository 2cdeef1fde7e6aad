"""Output of several programs in one text: stretches of patches and JSON are reduced as such, the rest as events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from laconic.reduce.text.build_and_test_output import output_parts
from laconic.reduce.text.parts import DETAIL, EDGE, TextPart, shift_parts
from laconic.reduce.text.patches import HUNK, patch_parts, starts_file


def mixed_parts(lines: Sequence[str]) -> list[TextPart]:
    """Parts of a text whose stretches differ in kind."""
    parts: list[TextPart] = []
    start = index = 0
    while index < len(lines):
        if starts_file(lines, index) and (end := _patch_end(lines, index)) > index + 3:
            parts += shift_parts(output_parts(lines[start:index]), len(parts))
            parts += shift_parts(_beside(patch_parts(lines[index:end])), len(parts))
            start = index = end
        else:
            index += 1
    return parts + shift_parts(output_parts(lines[start:]), len(parts))


def _patch_end(lines: Sequence[str], index: int) -> int:
    """Where the patch that begins here ends: behind the last counted line of its last hunk."""
    end = index
    while index < len(lines):
        line = lines[index]
        if found := HUNK.match(line):
            old, new = int(found[2] or 1), int(found[4] or 1)
            index += 1
            while index < len(lines) and (old > 0 or new > 0) and lines[index][:1] in ("", " ", "+", "-", "\\"):
                sign = lines[index][:1] or " "
                old -= sign in " -"
                new -= sign in " +"
                index += 1
            end = index
        elif line.startswith(
            (
                "diff --",
                "index ",
                "--- ",
                "+++ ",
                "new file",
                "deleted file",
                "rename ",
                "similarity ",
                "old mode",
                "new mode",
                "\\",
            )
        ):
            index += 1
        else:
            break
    return end


def _beside(parts: Sequence[TextPart]) -> list[TextPart]:
    """Beside a test run a patch is context, not the point."""
    found: list[TextPart] = []
    for part in parts:
        found.append(replace(part, worth=min(part.worth, EDGE if part.head < 0 else DETAIL)))
    return found
