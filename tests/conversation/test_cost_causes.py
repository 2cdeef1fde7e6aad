"""Every dollar of a session has one cause, and a lost cache has the one that came first."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.conversation.cost_causes import (
    CostMoment,
    CostReport,
    MeasuredRequest,
    MeasuredSession,
    explain,
    without_doubles,
)
from laconic.conversation.prefix_change import Part, PrefixChange
from laconic.models.find_model import find_model
from laconic.models.model import Price
from laconic.wire.usage import Usage

MODEL, CODEX = "claude-sonnet-4-5", "gpt-5"
FIXED = 10_000


def _price(model: str) -> Price:
    return find_model(model).price


def _request(number: int, read: int | None = None, **about: object) -> MeasuredRequest:
    """The n-th of a session that grows by a thousand tokens; it reads all that the one before wrote, or what is said."""
    prompt = FIXED + 1000 * number
    cached = prompt - 1000 if number else 0
    if read is not None:
        cached = read
    usage = Usage(cache_read=cached, cache_write=prompt - cached, output=100)
    request = MeasuredRequest(usage=usage, at=1e9 + 30 * number, model=MODEL, change=PrefixChange())
    return msgspec.structs.replace(request, **about)


def _explain(*last: MeasuredRequest) -> CostReport:
    before = [_request(number) for number in range(6)]
    return explain([MeasuredSession("s", (*before, *last))], _price)


def _only_moment(*last: MeasuredRequest) -> CostMoment:
    (moment,) = _explain(*last).moments
    return moment


def test_a_session_that_reads_its_cache_loses_nothing() -> None:
    report = _explain(_request(6))
    assert not report.moments
    assert {total.cause for total in report.causes} == {"carried", "growth", "start", "answers"}


@pytest.mark.parametrize(
    ("pause", "long", "cause"),
    [(400, False, "pause_5m"), (4000, False, "pause_1h"), (4000, True, "pause_1h"), (400, True, "provider")],
)
def test_a_pause_counts_when_it_is_longer_than_the_cache_lives(pause: float, long: bool, cause: str) -> None:
    requests = []
    for number in range(7):
        request = _request(number, 0 if number == 6 else None, at=1e9 + 30 * number + (pause if number == 6 else 0))
        if long:
            usage = msgspec.structs.replace(request.usage, long=request.usage.cache_write)
            request = msgspec.structs.replace(request, usage=usage)
        requests.append(request)
    (moment,) = explain([MeasuredSession("s", tuple(requests))], _price).moments
    assert moment.cause == cause
    assert moment.tokens == FIXED + 5000


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ("tools", "tools_changed"),
        ("tools_order", "tools_reordered"),
        ("tools_form", "json_rewritten"),
        ("system", "system_changed"),
        ("message", "message_changed"),
        ("marks", "marks_moved"),
        ("compaction", "compaction"),
    ],
)
def test_the_part_that_changed_is_named_with_its_diff(part: Part, cause: str) -> None:
    moment = _only_moment(_request(6, 0, change=PrefixChange(part, "the diff")))
    assert (moment.cause, moment.detail, moment.number) == (cause, "the diff", 7)
    assert moment.fix


def test_after_a_long_pause_a_change_made_no_difference() -> None:
    moment = _only_moment(_request(6, 0, at=2e9, change=PrefixChange("tools", "+new")))
    assert moment.cause == "pause_1h"


def test_another_model_has_another_cache() -> None:
    moment = _only_moment(_request(6, 0, model="claude-opus-4-5"))
    assert (moment.cause, moment.detail) == ("model_switch", "claude-sonnet-4-5 -> claude-opus-4-5")


def test_what_we_rewrote_is_ours_unless_the_client_changed_something_before_it() -> None:
    assert _only_moment(_request(6, FIXED, mode="economic")).cause == "own_event"
    theirs = _request(6, 0, mode="economic", change=PrefixChange("tools", "+new"))
    assert _only_moment(theirs).cause == "tools_changed"


def test_a_repaired_change_is_not_blamed() -> None:
    change = PrefixChange("tools_order", "same tools")
    report = _explain(_request(6, change=change, repaired="tools order"))
    assert (report.repaired, report.moments) == (1, ())
    assert _only_moment(_request(6, 0, change=change, repaired="tools order")).cause == "provider"


def test_without_a_comparison_what_was_read_tells_the_part() -> None:
    assert _only_moment(_request(6, 0, change=None)).cause == "prefix_changed"
    changed = _only_moment(_request(6, FIXED, change=None, blocks=4))
    assert changed.cause == "message_changed"
    assert changed.detail.startswith(f"after the first {FIXED:,} of ")
    assert _only_moment(_request(6, FIXED, change=None, blocks=40)).cause == "marks_moved"
    assert _only_moment(_request(6, FIXED, change=None, compacted=True)).cause == "compaction"


def test_a_rewound_history_ends_with_new_text() -> None:
    usage = Usage(cache_read=12_000, cache_write=1500)
    request = MeasuredRequest(usage=usage, at=1e9 + 200, model=MODEL)
    assert not _explain(request).moments


def test_a_provider_without_a_cache_loses_none() -> None:
    requests = []
    for number in range(8):
        requests.append(MeasuredRequest(usage=Usage(input=FIXED * (number + 1), output=5), model=CODEX))
    assert not explain([MeasuredSession("s", tuple(requests))], _price).moments


def test_a_lost_cache_costs_what_it_cost_above_reading_it() -> None:
    price = _price(MODEL)
    moment = _only_moment(_request(6, 0, change=PrefixChange("tools", "+new")))
    paid = price.prompt_dollars(plain=0, read=0, write=15_000, hour=0)
    assert moment.dollars == pytest.approx(paid - price.prompt_dollars(plain=0, read=15_000, write=0, hour=0))


def test_a_session_in_two_records_counts_once() -> None:
    session = MeasuredSession("ours", tuple(_request(number) for number in range(6)))
    theirs = MeasuredSession("theirs", session.requests[1:])
    other = MeasuredSession("other", (_request(90),))
    assert list(without_doubles([theirs, other], [session])) == [other]


_usages = st.builds(
    Usage,
    input=st.integers(0, 50_000),
    cache_read=st.integers(0, 200_000),
    cache_write=st.integers(0, 50_000),
    output=st.integers(0, 5_000),
)


@given(st.lists(st.tuples(_usages, st.sampled_from([MODEL, CODEX]), st.floats(0, 9e4), st.booleans()), max_size=12))
@settings(max_examples=150, deadline=None)
def test_all_causes_together_are_the_bill(rows: list[tuple[Usage, str, float, bool]]) -> None:
    at, bill = 1e9, 0.0
    requests = []
    for usage, model, pause, compacted in rows:
        at += pause
        requests.append(MeasuredRequest(usage=usage, at=at, model=model, compacted=compacted))
        if usage.prompt:
            price = _price(model)
            bill += price.prompt_dollars(plain=usage.input, read=usage.cache_read, write=usage.cache_write, hour=0)
            bill += price.output_dollars(usage.output, usage.prompt)
    report = explain([MeasuredSession("s", tuple(requests))], _price)
    assert report.dollars == pytest.approx(bill)
    assert all(total.dollars >= 0 for total in report.causes)
