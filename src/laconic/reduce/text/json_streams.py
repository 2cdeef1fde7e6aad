"""Streams of JSON records (NDJSON, server-sent events): pieces put together, what all share said once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from laconic.reduce.text.json_text import FINDING, NOTHING, PartWriter, flatten, scalar
from laconic.reduce.text.parts import KEY, NEAR, PLACE, RARE, TextPart

_JOINED: Final = re.compile(r"(?:^|\.)(?:content|text|partial_json|arguments|delta|thinking|response)$")


def stream_parts(records: Sequence[object]) -> tuple[list[TextPart], bool]:
    """A stream of records (NDJSON, server-sent events): text that comes in pieces is put together, then a table."""
    rows = [dict(flatten(record, True)) for record in records if isinstance(record, dict)]
    odd = [record for record in records if not isinstance(record, dict)]
    writer = PartWriter([])
    for name in [n for n in dict.fromkeys(k for row in rows for k in row) if _JOINED.search(n)]:
        pieces = []
        for row in rows:
            if isinstance(row.get(name), str):
                pieces.append(row[name])
        if len(pieces) > 3 and len("".join(map(str, pieces))) < 40 * len(pieces):
            writer.line(
                0, f"{name} (joined from {len(pieces)}): {scalar(''.join(map(str, pieces)), writer, 4000)}", KEY
            )
            rows = [{k: v for k, v in row.items() if k != name} for row in rows]
    if rows:
        _write_stream(writer, rows)
    for record in odd[:20]:
        writer.line(0, scalar(record, writer), NEAR)
    return writer.parts, writer.cut


def _write_stream(out: PartWriter, rows: Sequence[Mapping[str, object]]) -> None:
    """Fields that nearly all records share are said once; then each distinct record by what differs."""
    common: dict[str, object] = {}
    for name in dict.fromkeys(k for row in rows for k in row):
        values: dict[str, int] = {}
        for row in rows:
            values[repr(row.get(name))] = values.get(repr(row.get(name)), 0) + 1
        top, count = max(values.items(), key=lambda item: item[1])
        if count * 10 >= len(rows) * 6:
            common[name] = next(row.get(name) for row in rows if repr(row.get(name)) == top)
    said = {name: value for name, value in common.items() if value not in NOTHING}
    if said:
        out.line(0, f"all {len(rows):,} records unless said otherwise: " + _fields(said, out), KEY)
    times: dict[str, int] = {}
    for row in rows:
        differs = {}
        for k, v in row.items():
            if k not in common or v != common[k]:
                differs[k] = v
        text = _fields(differs, out)
        times[text] = times.get(text, 0) + 1
    many = len(times) > 200
    for text, count in times.items():
        if text:
            if FINDING.search(text):
                worth = KEY
            elif many:
                worth = RARE
            else:
                worth = PLACE
            out.line(0, text + (f"  [×{count}]" if count > 1 else ""), worth)


def _fields(row: Mapping[str, object], out: PartWriter) -> str:
    return ", ".join(f"{name}: {scalar(value, out, 300)}" for name, value in row.items() if value not in NOTHING)
