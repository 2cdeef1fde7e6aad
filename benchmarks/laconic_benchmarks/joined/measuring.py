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
            held: set[str] = set()
            for other, text in texts.items():
                if other != id and self._reads[other].version.path == self._reads[id].version.path:
                    held |= set(_shown_lines(text).values())
            self._account(self._reads[id], texts[id], held, everywhere | self._restored)

    def _account(self, read: TranslatedRead, text: str, held: set[str], everywhere: set[str]) -> None:
        figures, wanted, shown = self._figures, read.lines, _shown_lines(text)
        known = self._sent[read.version.path]
        repeated = sum(1 for line in wanted.values() if line in known) > _HALF * len(wanted)
        known |= set(wanted.values())
        figures.reads += 1
        if not repeated:
            return
        size = self._count(text)
        figures.repeated += 1
        figures.tokens += size
        figures.held += self._count(_numbered({n: line for n, line in wanted.items() if line in held}))
        fresh = self._count(_numbered({n: line for n, line in shown.items() if line not in held}))
        figures.held_sent += max(0, size - fresh)
        missing = {line for line in wanted.values() if len(line) in _LONG and line not in everywhere}
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
            found[int(match[1])] = match[2].strip()
    return found


def _numbered(lines: Mapping[int, str]) -> str:
    return "\n".join(f"{number}\t{line}" for number, line in lines.items())
