"""Rows of the record as figures: sums, shares, marks and runways. It reads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

import msgspec

from laconic.clients.registry import client_title
from laconic.conversation.ledger import Decision, Removal
from laconic.dashboard.figures import DecisionEvent, DecisionFigures, Runway, SessionFigures, Totals, TurnFigures
from laconic.sessions.spending import HourlySpending, QuotaRow, SessionRow, SpendingPart, TurnRow
from laconic.sessions.turn_tables import DAY, HOUR

_MOST: Final = 400  # hours or days in a chart


class TokenRatios(msgspec.Struct, frozen=True):
    """Tokens of the provider for one of ours: as sent, and as it would have been."""

    sent: float
    whole: float


def sum_totals(rows: Iterable[HourlySpending | SessionRow | TurnRow], turns: int | None = None) -> Totals:
    """Sums of rows of any kind."""
    rows = list(rows)
    prompt = sum(row.prompt for row in rows)
    without = round(sum(row.whole for row in rows))
    paid, full = sum(row.dollars for row in rows), sum(row.dollars_whole for row in rows)
    read = sum(row.cache_read for row in rows)
    return Totals(
        sum(row.turns for row in rows if not isinstance(row, TurnRow)) if turns is None else turns,
        *(prompt, without, without - prompt, share(prompt, without)),
        *(paid, full, full - paid, share(paid, full)),
        *(read, share(read, prompt), sum(row.output for row in rows)),
        output_dollars=sum(row.output_dollars for row in rows),
        unpriced=sum(row.unpriced for row in rows),
        estimated=sum(row.estimated for row in rows),
    )


def share(part: float, whole: float) -> float | None:
    if whole:
        return part / whole
    return None


def list_buckets(groups: dict[int, list[HourlySpending]], width: int, since: float, now: float) -> Iterable[int]:
    """All hours or days of the period until now, the empty ones too: at least a day of hours, or a week of days."""
    if not groups:
        return ()
    last = max(*groups, int(now) // width * width)
    shortest = last - (24 if width == HOUR else 7) * width + width
    if since and width == DAY:
        first = int(since) // width * width
    else:
        first = min(groups)
    return range(max(min(first, shortest), last - _MOST * width), last + 1, width)


def session_figures(row: SessionRow) -> SessionFigures:
    return SessionFigures(
        *(row.session, row.title, client_title(row.client), row.upstream, row.model, row.began, row.last),
        *(row.errors, row.decisions),
        totals=sum_totals([row]),
        project=row.project,
        side=row.side,
    )


def scale_parts(parts: Sequence[SpendingPart], shares: TokenRatios) -> list[SpendingPart]:
    """Parts that we counted, in tokens of the provider's count."""
    found: list[SpendingPart] = []
    for part in parts:
        found.append(
            msgspec.structs.replace(part, sent=round(part.sent * shares.sent), whole=round(part.whole * shares.whole))
        )
    return found


def scale_kinds(kinds: Sequence[SpendingPart], totals: Totals) -> list[SpendingPart]:
    """All kinds, so that they add up to the totals to the token."""
    sent = spread([part.sent for part in kinds], totals.prompt)
    whole = spread([part.whole for part in kinds], totals.prompt_without)
    found: list[SpendingPart] = []
    for part, own, full in zip(kinds, sent, whole, strict=True):
        found.append(msgspec.structs.replace(part, sent=own, whole=full))
    return found


def shares_of(kinds: Sequence[SpendingPart], totals: Totals) -> TokenRatios:
    """How many tokens the provider counted for each of ours."""
    sent, whole = sum(part.sent for part in kinds), sum(part.whole for part in kinds)
    return TokenRatios(totals.prompt / sent if sent else 1.0, totals.prompt_without / whole if whole else 1.0)


def spread(sizes: Sequence[int], total: int) -> list[int]:
    """The total divided in proportion to the sizes; what rounding leaves goes to the next."""
    whole, done, given = sum(sizes), 0, 0
    found = []
    for size in sizes:
        done += size
        until = round(total * done / whole) if whole else 0
        found.append(until - given)
        given = until
    return found


def turn_figures(rows: Sequence[TurnRow]) -> list[TurnFigures]:
    paid = accumulate(row.dollars for row in rows)
    whole = accumulate(row.dollars_whole for row in rows)
    found: list[TurnFigures] = []
    for row, own, full in zip(rows, paid, whole, strict=True):
        found.append(
            TurnFigures(
                *(row.number, row.at, row.status, row.milliseconds, row.mode, row.rung, row.decisions, row.saved),
                *(row.input, row.cache_write, row.prompt or row.context, round(row.whole) or row.context),
                paid=own,
                paid_without=full,
                totals=sum_totals([row], 1),
            )
        )
    return found


def number_turns(turns: Sequence[TurnRow]) -> dict[int, int]:
    """The number of the request that was first made at a turn of the assistant."""
    found: dict[int, int] = {}
    for turn in turns:
        if turn.decisions:
            found.setdefault(turn.turn, turn.number)
    return found


def decision_figures(
    decision: Decision | Removal, numbers: dict[int, int], about: tuple[str, str, str], kept: set[str]
) -> DecisionFigures:
    note = field = ""
    if isinstance(decision, Decision):
        note, field = decision.note, decision.field
    kind, tool, file = about
    return DecisionFigures(
        number=numbers.get(decision.turn, 0),
        reason=decision.reason,
        kind=kind,
        tool=tool,
        file=file,
        field=field,
        before=decision.before,
        after=decision.after,
        saved=decision.before - decision.after,
        gone=isinstance(decision, Removal),
        ref=decision.ref,
        kept=decision.ref in kept,
        note=note or (decision.text or "")[:200],
    )


def newest_decisions(decisions: Sequence[DecisionFigures], until: int, most: int) -> list[DecisionFigures]:
    """The newest first, up to a turn where one is named; about so many, but never a part of a turn's."""
    rows = []
    for row in decisions:
        if not until or row.number <= until:
            rows.append(row)
    first = rows[-most].number if len(rows) > most else 0
    found: list[DecisionFigures] = []
    for row in reversed(rows):
        if row.number >= first:
            found.append(row)
    return found


def decision_events(decisions: Sequence[DecisionFigures]) -> list[DecisionEvent]:
    found: dict[int, list[DecisionFigures]] = {}
    for decision in decisions:
        found.setdefault(decision.number, []).append(decision)
    events: list[DecisionEvent] = []
    for number, rows in sorted(found.items()):
        if number:
            saved = sum(row.saved for row in rows)
            events.append(DecisionEvent(number, len(rows), saved, _count_reasons(rows)))
    return events


def _count_reasons(rows: Sequence[DecisionFigures]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row.reason] = found.get(row.reason, 0) + 1
    return found


def estimate_runway(row: QuotaRow, now: float) -> Runway:
    """A quota fills up again within its minute: it runs out only at a pace above the limit."""
    if now < row.reset or not row.tokens:
        left = row.tokens_left
    else:
        left = max(0, row.tokens - row.spent)
    if row.tokens:
        drain = (row.spent - row.tokens) / 60
    else:
        drain = row.spent / 60
    return Runway(
        *(row.upstream, row.model, row.at, row.tokens, left, row.spent),
        used_share=1 - left / row.tokens if row.tokens else None,
        seconds=left / drain if drain > 0 else None,
    )
