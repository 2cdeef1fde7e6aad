"""A recorded session as it would be with our tools: every read of a file is a call of `read`, which answers it."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from laconic.conversation.replay import Json
from laconic.sessions.transcripts import Transcript, transcript_of
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.session import Session
from laconic_benchmarks.joined.recorded_files import FileVersion, RecordedRead, find_reads

_FILE: Final = "claude_code.jsonl.gz"
_CUT: Final = re.compile(r"\[lines \d+-(\d+); more: ")
NAME: Final = "mcp__laconic__read"


class TranslatedRead(msgspec.Struct, frozen=True):
    """One call of `read`: the lines that it asked for, and what it answered."""

    version: FileVersion
    first: int
    last: int
    answer: str

    @property
    def lines(self) -> dict[int, str]:
        """The lines that hold something, by number."""
        found = {}
        for number in range(self.first, self.last + 1):
            line = self.version.lines.get(number, "").strip()
            if line:
                found[number] = line
        return found


class TranslatedSession(msgspec.Struct, frozen=True):
    """The contexts of a session, which the client's own compaction parts, and its reads by the ids of their calls."""

    contexts: tuple[Transcript, ...]
    reads: Mapping[str, TranslatedRead]


def recorded_sessions(data: Path) -> Iterator[tuple[Transcript, ...]]:
    """The sessions of Claude Code, each as its contexts."""
    with gzip.open(data / "trajectories" / _FILE) as file:
        for line in file:
            row = msgspec.json.decode(line)
            if row.get("split") not in {None, "", "dev"}:
                continue
            contexts: dict[int, list[Json]] = {}
            for message in row["messages"]:
                contexts.setdefault((message.get("meta") or {}).get("epoch", 0), []).append(message)
            yield tuple(transcript_of(f"{row['id']}-{number}", part) for number, part in contexts.items())


def translate(contexts: tuple[Transcript, ...], runtime: ToolRuntime, connection: Session) -> TranslatedSession:
    """The session with its reads made anew, over one connection."""
    everything: list[Json] = []
    for context in contexts:
        everything += context.messages
    recorded = find_reads(everything)
    if not recorded:
        return TranslatedSession(contexts, {})
    translator = _Translator(recorded, runtime, connection)
    translated = []
    for context in contexts:
        messages = [translator.translate(message) for message in context.messages]
        translated.append(Transcript(context.name, messages, context.split, context.times))
    return TranslatedSession(tuple(translated), translator.reads)


class _Translator:
    """Writes the files of a session as they were, and reads them."""

    def __init__(self, recorded: Mapping[str, RecordedRead], runtime: ToolRuntime, connection: Session) -> None:
        self.reads: dict[str, TranslatedRead] = {}
        self._recorded = recorded
        self._runtime = runtime
        self._connection = connection
        self._above = os.path.commonpath([Path(read.version.path).parent for read in recorded.values()])

    def translate(self, message: Json) -> Json:
        content: list[Json] = []
        for block in _list_blocks(message):
            if block.get("type") == "tool_use" and str(block["id"]) in self._recorded:
                content += self._call(str(block["id"]))
            elif block.get("type") == "tool_result" and str(block["tool_use_id"]) in self._recorded:
                content += self._answers(str(block["tool_use_id"]))
            else:
                content.append(block)
        return {**message, "content": content}

    def _call(self, id: str) -> list[Json]:
        """The calls that read the same lines: more than one where an answer has no room for all."""
        recorded = self._recorded[id]
        path = os.path.relpath(recorded.version.path, self._above)
        file = self._runtime.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(recorded.version.text(), "utf-8")
        calls: list[Json] = []
        start = recorded.first
        while start <= recorded.last:
            given = {"targets": [f"{path}:{start}-{recorded.last}"], "budget": "full"}
            reply = self._runtime.call("read", given, self._connection)
            if reply.failed:
                raise ValueError(reply.text)
            cut = _CUT.search(reply.text)
            end = int(cut[1]) if cut else recorded.last
            part = f"{id}-{len(calls)}"
            self.reads[part] = TranslatedRead(recorded.version, start, end, reply.text)
            calls.append({"type": "tool_use", "id": part, "name": NAME, "input": given})
            start = end + 1
        return calls

    def _answers(self, id: str) -> list[Json]:
        found: list[Json] = []
        while (read := self.reads.get(f"{id}-{len(found)}")) is not None:
            content = [{"type": "text", "text": read.answer}]
            found.append({"type": "tool_result", "tool_use_id": f"{id}-{len(found)}", "content": content})
        return found


def _list_blocks(message: Json) -> list[Json]:
    content = message.get("content")
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return [{"type": "text", "text": str(content)}]
