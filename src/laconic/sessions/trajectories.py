"""Sessions of `laconic agent` as files: one line per message, for the owner only, on disk before the next step.

They can be read by `replay` and gone on with after a kill: a line that was cut off is dropped.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Final

import msgspec

from laconic.errors import UnknownName, UsageError
from laconic.sessions.damaged_files import keep_copy
from laconic.wire.messages import (
    AssistantMessage,
    CallResult,
    Json,
    Message,
    ModelCall,
    ToolResults,
    UserMessage,
    make_call_id,
)

_ID: Final = re.compile(r"[\w-]{4,80}")


@dataclass(frozen=True, slots=True)
class TrajectoryStart:
    """What a session was begun with."""

    id: str
    root: str
    model: str
    task: str
    version: str


class Trajectory:
    """One session. Messages are added; nothing is ever changed."""

    def __init__(
        self, path: Path, file: BinaryIO, begun: TrajectoryStart, messages: tuple[Message, ...] = (), ended: str = ""
    ) -> None:
        self._path = path
        self._file = file
        self.begun = begun
        self.messages = list(messages)
        self.ended = ended  # how it ended the last time; empty: it did not

    @property
    def id(self) -> str:
        return self.begun.id

    @property
    def path(self) -> Path:
        return self._path

    def add(self, message: Message, **more: object) -> None:
        """One more message; when this returns it is on the disk."""
        row: Json = {"type": "message", "message": _write_message(message, len(self.messages)), **more}
        if isinstance(message, ToolResults):
            row["ids"] = [one.id for one in message.outcomes]
        if isinstance(message, AssistantMessage):
            row["ids"] = [use.id for use in message.uses]
            if message.native is not None:
                row["native"] = {"format": message.format, "message": message.native}
        self.messages.append(message)
        self.note(row)

    def end(self, reason: str, **more: object) -> None:
        """How it ended, and what it came to."""
        self.ended = reason
        self.note({"type": "end", "reason": reason, **more})

    def note(self, row: Mapping[str, object]) -> None:
        """Any other line; it is on the disk when this returns."""
        self._file.write(msgspec.json.encode(row) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def begin(folder: Path, root: Path, model: str, task: str, version: str) -> Trajectory:
    """A new session."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    begun = TrajectoryStart(id=token_hex(6), root=str(root), model=model, task=task, version=version)
    path = folder / f"{begun.id}.jsonl"
    path.touch(mode=0o600, exist_ok=False)
    made = Trajectory(path, _open_owned(path), begun)
    made.note({"type": "session_meta", "begun": begun})
    return made


def resume(folder: Path, id: str, root: Path) -> Trajectory:
    """A session by its id; `last`: the newest of this folder. What was cut off by a kill is taken off the file."""
    if id == "last":
        path = _newest(folder, root)
    else:
        path = folder / f"{id}.jsonl"
    if not _ID.fullmatch(path.stem) or not path.is_file():
        raise UnknownName("session", id, tuple(sorted(p.stem for p in folder.glob("*.jsonl"))[:5]))
    file = _open_owned(path)
    data = path.read_bytes()
    rows, whole = _rows(data)
    if not rows or rows[0].get("type") != "session_meta":
        file.close()
        raise UsageError(f"{path} is not a session of `laconic agent`.", "Name another with --resume.")
    if data.count(b"\n", whole):  # more than one line that was cut off: what is behind the damage is kept apart
        keep_copy(path)
    file.truncate(whole)
    begun = msgspec.convert(rows[0]["begun"], TrajectoryStart)
    messages, ended = [], ""
    for row in rows[1:]:
        if row.get("type") == "message":
            messages.append(_read(row))
            ended = ""
        elif row.get("type") == "end":
            ended = str(row.get("reason"))
    return Trajectory(path, file, begun, tuple(messages), ended)


def in_use(path: Path) -> bool:
    """Whether a process works on a session at the moment."""
    try:
        _open_owned(path).close()
    except UsageError:
        return True
    return False


def _open_owned(path: Path) -> BinaryIO:
    """The file, for this process alone: two that go on with one session would mix their messages."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(f"Another process is using the session {path.stem}.", "Wait for it, or end it.") from None
    return file


def _newest(folder: Path, root: Path) -> Path:
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found:
        with path.open("rb") as file:
            rows, _ = _rows(file.readline())
        begun = rows[0].get("begun") if rows else None
        if isinstance(begun, dict) and begun.get("root") == str(root):
            return path
    raise UsageError(f"There is no session in {root}.", "Start one: laconic agent TASK.")


def _rows(data: bytes) -> tuple[list[Json], int]:
    """The lines that are whole, and where they end."""
    rows: list[Json] = []
    whole = 0
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            row = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            break
        if not isinstance(row, dict):
            break
        rows.append(row)
        whole += len(line)
    return rows, whole


def _write_message(message: Message, at: int) -> Json:
    """The Anthropic form, which every reader of recordings knows."""
    if isinstance(message, UserMessage):
        return {"role": "user", "content": [{"type": "text", "text": message.text}]}
    if isinstance(message, ToolResults):
        return {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": make_call_id(one.id, at - 1, number),
                    "name": one.name,
                    "content": one.text,
                    "is_error": one.failed,
                }
                for number, one in enumerate(message.outcomes)
            ],
        }
    content: list[Json] = [{"type": "text", "text": message.text}] if message.text else []
    for number, use in enumerate(message.uses):
        call = {"type": "tool_use", "id": make_call_id(use.id, at, number), "name": use.name, "input": use.arguments}
        content.append({**call, "broken": use.broken} if use.broken else call)
    return {"role": "assistant", "content": content}


def _read(row: Json) -> Message:
    message = row["message"]
    blocks: list[Json] = message["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    ids = iter(row.get("ids") or [])
    if message["role"] == "assistant":
        uses = tuple(
            ModelCall(block["name"], block["input"], next(ids, block["id"]), block.get("broken", ""))
            for block in blocks
            if block["type"] == "tool_use"
        )
        native: dict[str, Any] = row.get("native") or {}
        return AssistantMessage(text, uses, native.get("message"), native.get("format", ""))
    results = []
    for block in blocks:
        if block["type"] == "tool_result":
            results.append(block)
    if results:
        return ToolResults(
            tuple(
                CallResult(block["name"], block["content"], next(ids, block["tool_use_id"]), failed=block["is_error"])
                for block in results
            )
        )
    return UserMessage(text)
