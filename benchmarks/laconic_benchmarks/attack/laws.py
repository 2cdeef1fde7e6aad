"""The laws that every request through the gateway keeps, checked from outside: bytes in, bytes out, and the archive."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from laconic.errors import LaconicError
from laconic.sessions.archive import Archive
from laconic_benchmarks.attack.reading import (
    MARK,
    Leaf,
    Misfit,
    SentMessage,
    align,
    fields_of,
    forms_of,
    read_message,
)

THINKING_FIELDS: Final = ("thinking", "reasoning", "reasoning_effort", "generationConfig")
_NUMBER: Final = re.compile(r"^\s*\d+[\t→|:]\s?")
_WORD: Final = re.compile(r"\w+")
_EFFORT: Final = 8  # bytes by which another word for how much a model may think is longer
_MARKS: Final = 4  # cache marks that Anthropic takes
_NEWEST: Final = 2  # exchanges that are never left out
_OURS: Final = 2  # messages that may be ours
_SHOWN: Final = 160  # characters of a text in a report
_HUGE: Final = 2**40  # an archive that is only read has no limit


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that a step broke, and what a person needs to see it."""

    law: str
    detail: str


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request as the client sends it, and its parts."""

    head: str
    messages: tuple[str, ...]
    comma: str
    tail: str
    first: int = 0  # the first message of the user

    @property
    def body(self) -> str:
        return self.head + self.comma.join(self.messages) + self.tail


@dataclass
class ArchiveReader:
    """Reads the archive as `laconic recall` does; what it read is kept until the file changes."""

    path: Path
    _seen: tuple[object, ...] = ()
    _refs: frozenset[str] = frozenset()
    _data: dict[str, bytes] = field(default_factory=dict)
    _found: dict[str, str] = field(default_factory=dict)  # text -> the reference that gave it

    @property
    def refs(self) -> frozenset[str]:
        """Every reference that is kept now."""
        self._refresh()
        return self._refs

    def get(self, ref: str) -> bytes:
        if ref not in self._data:
            try:
                self._data[ref] = Archive(self.path, _HUGE).get(ref)
            except LaconicError:
                self._data[ref] = b""
        return self._data[ref]

    def find(self, leaf: Leaf, refs: Iterable[str]) -> str:
        """The reference of these that gives a text back; empty when none does."""
        known = self._found.get(leaf.value)
        refs = set(refs) & self.refs
        if known in refs:
            return known
        forms = list(forms_of(leaf.value))
        for ref in sorted(refs):
            data = self.get(ref)
            if any(form in data for form in forms):
                self._found[leaf.value] = ref
                return ref
        return ""

    def forget(self) -> None:
        """Look again: a log that is written over keeps its size, and often its time."""
        self._seen = ()

    def _refresh(self) -> None:
        stamps = tuple(_stamp(self.path.with_name(self.path.name + end)) for end in ("", "-wal"))
        if stamps == self._seen:
            return
        self._seen = stamps
        try:
            self._refs = frozenset(entry.ref for entry in Archive(self.path, _HUGE).entries())
        except LaconicError:
            self._refs = frozenset()
        self._data = {ref: data for ref, data in self._data.items() if ref in self._refs and data}
        self._found = {text: ref for text, ref in self._found.items() if ref in self._refs}


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def check_sent(request: IncomingRequest, out: bytes, archive: ArchiveReader, *, adds: int = 0) -> list[Violation]:
    """Laws about one request by itself. `adds`: bytes of a message of ours that the settings ask for."""
    body = request.body
    archive.forget()
    try:
        text = out.decode("utf-8")
    except UnicodeDecodeError as error:
        return [Violation("invalid", f"the body is no UTF-8: {error}")]
    if text == body:
        return []
    found: list[Violation] = []
    if len(out) > len(body.encode("utf-8", "surrogatepass")) + adds + _EFFORT:
        found.append(Violation("larger", f"{len(body)} characters came, {len(text)} went"))
    try:
        found += _check_fields(request, text) + _check_marks(request, text)
        sent = align(request.messages, request.head, text)
    except (ValueError, IndexError, Misfit) as error:
        return [*found, Violation("invalid", f"the body cannot be read: {type(error).__name__} {error}")]
    found += _check_frame(request, sent)
    found += _check_pairs(sent)
    found += _check_changed(request, sent)
    return found + _check_lost(request, sent, archive)


def _check_fields(request: IncomingRequest, text: str) -> list[Violation]:
    if text.startswith(request.head) and text.endswith(request.tail):
        return []
    before, after = fields_of(request.body, THINKING_FIELDS), fields_of(text, THINKING_FIELDS)
    if before == after and list(before) == list(after):
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [Violation("altered", f"members of the request changed, or their order: {names}")]


def _check_marks(request: IncomingRequest, text: str) -> list[Violation]:
    """A provider refuses a request with more marks than it allows."""
    if text.count(MARK) > max(_MARKS, request.body.count(MARK)):
        return [Violation("altered", f"{text.count(MARK)} cache marks")]
    return []


def _check_frame(request: IncomingRequest, sent: Sequence[SentMessage]) -> list[Violation]:
    """First message of the user, last message and newest exchanges are there; little of ours is."""
    found = []
    same = {message.origin for message in sent if message.same}
    there = {message.origin for message in sent}
    if request.first not in same:
        found.append(Violation("altered", "the first message of the user changed or is gone"))
    last = len(request.messages) - 1
    if last not in there:
        found.append(Violation("order", f"the last message is gone: {_short(request.messages[last])}"))
    ours = [message.raw for message in sent if message.origin < 0]
    if len(ours) > _OURS:
        found.append(Violation("order", f"{len(ours)} messages that the client did not send; {_short(ours[0])}"))
    newest = [at for at in range(last, -1, -1) if read_message(request.messages[at]).calls][:_NEWEST]
    found += [
        Violation("order", f"message {at}, of the {_NEWEST} newest with calls, is gone")
        for at in newest
        if at not in there
    ]
    return found


def _check_pairs(sent: Sequence[SentMessage]) -> list[Violation]:
    """Every result follows its call; every call but those of the last message has its result."""
    waiting: list[str] = []
    for message in sent:
        facts = read_message(message.raw)
        for result in facts.results:
            if result not in waiting:
                return [Violation("pairing", f"a result without its call: {result}")]
            waiting.remove(result)
        if facts.role in {"assistant", "model"} and waiting:
            return [Violation("pairing", f"calls without results: {waiting[:4]}")]
        waiting += facts.calls
    return [Violation("pairing", f"calls without results: {waiting[:4]}")] if waiting else []


def _check_changed(request: IncomingRequest, sent: Sequence[SentMessage]) -> list[Violation]:
    """A message that stays keeps its thinking and signatures, the names and numbers of arguments, and its role."""
    found = []
    for message in sent:
        if message.same or message.origin < 0:
            continue
        before, after = read_message(request.messages[message.origin]), read_message(message.raw)
        if before.role != after.role:
            found.append(Violation("altered", f"message {message.origin} changed its role"))
        if before.thinking != after.thinking:
            found.append(Violation("altered", f"thinking or signatures of message {message.origin} changed"))
        kept = dict(after.arguments)
        for call, layout in before.arguments:
            if call in kept and kept[call] != layout and len(set(before.calls)) == len(before.calls):
                detail = (
                    f"arguments of {call} in message {message.origin}: {layout[:_SHOWN]} -> {kept[call][:_SHOWN]}"
                )
                found.append(Violation("altered", detail))
    return found


def _check_lost(request: IncomingRequest, sent: Sequence[SentMessage], archive: ArchiveReader) -> list[Violation]:
    """Every text that came is in the outgoing request, or comes back by a reference that stands in it."""
    same = {message.origin for message in sent if message.same}
    came = {message.origin: message.raw for message in sent if not message.same and message.origin >= 0}
    missing: list[tuple[int, Leaf]] = []
    visible: set[str] | None = None
    for at, raw in enumerate(request.messages):
        if at in same:
            continue
        if visible is None:
            visible = {leaf.value for message in sent for leaf in read_message(message.raw).leaves}
        missing += [(at, leaf) for leaf in read_message(raw).leaves if leaf.value not in visible]
    if not missing:
        return []
    refs = archive.refs
    named = {word for message in sent if not message.same for word in read_message(message.raw).words & refs}
    visible_lines = VisibleLines(sent, archive, named)
    found = []
    for at, leaf in missing:
        instead = came.get(at)
        if archive.find(leaf, named) or _stands_in(leaf, instead) or visible_lines.has_listing(leaf):
            continue
        repeated = visible_lines.has_lines(leaf)
        if repeated and archive.find(leaf, refs):
            continue  # it points at what is visible, and is kept
        law = "rewritten" if repeated or _has_all_words(leaf, instead) else "lost"
        found.append(_report(law, request, at, leaf, instead))
    return found


class VisibleLines:
    """Every line that stands in a request or comes back by its references; read when first asked for."""

    def __init__(self, sent: Sequence[SentMessage], archive: ArchiveReader, named: set[str]) -> None:
        self._sent = sent
        self._archive = archive
        self._named = named

    @cached_property
    def _texts(self) -> list[str]:
        return [leaf.value for message in self._sent for leaf in read_message(message.raw).leaves]

    @cached_property
    def _lines(self) -> set[str]:
        recalled = [self._archive.get(ref).decode("utf-8", "replace") for ref in self._named]
        return {"", *(_bare(line) for text in [*self._texts, *recalled] for line in text.split("\n"))}

    @cached_property
    def _numbered(self) -> set[tuple[int, str]]:
        return {line for text in self._texts for line in _numbered_lines(text)}

    def has_lines(self, leaf: Leaf) -> bool:
        return {*map(_bare, leaf.value.split("\n"))} <= self._lines

    def has_listing(self, leaf: Leaf) -> bool:
        """Whether a listing repeats one that is visible, by numbers and lines."""
        numbered = _numbered_lines(leaf.value)
        return len(numbered) > leaf.value.count("\n") and {*numbered} <= self._numbered


def _stands_in(leaf: Leaf, instead: str | None) -> bool:
    """Whether a text is part of a longer one now, or a listing that lost only numbers that follow from the others."""
    if instead is None:
        return False
    texts = [other.value for other in read_message(instead).leaves]
    if any(f"\n{leaf.value}\n" in f"\n{text}\n" for text in texts):
        return True
    numbered = _numbered_lines(leaf.value)
    if not numbered or len(numbered) < leaf.value.count("\n") + 1:
        return False
    return any(_holds(_numbered_lines(text), numbered) for text in texts)


def _holds(lines: list[tuple[int, str]], wanted: list[tuple[int, str]]) -> bool:
    starts = [at for at, line in enumerate(lines) if line == wanted[0]]
    return any(lines[at : at + len(wanted)] == wanted for at in starts)


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a listing with their numbers; one without a number follows the line before it."""
    found: list[tuple[int, str]] = []
    for line in text.split("\n"):
        number, sign, rest = line.partition("\t")
        if sign and number.strip().isdigit():
            found.append((int(number), rest))
        elif found:
            found.append((found[-1][0] + 1, line))
    return found


def _has_all_words(leaf: Leaf, instead: str | None) -> bool:
    """Whether every word of a text stands in the message that came in its place, in whatever form."""
    if instead is None:
        return False
    words = {word for other in read_message(instead).leaves for word in _WORD.findall(other.value)}
    return {*_WORD.findall(leaf.value)} <= words


def _bare(line: str) -> str:
    return _NUMBER.sub("", line).strip()


def _report(law: str, request: IncomingRequest, at: int, leaf: Leaf, instead: str | None) -> Violation:
    where = f"message {at} of {len(request.messages)}{leaf.place}"
    stands = "the message is gone"
    if instead is not None:
        others = {other.place: other.value for other in read_message(instead).leaves}
        stands = f"in its place: {_short(others.get(leaf.place, instead))}"
    return Violation(law, f"{where}: {len(leaf.value)} characters {_short(leaf.value)}; {stands}")


def _short(text: str) -> str:
    cut = text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} … {text[-_SHOWN // 2 :]}"
    return json.dumps(cut)
