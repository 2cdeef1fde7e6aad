"""Anchored edits on mutated real files: never at the wrong place, accepted wherever there is no doubt, and cheap.

A case is the file as it was read, the right edit in line coordinates, and the file as it is now. Written tokens are
counted in two ways: the place (tag and lines) with the new text at four characters a token, which is how the
search-and-replace baseline of the data was counted; and, exactly, the JSON of the shortest accepted edit without its
new text.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from laconic.edits.request import edit
from laconic.edits.resolve import ResolvedEdit, ShownVersion, resolve
from laconic.edits.source import join, split
from laconic.errors import Unreadable
from laconic.records import Span
from laconic.render.numbered_lines import header, number_lines
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

_CHARACTERS_A_TOKEN: Final = 4


def run(options: Options) -> Report:
    """All variants of all cases, in the default form and with line anchors off."""
    cases = _cases(Path(options.data) / "edits" / "dev.jsonl.gz")
    count = counter()
    outcomes = Counter((v["name"], v["expect"], _outcome(case, v)) for case in cases for v in case["variants"])
    rows = [_row(name, outcomes) for name in dict.fromkeys(name for name, _, _ in outcomes)]
    wrong = sum(
        n for (_, expect, got), n in outcomes.items() if got == "wrong" or (expect, got) == ("reject", "right")
    )
    apply = sum(n for (_, expect, _), n in outcomes.items() if expect == "apply")
    reject = sum(n for (_, expect, _), n in outcomes.items() if expect == "reject")
    accepted = sum(n for (_, expect, got), n in outcomes.items() if expect == "apply" and got == "right")
    refused = sum(n for (_, expect, got), n in outcomes.items() if expect == "reject" and got == "refused")
    return Report(
        name="edits",
        corpus=f"{len(cases)} mutations of real files, {sum(outcomes.values())} cases",
        tokenizer=count.name,
        rows=tuple(rows),
        bars=(
            at_most("corrupted", wrong, 0),
            at_least("accepted where unchanged and unambiguous", accepted / apply, 1.0),
            at_least("refused where changed", refused / reject, 1.0),
            at_most("tokens per edit: place and new text, 4 characters each", _mean(cases, _place_and_text), 20),
            at_most("tokens per edit: JSON without the new text", _mean(cases, lambda c: _call_cost(c, count)), 20),
            at_most("reading with tag and numbers against bare text", _reading(cases, count), 1.17),
        ),
        versions=versions("splintr-rs"),
    )


def _cases(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        raise Unreadable(f"{file} does not exist.", "Name the data with --data or LACONIC_BENCH_DATA.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _call(case: dict[str, Any], tag: str) -> dict[str, object]:
    """The edit as an agent writes it after a read: the tag names the file."""
    wanted = case["edit"]
    start, end = wanted["start"], wanted["end"]
    text = "".join(f"{line}\n" for line in wanted["new"])
    if end < start:
        return {"tag": tag, "insert_after": end, "text": text}
    call: dict[str, object] = {"tag": tag, "start": start}
    if end != start:
        call["end"] = end
    return {**call, "text": text} if text else call


def _outcome(case: dict[str, Any], variant: dict[str, Any]) -> str:
    lines = case["read"].split("\n")
    wanted = case["edit"]
    current = _patched(lines, variant["current"])
    straight = [[wanted["start"] - 1, wanted["end"], wanted["new"]]]
    expected = _patched(lines, variant["expected"] or (straight if variant["expect"] == "apply" else []))
    read = split(case["read"].encode())
    seen = {read.tag: ShownVersion(read.lines, (Span(1, len(read.lines)),))}
    got = resolve([(1, edit(_call(case, read.tag)))], split("\n".join(current).encode()), seen)
    if not isinstance(got, ResolvedEdit):
        return "refused"
    return "right" if join(got.source).decode() == "\n".join(expected) else "wrong"


def _patched(lines: list[str], changes: list[Any] | None) -> list[str]:
    """A version given as replaced ranges of lines, from 0, the end excluded."""
    result: list[str] = []
    position = 0
    for start, stop, new in changes or []:
        result += [*lines[position:start], *new]
        position = stop
    return result + lines[position:]


def _row(name: str, outcomes: Counter[tuple[str, str, str]]) -> dict[str, Cell]:
    here = {(expect, got): n for (variant, expect, got), n in outcomes.items() if variant == name}
    results = {got: sum(n for (_, g), n in here.items() if g == got) for got in ("right", "refused", "wrong")}
    return {"variant": name, "expected": "/".join(dict.fromkeys(expect for expect, _ in here)), **results}


def _mean(cases: list[dict[str, Any]], cost: Callable[[dict[str, Any]], float]) -> float:
    return sum(cost(case) for case in cases) / len(cases)


def _place_and_text(case: dict[str, Any]) -> float:
    call = _call(case, split(case["read"].encode()).tag)
    place = " ".join(str(value) for key, value in call.items() if key != "text")
    return (len(place) + len("\n".join(case["edit"]["new"]))) / _CHARACTERS_A_TOKEN


def _call_cost(case: dict[str, Any], count: Callable[[str], int]) -> float:
    call = _call(case, split(case["read"].encode()).tag)
    return count(json.dumps({**call, "text": ""} if "text" in call else call, separators=(",", ":")))


def _reading(cases: list[dict[str, Any]], count: Callable[[str], int]) -> float:
    bare = shown = 0
    for case in cases:
        source = split(case["read"].encode())
        bare += count(case["read"])
        shown += count(f"{header(case['path'], source.tag, len(source.lines))}\n{number_lines(source.lines)}\n")
    return shown / bare
