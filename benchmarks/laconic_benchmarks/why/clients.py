"""Planted sessions as clients record them: Claude Code and Codex as lines of JSON, opencode as a database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Final

from laconic.wire.formats import format_named
from laconic_benchmarks.why.planted import Json, SentTurn

_SAID: Final[list[Json]] = [{"type": "text", "text": "Done."}]  # the last answer
_THINKING: Final = 3.0  # seconds until an answer comes


def write_claude(folder: Path, name: str, turns: Sequence[SentTurn]) -> None:
    """`projects/FOLDER/ID.jsonl`: one row a block of an answer, each with the usage of the whole."""
    rows: list[Json] = []
    for number, (turn, said) in enumerate(_with_answers(turns)):
        if "compaction" in turn.planted:
            rows.append({"type": "system", "subtype": "compact_boundary", "timestamp": _moment(turn.at - 1)})
        asked: Json = {"message": {"role": "user", "content": turn.asked}, "type": "user", "cwd": "/planted"}
        rows.append({**asked, "timestamp": _moment(turn.at), "isCompactSummary": "compaction" in turn.planted})
        usage = format_named("anthropic").usage.write(turn.usage)
        for block in said:
            answer = {"id": f"msg_{number}", "model": turn.body["model"], "role": "assistant", "usage": usage}
            row = {"message": {**answer, "content": [block]}, "type": "assistant", "requestId": f"req_{number}"}
            rows.append({**row, "timestamp": _moment(turn.at + _THINKING)})
        if number % 9 == 4:  # a sub-agent in between
            rows.append({**rows[-1], "isSidechain": True, "requestId": "side"})
    rows = [{"isSidechain": False, **row} for row in rows]
    _write(folder / "projects" / "-planted" / f"{name}.jsonl", rows)


def write_codex(folder: Path, name: str, turns: Sequence[SentTurn]) -> None:
    """`sessions/.../rollout-*.jsonl`: items, and a count of tokens after each answer."""
    rows: list[Json] = [{"type": "session_meta", "payload": {"cwd": "/planted"}}]
    total = 0
    for turn, said in _with_answers(turns):
        rows.append({"type": "turn_context", "payload": {"model": turn.body["model"]}})
        if "compaction" in turn.planted:
            rows.append({"type": "compacted", "payload": {"message": turn.asked[0]["text"]}})
        for item in _items("user", turn.asked):
            rows.append({"type": "response_item", "payload": item, "timestamp": _moment(turn.at)})
        later = _moment(turn.at + _THINKING)
        for item in _items("assistant", said):
            rows.append({"type": "response_item", "payload": item, "timestamp": later})
        usage = turn.usage
        total += usage.prompt + usage.output
        last = {"input_tokens": usage.prompt, "cached_input_tokens": usage.cache_read, "output_tokens": usage.output}
        info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
        rows.append({"type": "event_msg", "payload": {"type": "token_count", "info": info}, "timestamp": later})
    _write(folder / "sessions" / "2026" / "09" / f"rollout-{name}.jsonl", rows)


def write_opencode(folder: Path, name: str, turns: Sequence[SentTurn]) -> None:
    """`opencode.db`: messages and parts."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "opencode.db")) as base, base:
        base.execute("CREATE TABLE IF NOT EXISTS session (id, title, directory, time_updated)")
        base.execute("CREATE TABLE IF NOT EXISTS message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE IF NOT EXISTS part (id, message_id, session_id, data)")
        base.execute("INSERT INTO session VALUES (?,?,?,?)", (name, name, "/planted", turns[-1].at * 1000))
        for number, (turn, said) in enumerate(_with_answers(turns)):
            at = round(turn.at * 1000)
            if "compaction" in turn.planted:
                _add(
                    base,
                    name,
                    f"{number:04}c",
                    {"role": "user", "time": {"created": at - 1}},
                    [{"type": "compaction"}],
                )
            texts = [{"type": "text", "text": block["text"]} for block in turn.asked if block["type"] == "text"]
            if texts:
                _add(base, name, f"{number:04}u", {"role": "user", "time": {"created": at}}, texts)
            info = {"role": "assistant", "modelID": turn.body["model"], "time": {"created": at}}
            _add(base, name, f"{number:04}v", info, list(_parts(said, turn)))


def _add(base: sqlite3.Connection, session: str, id: str, info: Json, parts: Sequence[Json]) -> None:
    base.execute("INSERT INTO message VALUES (?,?,?,?)", (id, session, info["time"]["created"], json.dumps(info)))
    for number, part in enumerate(parts):
        base.execute("INSERT INTO part VALUES (?,?,?,?)", (f"{id}{number:03}", id, session, json.dumps(part)))


def _parts(said: Sequence[Json], turn: SentTurn) -> Iterator[Json]:
    """An answer with the results of its calls; the step's usage comes before they run."""
    usage = turn.usage
    cache = {"read": usage.cache_read, "write": usage.cache_write}
    tools = []
    for block in said:
        if block["type"] == "text":
            yield {"type": "text", "text": block["text"]}
        else:
            state = {"input": block["input"], "output": "read", "time": {"end": round(turn.at * 1000) + 4000}}
            tools.append({"type": "tool", "callID": block["id"], "tool": block["name"], "state": state})
    yield {"type": "step-finish", "tokens": {"input": usage.input, "output": usage.output, "cache": cache}}
    yield from tools


def _items(role: str, blocks: Sequence[Json]) -> Iterator[Json]:
    for block in blocks:
        if block["type"] == "tool_use":
            arguments = json.dumps(block["input"])
            yield {"type": "function_call", "call_id": block["id"], "name": block["name"], "arguments": arguments}
        elif block["type"] == "tool_result":
            yield {"type": "function_call_output", "call_id": block["tool_use_id"], "output": block["content"]}
        else:
            kind = "output_text" if role == "assistant" else "input_text"
            yield {"type": "message", "role": role, "content": [{"type": kind, "text": block["text"]}]}


def _with_answers(turns: Sequence[SentTurn]) -> Iterator[tuple[SentTurn, list[Json]]]:
    """Each request with the answer that it got: the next one brings it along."""
    for turn, following in zip_longest(turns, turns[1:]):
        yield turn, (following.said if following else []) or _SAID


def _write(path: Path, rows: Sequence[Json]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
