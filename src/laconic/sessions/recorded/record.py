"""One session as a client recorded it, and what its files are read with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic.sessions.transcripts import LATEST, Transcript
from laconic.wire.session_titles import choose_title

Row = dict[str, Any]
_MILLISECONDS: Final = 1000
_MOST: Final = 1_000_000_000  # tokens of one request that anybody believes


class RecordedUsage(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them: of one request, or of many."""

    input: int = 0  # neither read from a cache nor written to one
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    long: int = 0  # of what was written to a cache, tokens that it keeps for an hour

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: RecordedUsage) -> RecordedUsage:
        return RecordedUsage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            long=self.long + other.long,
        )


class RecordedRequest(msgspec.Struct, frozen=True):
    """One request: what it used, and what the client wrote down about it."""

    usage: RecordedUsage
    at: float = 0.0  # seconds since 1970 at which it was sent; 0: not known
    model: str = ""  # empty: the session's
    compacted: bool = False  # the client had just put a summary in the place of its history, or asked for one
    blocks: int = 0  # that the request before did not have; 0: not known


class RecordedSession(msgspec.Struct, frozen=True):
    """One session."""

    name: str
    title: str
    project: str
    model: str
    last: float  # seconds since 1970
    requests: tuple[RecordedRequest, ...]  # empty: the client wrote no usage down
    transcript: Transcript
    client: str = ""  # its title

    @property
    def usage(self) -> RecordedUsage:
        return sum((request.usage for request in self.requests), RecordedUsage())


def read_object(path: Path) -> Row:
    """The object that a file of JSON is; an empty one where it is none."""
    try:
        whole = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if isinstance(whole, dict):
        return whole
    return {}


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a file with one JSON object a line; lines that are none are passed over."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    yield from _decode_rows(data.split(b"\n"))


def read_first_row(path: Path) -> Row:
    """The first object of such a file; an empty one where there is none."""
    try:
        with path.open("rb") as lines:
            return next(_decode_rows(lines), {})
    except OSError:
        return {}


def _decode_rows(lines: Iterable[bytes]) -> Iterator[Row]:
    for line in lines:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def files_since(folder: Path, pattern: str, since: float) -> list[Path]:
    """Files below a folder that were written since a moment."""
    found = []
    for path in folder.glob(pattern):
        try:
            if path.is_file() and path.stat().st_mtime >= since:
                found.append(path)
        except OSError:
            continue  # gone, or not ours to read
    return sorted(found)


def read_sessions(
    folder: Path, patterns: Iterable[str], since: float, read: Callable[[Path], RecordedSession | None]
) -> Iterator[RecordedSession]:
    """The sessions of a client that keeps one a file: those whose files were written since a moment."""
    for pattern in patterns:
        for path in files_since(folder, pattern, since):
            session = read(path)
            if session is not None:
                yield session


def tokens_at(row: object, *keys: str) -> int:
    """A count inside of objects; 0 when it is not there, below 0, or more than anybody believes."""
    found = _value_at(row, keys)
    if isinstance(found, int | float) and 0 <= found <= _MOST:
        return int(found)
    return 0


def moment_at(row: object, *keys: str) -> float:
    """A time inside of objects, given in milliseconds since 1970, in seconds; 0 when it is none."""
    found = _value_at(row, keys)
    if isinstance(found, int | float) and 0 < found < LATEST * _MILLISECONDS:
        return found / _MILLISECONDS
    return 0.0


def _value_at(row: object, keys: Iterable[str]) -> object:
    for key in keys:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def title_of(transcript: Transcript) -> str:
    """By what the user said first."""
    return choose_title(_user_texts(transcript.messages[:8]))


def _user_texts(messages: Iterable[Row]) -> Iterator[str]:
    for message in messages:
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, list):
            continue
        for block in content:
            if isinstance(block, dict) and block.get("type") == "text":
                yield str(block.get("text") or "")
