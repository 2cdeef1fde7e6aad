"""Make the final text of an answer: fit the pieces, say what was left out, and never exceed the limit.

Three layers: pieces are fitted by their cost; the whole text is counted and fitted again if the parts were cheaper
apart; at last lines are cut from the end. Whatever the limit, an answer with pieces shows at least a part of the first.
Its last line goes on after the pieces that are whole; where not even the first is, it names the budget that shows it.
So a reader who follows the continuations reaches the end, and misses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from laconic.records import Omission
from laconic.reduce.fit import LEFT_OUT, FitItem, FitResult, fit
from laconic.render.compact_json import Json, dump, envelope
from laconic.render.escape_control import visible, visible_name
from laconic.render.footer import footer
from laconic.tool_runtime.tool import Piece, ToolAnswer

Count = Callable[[str], int]
_DENSEST: Final = 40  # characters a token of text that is not one long repetition
_OUTSIZE: Final = 16  # times the usual length
_PART: Final = 15  # tokens of a piece that are worth showing
_MARGIN: Final = 8  # tokens that the numbers in the last line may take
_STEP: Final = 20  # budgets that are proposed are multiples of it


@dataclass(frozen=True, slots=True)
class ComposedAnswer:
    """An answer as it leaves."""

    text: str
    tokens: int
    shown: tuple[tuple[int, int], ...]  # index of each piece that is shown, and its size
    cut: str = ""  # which layer had to act: fit, recount, net
    failed: bool = False


def compose(
    answer: ToolAnswer,
    limit: int,
    count: Count,
    *,
    json: bool = False,
    more: Callable[[int], str],
    widen: Callable[[int], str] = lambda _: "",
) -> ComposedAnswer:
    """The text of an answer within a limit.

    `more` makes the call that continues at a piece, `widen` the same call with another budget: empty where the asker
    cannot have that many tokens.
    """
    room, layer = limit, ""
    if not json:
        answer = _visible(answer)
    for _ in range(8):
        fitted = _fit_pieces(answer, room, count, more, json=json)
        if answer.pieces and not fitted.shown:
            break
        if json:
            text = _json(answer, fitted, limit, more)
        else:
            text = _text(answer, fitted, more)
        tokens = count(text)
        if tokens <= limit:
            cut = layer or ("" if fitted.whole else "fit")
            return ComposedAnswer(text=text, tokens=tokens, shown=_shown_sizes(fitted), cut=cut, failed=answer.failed)
        layer, room = "recount", room - (tokens - limit) - 1
    return _compose_first(answer, limit, count, more, widen, json=json)


def _compose_first(
    answer: ToolAnswer,
    limit: int,
    count: Count,
    more: Callable[[int], str],
    widen: Callable[[int], str],
    *,
    json: bool,
) -> ComposedAnswer:
    """The first piece alone if there is room for it, else as much of it as there is, and how to see all of it."""
    alone = FitResult((0, *[LEFT_OUT] * (len(answer.pieces) - 1))[: len(answer.pieces)], limit)
    if json:
        whole = _json(answer, alone, limit, more)
    else:
        whole = _text(answer, alone, more)
    needed = count(whole)
    if needed <= limit:
        return ComposedAnswer(text=whole, tokens=needed, shown=_shown_sizes(alone), cut="net", failed=answer.failed)
    wider = widen(-(-(needed + _MARGIN) // _STEP) * _STEP)
    if json:
        text = _figures(answer, limit, count, wider)
    else:
        text = _cut_first(answer, limit, count, more, wider)
    return ComposedAnswer(text=text, tokens=count(text), shown=(), cut="net", failed=answer.failed)


def _cut_first(answer: ToolAnswer, limit: int, count: Count, more: Callable[[int], str], wider: str) -> str:
    """As much of the first piece as there is room for, and the call that shows all of it.

    Where no call can, the rest of the piece is lost, and the last line goes on after it.
    """
    pieces = answer.pieces[:1]
    text = answer.head
    for piece in pieces:
        text += f"{_headings(answer)[0]}{piece.texts[0]}"
    text += answer.note
    last = ""
    if wider:
        last = f"[there is no room for all of this; more: {wider}]\n"
    elif pieces:
        last = visible(footer(_omission(answer, len(pieces), more)))
    if last and count(last) + _PART <= limit:
        return longest(lambda size: cut_to(text, size, count) + last, limit - count(last), limit, count)
    return cut_to(text, limit, count)


def put_outsized_last(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces; those whose smallest form is far longer than the others' wait for them."""
    if not pieces:
        return []
    longest_usual = _OUTSIZE * max(20.0, median(len(piece.texts[0]) for piece in pieces))
    return sorted(pieces, key=lambda piece: len(piece.texts[0]) > longest_usual)


def _visible(answer: ToolAnswer) -> ToolAnswer:
    """The answer as it can be printed; before it is fitted, so that what is counted is what is sent."""
    pieces = []
    for piece in answer.pieces:
        pieces.append(replace(piece, texts=tuple(map(visible, piece.texts)), group=visible_name(piece.group)))
    return replace(answer, pieces=pieces, head=visible(answer.head), note=visible(answer.note))


def cut_to(text: str, limit: int, count: Count) -> str:
    """As many whole lines from the start as fit, and a mark; the last net under everything else."""
    mark = "[cut]\n"
    lines = re.findall(r"[^\n]*\n|[^\n]+", text[: limit * _DENSEST])
    kept = longest(lambda size: "".join(lines[:size]) + mark, len(lines), limit, count)
    if kept == mark and lines:
        return longest(lambda size: f"{lines[0][:size]}\n{mark}", len(lines[0]), limit, count)
    return kept


def longest(make: Callable[[int], str], most: int, limit: int, count: Count) -> str:
    """The text of the largest size, up to `most`, that is within the limit; that of size 0 where none is."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if count(make(middle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return make(low)


def _fit_pieces(answer: ToolAnswer, room: int, count: Count, more: Callable[[int], str], *, json: bool) -> FitResult:
    pieces = answer.pieces
    footing = count(footer(_omission(answer, len(pieces) - 1, more)) or "x") + 4
    if json:
        fixed = count(dump(_body(answer, []))) + 12
        records = []
        for piece in pieces:
            records.append(FitItem((count(dump(_record(piece))) + 1,)))
        return fit(records, room - fixed, footer=footing + 24)
    fixed = count(answer.head + answer.note)
    if answer.total is not None and answer.total > _reached(answer, len(pieces)):
        fixed, footing = fixed + footing, 0
    items = []
    for piece, heading in zip(pieces, _headings(answer), strict=True):
        items.append(FitItem(tuple(map(count, piece.texts)), count(heading) if heading else 0))
    return fit(items, room - fixed, footer=footing, spread=answer.spread)


def _headings(answer: ToolAnswer) -> list[str]:
    """The line above each piece: empty where the piece is not the first of its group, or of a run of it."""
    headings: list[str] = []
    seen = {""}
    for piece in answer.pieces:
        headings.append("" if piece.group in seen else f"{piece.group}\n")
        if answer.grouped:
            seen.add(piece.group)
        else:
            seen = {"", piece.group}
    return headings


def _shown_sizes(fitted: FitResult) -> tuple[tuple[int, int], ...]:
    return tuple((index, level) for index, level in enumerate(fitted.levels) if level != LEFT_OUT)


def _text(answer: ToolAnswer, fitted: FitResult, more: Callable[[int], str]) -> str:
    parts = [answer.head]
    shown = _shown_sizes(fitted)
    if answer.grouped:
        groups: dict[str, list[tuple[int, int]]] = {}
        for index, level in shown:
            groups.setdefault(answer.pieces[index].group, []).append((index, level))
        for group, members in groups.items():
            if group:
                parts.append(f"{group}\n")
            for index, level in sorted(members, key=lambda member: answer.pieces[member[0]].order):
                parts.append(answer.pieces[index].texts[level])
    else:
        headings = _headings(answer)
        for index, level in shown:
            parts += [headings[index], answer.pieces[index].texts[level]]
    parts += [answer.note, visible(footer(_omission(answer, fitted.shown, more)))]
    return "".join(parts)


def _json(answer: ToolAnswer, fitted: FitResult, limit: int, more: Callable[[int], str]) -> str:
    records = []
    for index, _ in _shown_sizes(fitted):
        records.append(_record(answer.pieces[index]))
    return envelope(answer.kind, _body(answer, records), _omission(answer, fitted.shown, more), fitted.cost, limit)


def _body(answer: ToolAnswer, records: Sequence[Json]) -> dict[str, Json]:
    body: dict[str, Json] = {**answer.facts, answer.unit: records}
    if answer.head.strip() and not answer.facts:
        body["about"] = answer.head.strip()
    if answer.note.strip():
        body["note"] = answer.note.strip()
    return body


def _figures(answer: ToolAnswer, limit: int, count: Count, wider: str) -> str:
    """JSON that stays JSON within any limit: no records, how many there are, and as much of what is said as fits."""
    said = {"about": answer.head.strip(), "note": answer.note.strip()}
    body: dict[str, Json] = {answer.unit: [], "cut": True, "total": max(answer.total or 0, len(answer.pieces))}
    if wider and count(dump(body | {"more": wider})) <= limit:
        body["more"] = wider

    def made(size: int) -> str:
        return dump(body | {name: text[:size] for name, text in said.items() if text[:size]})

    return longest(made, min(limit * _DENSEST, max(map(len, said.values()))), limit, count)


def _record(piece: Piece) -> dict[str, Json]:
    if piece.record is not None:
        return dict(piece.record)
    record: dict[str, Json] = {"text": piece.texts[-1].rstrip("\n")}
    if piece.group:
        return {"group": piece.group, **record}
    return record


def _omission(answer: ToolAnswer, shown: int, more: Callable[[int], str]) -> Omission | None:
    total = max(answer.total or 0, len(answer.pieces))
    reached = _reached(answer, shown)
    if reached >= total:
        return None
    return Omission(
        shown=reached,
        total=total + answer.skipped,
        unit=answer.unit,
        more=more(max(0, shown)),
        skipped=answer.skipped,
    )


def _reached(answer: ToolAnswer, shown: int) -> int:
    """How many of all the asker has once so many pieces are shown."""
    if answer.reached and shown >= 0:
        return answer.reached[shown]
    return shown
