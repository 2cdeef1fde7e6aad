"""Changes as JSON, for programs: a compact form, a standard one with reasons, a full one with all that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from laconic.records import ChangeRisk, Impact, Span
from laconic.render.compact_json import Json

_EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})
_SEVERITY: Final = {"added": "minor", "cosmetic": "minor", "body": "moderate", "moved": "moderate"}


def compact(item: ChangeRisk) -> dict[str, Json]:
    """What one acts on; nothing empty."""
    change = item.change
    impact = item.impact or Impact()
    return _without_empty(
        {
            "path": change.path,
            "kind": change.kind,
            "name": change.name,
            "change": _word(item),
            "was": change.old_name,
            "from": change.old_path,
            "risk": item.risk,
            "lines": change.added + change.removed,
            "span": _pair(change.span or change.old_span),
            "refs": impact.references or None,
            "tests": list(impact.tests[:5]),
        }
    )


def standard(item: ChangeRisk) -> dict[str, Json]:
    """The same with the reason for the risk, and both signatures where they differ."""
    change = item.change
    made: dict[str, Json] = {**compact(item), "why": item.why}
    if change.old_signature != change.signature:
        made |= {"old_signature": change.old_signature, "new_signature": change.signature}
    if item.impact is not None:
        made["old_name_used_in"] = list(item.impact.stale)
    return _without_empty(made)


def full(item: ChangeRisk) -> dict[str, Json]:
    """Everything that is known, under long names."""
    change = item.change
    impact = item.impact or Impact()
    span = change.span or change.old_span or Span(0, 0)
    return {
        "path": change.path,
        "old_path": change.old_path or change.path,
        "kind": change.kind,
        "name": change.name.rpartition(".")[2],
        "old_name": (change.old_name or change.name).rpartition(".")[2],
        "qualified_name": change.name,
        "entity_id": f"{change.kind}:{change.name}",
        "change": _word(item),
        "delta_tags": list(change.changes),
        "structural_severity": _SEVERITY.get(change.changes[0], "major"),
        "behavior_change_risk": item.risk,
        "risk_basis": item.why,
        "start_line": span.start,
        "end_line": span.end,
        "old_start_line": change.old_span.start if change.old_span else None,
        "old_end_line": change.old_span.end if change.old_span else None,
        "lines_added": change.added,
        "lines_removed": change.removed,
        "lines_changed": change.added + change.removed,
        "old_signature": change.old_signature,
        "new_signature": change.signature,
        "visibility": change.visibility,
        "modifiers": list(change.modifiers),
        "is_static": "static" in change.modifiers,
        "is_test": change.test,
        "impact": {
            "is_known": item.impact is not None,
            "reference_count": impact.references,
            "referencing_files": list(impact.files),
            "affected_test_files": list(impact.tests),
            "old_name_used_in": list(impact.stale),
        },
    }


FORMS: Final = {"compact": compact, "standard": standard, "full": full}


def _pair(span: Span | None) -> list[Json] | None:
    if span is None:
        return None
    return [span.start, span.end]


def _without_empty(made: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in made.items():
        if value not in _EMPTY:
            found[key] = value
    return found


def _word(item: ChangeRisk) -> str:
    words = []
    for one in item.change.changes:
        words.append(one if one in {"added", "removed", "renamed", "moved"} else f"{one}_changed")
    return "_and_".join(words)
