"""What reads of lines cost that a conversation has already, and whether it was told of lines that it does not have."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from laconic.clients.registry import task_tools
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.conversation.replay import Json, ReplayClock, lines_of, replay, strings
from laconic.models.model import Price
from laconic.reduce.passage import passage
from laconic.sessions.transcripts import Transcript
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse
from laconic_benchmarks.joined.recorded_files import blocks_of, text_of
from laconic_benchmarks.joined.translation import TranslatedRead, TranslatedSession
from laconic_benchmarks.replay import HEAD

_CACHE: Final = Price(0.1, 1.25, 300, 1024)
_SHOWN: Final = re.compile(r"(\d{1,7})\t(.*)")
_LONG: Final = range(12, 400)  # characters of a line that is looked for in the whole request
_CALL: Final = 100  # tokens of a call that asks once more
_HALF: Final = 0.5  # of the lines of a read: if more of them were sent before, it is a repeated one
_STRETCH: Final = 3  # lines by which a place in a file is known
Count = Callable[[str], int]


class ReadFigures(msgspec.Struct):
    """Figures of all reads of some sessions."""

    sessions: int = 0
    reads: int = 0
    repeated: int = 0
    tokens: int = 0  # of the answers of repeated reads
    asked_again: int = 0  # tokens of reads that must be made once more
    wrong: int = 0  # reads that were told of lines which the conversation does not have
    held: int = 0  # tokens of lines that the conversation had when they were asked for
    held_sent: int = 0  # tokens that were sent for those
    absent: int = 0  # tokens of lines in these answers that the request has nowhere else: nobody can point to them
    needed: int = 0  # lines that a later call repeats
    kept: int = 0  # and that were in its request
    passed: int = 0  # tokens of all requests
    net: float = 0.0  # what they cost, with what must be read again


def measure(session: TranslatedSession, count: Count, figures: ReadFigures, *, gateway: bool) -> None:
    """Replay the contexts of a session, each through an engine of its own if there is a gateway."""
    sent: dict[str, set[str]] = defaultdict(set)  # lines of each file that the session received
    figures.sessions += 1
    for context in session.contexts:
        _ContextReplay(context, session.reads, count, figures, sent).run(gateway=gateway)


class _ContextReplay:
    """One conversation, request by request."""

    def __init__(
        self,
        context: Transcript,
        reads: Mapping[str, TranslatedRead],
        count: Count,
        figures: ReadFigures,
        sent: dict[str, set[str]],
    ) -> None:
        self._context = context
        self._reads = reads
        self._count = count
        self._figures = figures
        self._sent = sent
        self._known: set[str] = set()
        self._restored: set[str] = set()  # lines that were asked for once more

    def run(self, *, gateway: bool) -> None:
        clock, format = ReplayClock(), format_named("anthropic")
        options = EngineOptions(enabled=gateway, task_tools=task_tools())
        engine = ConversationEngine(MemoryStore(), MemoryArchive(), clock, self._count, options)

        def prepare(body: bytes) -> bytes:
            passed = engine.prepare(self._context.name, parse(format, body)).body
            self._look(passed)
            return passed

        outcome = replay(
            self._context.name,
            HEAD,
            self._context.messages,
            prepare,
            count=self._count,
            price=_CACHE,
            clock=clock,
            times=self._context.times,
        )
        self._figures.needed += outcome.lines
        self._figures.kept += outcome.lines_kept
        self._figures.passed += outcome.passed
        self._figures.net += outcome.net

    def _look(self, body: bytes) -> None:
        """Account for the reads that this request brings."""
        messages: list[Json] = msgspec.json.decode(body)["messages"]
        texts: dict[str, str] = {}
        for block in blocks_of(messages):
            if block.get("type") == "tool_result" and str(block["tool_use_id"]) in self._reads:
                texts[str(block["tool_use_id"])] = text_of(block)
        new = [id for id in texts if id not in self._known]
        if not new:
            return
        everywhere = lines_of("\n".join(strings([message.get("content") for message in messages])))
        for id in new:
            self._known.add(id)
            absent = self._count_absent(messages, texts[id])
            there: set[tuple[str, ...]] = set()
            for other, text in texts.items():
                if other != id and self._reads[other].version.path == self._reads[id].version.path:
                    there |= set(_stretches(_shown_lines(text)).values())
            before = self._figures.repeated
            self._account(self._reads[id], texts[id], there, everywhere | self._restored)
            if self._figures.repeated > before:
                self._figures.absent += absent

    def _count_absent(self, messages: list[Json], text: str) -> int:
        """Tokens of the lines of an answer that no other text of the request has."""
        elsewhere: set[str] = set()
        for other in strings([message.get("content") for message in messages]):
            if other != text:
                elsewhere.update(line.strip() for line in passage(other).lines)
        missing = {}
        for number, line in _shown_lines(text).items():
            if line.strip() not in elsewhere:
                missing[number] = line
        return self._count(_numbered(missing))

    def _account(self, read: TranslatedRead, text: str, there: set[tuple[str, ...]], everywhere: set[str]) -> None:
        """`there` are stretches of lines of the file that other answers in the request show."""
        figures, wanted, shown = self._figures, read.lines, _shown_lines(text)
        known = self._sent[read.version.path]
        repeated = sum(1 for line in wanted.values() if line.strip() in known) > _HALF * len(wanted)
        known |= {line.strip() for line in wanted.values()}
        figures.reads += 1
        if not repeated:
            return
        size = self._count(text)
        figures.repeated += 1
        figures.tokens += size
        held = _find_held(wanted, there)
        pointers = size - self._count(_numbered(shown))
        figures.held += self._count(_numbered({number: wanted[number] for number in held}))
        figures.held_sent += pointers + self._count(_numbered({n: line for n, line in shown.items() if n in held}))
        missing = set()
        for number, line in wanted.items():
            if number not in shown and len(line.strip()) in _LONG and line.strip() not in everywhere:
                missing.add(line.strip())
        if missing:
            figures.wrong += 1
            figures.asked_again += self._count(_numbered(wanted)) + _CALL
            self._restored |= missing


def _shown_lines(text: str) -> dict[int, str]:
    """The numbered lines of an answer as it is in a request."""
    found = {}
    for row in text.split("\n"):
        match = _SHOWN.fullmatch(row)
        if match and match[2].strip():
            found[int(match[1])] = match[2]
    return found


def _stretches(lines: Mapping[int, str]) -> dict[int, tuple[str, ...]]:
    """Each line with those after it, by its number: single lines are alike in many places."""
    numbers = list(lines)
    found = {}
    for at in range(len(numbers) - _STRETCH + 1):
        found[numbers[at]] = tuple(lines[number] for number in numbers[at : at + _STRETCH])
    return found


def _find_held(wanted: Mapping[int, str], there: set[tuple[str, ...]]) -> set[int]:
    """The numbers of lines that lie in a stretch which is in the request already."""
    numbers = list(wanted)
    held: set[int] = set()
    for at, stretch in enumerate(_stretches(wanted).values()):
        if stretch in there:
            held.update(numbers[at : at + _STRETCH])
    return held


def _numbered(lines: Mapping[int, str]) -> str:
    return "\n".join(f"{number}\t{line}" for number, line in lines.items())
