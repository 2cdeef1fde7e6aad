"""Changes as JSON, for programs: a compact form, and a full one with every field spelled out."""

from __future__ import annotations

from typing import Final

from laconic.records import Impact, Weighed
from laconic.render.compact import Json

_SEVERITY: Final = {"added": "minor", "cosmetic": "minor", "body": "moderate", "moved": "moderate"}


def compact(item: Weighed) -> dict[str, Json]:
    """What one acts on; nothing empty."""
    change = item.change
    span = change.span or change.old_span
    made: dict[str, Json] = {
        "path": change.path,
        "kind": change.kind,
        "name": change.name,
        "change": _word(item),
        "was": change.old_name,
        "from": change.old_path,
        "risk": item.risk,
        "lines": change.added + change.removed,
        "span": [span.start, span.end] if span else None,
        "refs": item.impact.references if item.impact else None,
        "tests": list(item.impact.tests[:5]) if item.impact else None,
    }
    found: dict[str, Json] = {}
    for key, value in made.items():
        if value not in (None, "", []):
            found[key] = value
    return found


def full(item: Weighed) -> dict[str, Json]:
    """Everything, under long names."""
    change = item.change
    span = change.span or change.old_span
    impact = item.impact or Impact()
    made: dict[str, Json] = {
        "path": change.path,
        "kind": change.kind,
        "name": change.name.rpartition(".")[2],
        "change": _word(item),
        "structural_severity": _SEVERITY.get(change.changes[0], "major"),
        "behavior_change_risk": item.risk,
        "classification_confidence": 1.0,
        "qualified_name": change.name,
        "entity_id": f"{change.kind}:{change.name}",
        "start_line": span.start if span else 0,
        "start_col": 0,
        "end_line": span.end if span else 0,
        "end_col": 0,
        "lines_changed": change.added + change.removed,
        "delta_tags": list(change.changes),
        "impact": {
            "reference_count": impact.references,
            "ref_tiers": {"direct": impact.references},
            "referencing_files": list(impact.files),
            "importing_files": [],
            "affected_test_files": list(impact.tests),
            "confidence": "high" if item.impact else "none",
            "visibility": change.visibility,
            "is_static": "static" in change.modifiers,
        },
    }
    if change.old_path or change.old_name:
        made |= {"old_path": change.old_path or change.path, "old_name": change.old_name or change.name}
    if change.old_signature != change.signature:
        made |= {"old_signature": change.old_signature, "new_signature": change.signature}
    return made


def _word(item: Weighed) -> str:
    return "_and_".join(
        one if one in {"added", "removed", "renamed", "moved"} else f"{one}_changed" for one in item.change.changes
    )
