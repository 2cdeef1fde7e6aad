"""The laws see what they are made to see: each is broken here on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.attack.stories import CHAT, Story, reading

from laconic.sessions.archive import Archive
from laconic_benchmarks.attack.conversations import ClientSession
from laconic_benchmarks.attack.gateways import ARCHIVE
from laconic_benchmarks.attack.laws import ArchiveReader, IncomingRequest, check_sent
from laconic_benchmarks.attack.material import ToolOutput
from laconic_benchmarks.attack.providers import PROVIDERS, AgentTurn, RequestWriter, ToolCall

ARGUMENTS = '{"new_string":"a\\nb","file_path":"a.py","limit":1.50}'


def _session(folder: Path, provider: RequestWriter) -> ClientSession:
    story = Story(folder)
    session = story.session(provider=provider)
    for number in range(5):
        call = ToolCall(f"call_{number}0", "Edit", ARGUMENTS, ToolOutput((f"result {number}\nof two lines",)))
        story.add(session, AgentTurn(said=f"Say {number}.", thought="Hm.", signature=f"sig{number}", calls=(call,)))
    return session


def _request(folder: Path, provider: RequestWriter = PROVIDERS[0]) -> IncomingRequest:
    session = _session(folder, provider)
    return session.request(session.branches[0])


def _laws(request: IncomingRequest, out: str, folder: Path) -> set[str]:
    return {one.law for one in check_sent(request, out.encode(), ArchiveReader(folder / ARCHIVE))}


def _without(request: IncomingRequest, *gone: int) -> str:
    kept = [message for at, message in enumerate(request.messages) if at not in gone]
    return request.head + request.comma.join(kept) + request.tail


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_an_untouched_request_breaks_no_law(tmp_path: Path, provider: RequestWriter) -> None:
    request = _request(tmp_path, provider)
    assert json.loads(request.body)
    assert _laws(request, request.body, tmp_path) == set()


def test_a_result_that_was_cut_without_a_reference_is_lost(tmp_path: Path) -> None:
    request = _request(tmp_path)
    assert _laws(request, request.body.replace("result 0\\nof two lines", "[left out]"), tmp_path) == {"lost"}


def test_a_result_that_comes_back_by_its_reference_is_not_lost(tmp_path: Path) -> None:
    """Unless the reference is not in the request."""
    request = _request(tmp_path)
    ref = Archive(tmp_path / ARCHIVE, 10**9).put("session", "", b"result 0\nof two lines")
    text = "result 0\\nof two lines"
    assert _laws(request, request.body.replace(text, f"[{ref}]"), tmp_path) == set()
    assert _laws(request, request.body.replace(text, "[left out]"), tmp_path) == {"lost"}


def test_exchanges_that_are_gone_come_back_whole_or_are_lost(tmp_path: Path) -> None:
    """A reference to the results alone does not give the calls, the thinking and the text back."""
    request = _request(tmp_path)
    archive = Archive(tmp_path / ARCHIVE, 10**9)
    ours = json.dumps({"role": "user", "content": [{"type": "text", "text": "[laconic recall %s]"}]})
    for data, laws in (
        (b"result 0\nof two lines", {"lost"}),
        ("\n".join(request.messages[1:3]).encode(), set()),
    ):
        note = ours % archive.put("session", "", data)
        kept = [request.messages[0], note, *request.messages[3:]]
        assert _laws(request, request.head + ",".join(kept) + request.tail, tmp_path) - {"larger"} == laws


@pytest.mark.parametrize(
    ("change", "law"),
    [
        (lambda r: r.body[:-1], "invalid"),
        (lambda r: _without(r, 2), "pairing"),
        (lambda r: _without(r, 1), "pairing"),
        (lambda r: _without(r, 9, 10), "order"),
        (lambda r: _without(r, 0), "altered"),
        (lambda r: r.body.replace("sig3", "gis3"), "altered"),
        (lambda r: r.body.replace("1.50", "1.5", 1), "altered"),
        (
            lambda r: r.body.replace('"file_path":"a.py","limit":1.50', '"limit":1.50,"file_path":"a.py"', 1),
            "altered",
        ),
        (lambda r: r.body.replace("You are", "You were"), "altered"),
        (lambda r: r.body.replace("result 4", "result 4 and more"), "larger"),
        (lambda r: r.body.replace("result 0\\nof two lines", "of two lines: result 0"), "rewritten"),
    ],
    ids=[
        "cut off",
        "a result gone",
        "a call gone",
        "the newest gone",
        "the first gone",
        "signature",
        "number",
        "names in another order",
        "system prompt",
        "longer",
        "another form",
    ],
)
def test_each_law_is_seen_to_be_broken(tmp_path: Path, change: Callable[[IncomingRequest], str], law: str) -> None:
    request = _request(tmp_path)
    assert law in _laws(request, change(request), tmp_path)


def test_a_listing_may_lose_the_numbers_that_follow_from_others(tmp_path: Path) -> None:
    story = Story(tmp_path)
    session = story.session(provider=CHAT)
    lines = [f"{number}\tline {number}" for number in range(1, 30)]
    story.add(session, reading("a", ToolOutput(("\n".join(lines),))))
    request = session.request(session.branches[0])
    fewer = [line if at % 10 == 0 else line.partition("\t")[2] for at, line in enumerate(lines)]
    before = json.dumps("\n".join(lines))
    assert _laws(request, request.body.replace(before, json.dumps("\n".join(fewer))), tmp_path) == set()
    fewer[5:6] = []
    assert _laws(request, request.body.replace(before, json.dumps("\n".join(fewer))), tmp_path) != set()
