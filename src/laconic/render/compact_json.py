"""Answers as compact JSON, for programs that asked for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from laconic.records import Hit, Omission
from laconic.render.escape_control import visible_json

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


def hit_record(hit: Hit) -> dict[str, Json]:
    """One hit: flat, no nulls, no dead fields."""
    record: dict[str, Json] = {"path": hit.path, "line": hit.line, "kind": hit.kind}
    if hit.name:
        record["name"] = hit.name
    if hit.preview:
        record["preview"] = hit.preview.strip()
    if hit.symbol:
        record["in"] = hit.symbol
    if hit.span:
        record["span"] = [hit.span.start, hit.span.end]
    if not hit.sure:
        record["possible"] = True
    return record


def envelope(kind: str, body: Mapping[str, Json], omission: Omission | None, used: int, limit: int) -> str:
    """The answer; what it is and what it used of its budget is said only when something was left out."""
    answer: dict[str, Json] = dict(body)
    if omission is not None and omission.missing > 0:
        answer |= {"kind": kind, "budget_used": used, "budget_limit": limit}
        answer |= {"shown": omission.shown, "total": omission.total}
        if omission.more:
            answer["more"] = omission.more
    return dump(answer)


def dump(value: Json) -> str:
    """JSON without blanks; text stays readable, and steers no terminal."""
    return visible_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
