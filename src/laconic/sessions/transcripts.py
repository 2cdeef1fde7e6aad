"""Recorded sessions of many agents, as messages of the Anthropic form: what a replay sends turn by turn."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import UsageError

Json = dict[str, object]
_STEP: Final = 5.0  # seconds between messages of which no time is known
LATEST: Final = 4_102_444_800  # the year 2100, in seconds since 1970
_GONE: Final = 7200.0  # seconds after which no cache is left
_SUFFIXES: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


class Transcript(msgspec.Struct, frozen=True):
    """One session."""

    name: str
    messages: list[Json]
    split: str = ""  # of a corpus that has parts
    times: tuple[float, ...] = ()  # seconds at which each message was made, of any clock; 0: not known


def transcripts(path: Path) -> Iterator[Transcript]:
    """All sessions in a file, or in the files below a folder."""
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and f.name.endswith(_SUFFIXES))
        for file in files:
            yield from _read(file)
    elif path.is_file():
        yield from _read(path)
    else:
        raise UsageError(f"There is no {path}.", "Name a session file or a folder of them.")


def transcript_of(name: str, rows: list[Json]) -> Transcript:
    """A session from the lines of its log."""
    return _transcript(name, _events(rows), "")


def _read(path: Path) -> Iterator[Transcript]:
    if path.suffix == ".gz":
        data = gzip.decompress(path.read_bytes())
    else:
        data = path.read_bytes()
    name = path.name.split(".", 1)[0]
    whole = _value(data)
    if whole is not None:
        rows = [whole]
    else:
        rows = [row for line in data.split(b"\n") if (row := _value(line)) is not None]
    rows = [inner for row in rows for inner in (row if isinstance(row, list) else [row])]
    objects = [row for row in rows if isinstance(row, dict)]
    recorded = [row for row in objects if isinstance(row.get("messages") or row.get("input"), list)]
    if recorded:
        for number, row in enumerate(recorded):
            messages = row.get("messages") or row.get("input")
            assert isinstance(messages, list)
            label = str(row.get("id") or (name if len(recorded) == 1 else f"{name}-{number}"))
            inner = []
            for message in messages:
                if isinstance(message, dict):
                    inner.append(message)
            exported = any(
                isinstance(message.get("parts"), list) for message in inner
            )  # as opencode exports a session
            found = _events(inner) if exported else _longest(messages)
            yield _transcript(label, found, str(row.get("split") or ""))
    elif objects:
        yield _transcript(name, _events(objects), "")


def _value(data: bytes) -> object | None:
    try:
        value: object = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return value


def _longest(messages: list[object]) -> list[Json]:
    """A recording may hold several contexts, one after the other: the longest is replayed."""
    groups: dict[object, list[Json]] = {}
    for message in messages:
        if isinstance(message, dict):
            meta = message.get("meta")
            groups.setdefault(meta.get("epoch", 0) if isinstance(meta, dict) else 0, []).append(message)
    return max(groups.values(), key=len, default=[])


def _events(rows: list[Json]) -> list[Json]:
    """Lines of a log: Claude Code writes `message`, Codex `payload`, opencode `info` and `parts`, ours `message`."""
    found: list[Json] = []
    for row in rows:
        if row.get("isSidechain") or row.get("type") in {"summary", "session_meta"}:
            continue
        inner = row.get("message") or row.get("payload") or row
        parts = row.get("parts")
        if isinstance(parts, list):
            info = row.get("info")
            found += _opencode(info if isinstance(info, dict) else {}, parts)
        elif isinstance(inner, dict) and (inner.get("role") or inner.get("type")):
            found.append({**inner, "timestamp": row.get("timestamp")} if row.get("timestamp") else inner)
    return found


def _opencode(info: Json, parts: list[object]) -> Iterator[Json]:
    role = str(info.get("role") or "user")
    made = _milliseconds(info, "created")
    for part in parts:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text":
            yield {"role": role, "content": part.get("text") or "", "timestamp": made}
        state = part.get("state")
        if part.get("type") == "tool" and isinstance(state, dict):
            id = str(part.get("callID") or part.get("id") or "x")
            call = {"id": id, "function": {"name": part.get("tool"), "arguments": state.get("input") or {}}}
            output = state.get("output") or state.get("error") or ""
            begun, ended = _milliseconds(state, "start") or made, _milliseconds(state, "end") or made
            yield {"role": "assistant", "content": "", "tool_calls": [call], "timestamp": begun}
            yield {"role": "tool", "tool_call_id": id, "content": output, "timestamp": ended}


def _milliseconds(row: Json, name: str) -> str | None:
    """A moment as opencode counts it, in the form of all other times; None when it is not there."""
    time = row.get("time")
    number = time.get(name) if isinstance(time, dict) else None
    if isinstance(number, int | float) and number > 0:
        return datetime.fromtimestamp(number / 1000, UTC).isoformat()
    return None


def _transcript(name: str, rows: Iterable[Json], split: str) -> Transcript:
    merged: list[tuple[str, list[Json]]] = []
    times: list[float] = []
    clock = RecordedClock()
    for row in rows:
        role, blocks = _message(row)
        if not blocks:
            continue
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        else:
            merged.append((role, blocks))
            times.append(clock.read(row))
    messages = _pair_calls(merged)
    return Transcript(name, messages, split, tuple(times[len(times) - len(messages) :]))


class RecordedClock:
    """When messages were made: by their time, or by the usage that shows where a provider's cache had gone."""

    def __init__(self) -> None:
        self._now = 0.0
        self._before = 0  # tokens of the prompt before

    def read(self, row: Json) -> float:
        """The time of the next message."""
        stated = seconds_of(row.get("timestamp"))
        if stated:
            self._now = max(self._now, stated)
        elif self._is_cold(row):
            self._now += _GONE
        else:
            self._now += _STEP
        return self._now

    def _is_cold(self, row: Json) -> bool:
        """Whether an answer read almost nothing from a cache although its prompt had not shrunk."""
        meta = row.get("meta")
        if isinstance(meta, dict):
            usage = meta.get("usage")
        else:
            usage = None
        if not isinstance(usage, dict) or "cache_write" not in usage:
            return False
        read = int(usage.get("cache_read") or 0)
        total = read + int(usage.get("cache_write") or 0) + int(usage.get("input") or 0)
        before, self._before = self._before, total
        return before > 0 and read < 0.5 * before and total > 0.7 * before


def seconds_of(text: object) -> float:
    """A point in time as JSON writes it; 0 when it is none, or one when nobody recorded sessions."""
    try:
        found = datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    if 0 < found < LATEST:
        return found
    return 0.0


def _message(row: Json) -> tuple[str, list[Json]]:
    """One message of any form, as a role and blocks."""
    role, kind, content = row.get("role"), row.get("type"), row.get("content")
    if kind == "function_call":
        return "assistant", [_call(row.get("call_id"), row.get("name"), row.get("arguments"))]
    if kind == "custom_tool_call":  # Codex: its text is no JSON
        return "assistant", [_call(row.get("call_id"), row.get("name"), {"input": row.get("input")})]
    if kind == "local_shell_call":
        return "assistant", [_call(row.get("call_id"), "local_shell", row.get("action"))]
    if kind in {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}:
        return "user", [_result(row.get("call_id"), row.get("output"))]
    if role == "tool":
        return "user", [_result(row.get("tool_call_id"), content)]
    if role not in {"user", "assistant"}:
        return "system", []
    return str(role), [*_blocks(content), *_tool_calls(row.get("tool_calls"))]


def _blocks(content: object) -> Iterator[Json]:
    if isinstance(content, str) and content.strip():
        yield {"type": "text", "text": content}
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, dict) and (known := _block(block)):
            yield known


def _tool_calls(calls: object) -> Iterator[Json]:
    if not isinstance(calls, list):
        return
    for call in calls:
        if isinstance(call, dict):
            function = call.get("function")
        else:
            function = None
        if isinstance(function, dict):
            yield _call(call.get("id"), function.get("name"), function.get("arguments"))


def _block(block: Json) -> Json | None:
    if block.get("type") in {"text", "input_text", "output_text"}:
        text = block.get("text")
        if isinstance(text, str) and text.strip():
            return {"type": "text", "text": text}
        return None
    if block.get("type") in {"tool_use", "tool_result"}:
        found: Json = {}
        for key, value in block.items():
            if key != "cache_control":
                found[key] = value
        return found
    return None


def _call(id: object, name: object, arguments: object) -> Json:
    if isinstance(arguments, str):
        decoded = _value(arguments.encode())
    else:
        decoded = arguments
    if isinstance(decoded, dict):
        given = decoded
    elif decoded is None:
        given = {"raw": arguments}
    else:
        given = {"v": decoded}
    return {"type": "tool_use", "id": str(id or "x"), "name": str(name or "tool"), "input": given}


def _result(id: object, content: object) -> Json:
    return {"type": "tool_result", "tool_use_id": str(id or "x"), "content": content or "(empty)"}


def _pair_calls(merged: list[tuple[str, list[Json]]]) -> list[Json]:
    """Calls without a result and results without a call are left out: recordings end anywhere."""
    found: list[Json] = []
    for at, (role, blocks) in enumerate(merged):
        if role == "assistant":
            after = merged[at + 1][1] if at + 1 < len(merged) else []
            answered = set()
            for block in after:
                answered.add(block.get("tool_use_id"))
            kept = []
            for block in blocks:
                if block.get("type") != "tool_use" or block.get("id") in answered:
                    kept.append(block)
        else:
            before = found[-1]["content"] if found else []
            if isinstance(before, list):
                made = {block.get("id") for block in before}
            else:
                made = set()
            kept = []
            for b in blocks:
                if b.get("type") != "tool_result" or b.get("tool_use_id") in made:
                    kept.append(b)
        found.append({"role": role, "content": kept or [{"type": "text", "text": "…"}]})
    while found and found[0]["role"] != "user":
        del found[0]
    return found
