"""What one more turn costs the engine in a long conversation, and what a conversation that rests keeps in memory.

Time is CPU time, as a multiple of parsing the same body and writing the same changes without a thought, in the same run.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

import msgspec

from laconic.clients.registry import task_tools
from laconic.conversation.engine import ConversationEngine
from laconic.conversation.engine_options import EngineOptions
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.records import ArchivedOriginal
from laconic.tokens.count import Counter, counter
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import ParsedRequest, Shapes, parse
from laconic.wire.provider_format import ProviderFormat
from laconic.wire.turns_and_blocks import At, Change, DropBlock, SetText
from laconic_benchmarks.report import Options, Report, at_least, at_most, versions

Json = dict[str, object]

_LARGE: Final = 500_000  # tokens
_TURNS: Final = 120  # measured at the end of the large one: enough for some of them to be events
_IDLE: Final = 40  # sessions that rest
_EACH: Final = 60_000  # tokens of each
_WORDS: Final = (
    "parse",
    "node",
    "span",
    "index",
    "token",
    "block",
    "value",
    "state",
    "frame",
    "queue",
    "store",
    "scope",
)


def run(options: Options) -> Report:
    """Measure."""
    count = counter("o200k_base")
    bare, known, quiet, events, tokens = _turns(count)
    each, live = _memory(count)
    ratio = median(q / b for q, b in zip(quiet, bare, strict=True)) if quiet else 0.0
    strict = median(q / b for q, b in zip(quiet, known, strict=True)) if quiet else 0.0
    return Report(
        "engine",
        f"a made-up session of {tokens} tokens, its last {_TURNS} turns; {_IDLE} sessions of {_EACH} tokens that rest",
        count.name,
        (
            {"what": "parse and emit, ms", "value": 1000 * median(bare)},
            {"what": "the same, with all earlier messages known, ms", "value": 1000 * median(known)},
            {"what": "a turn, ms", "value": 1000 * median(quiet)},
            {"what": "a turn against parse and emit with all earlier messages known", "value": strict},
            {"what": "a turn with an event, ms at most", "value": 1000 * max(events, default=0.0)},
            {"what": "events", "value": len(events)},
            {"what": "memory of the newest session, MB", "value": live},
            {"what": "memory per session, MB", "value": each},
        ),
        (
            at_most("a turn against parse and emit", ratio, 1.5),
            at_most("CPU of a turn, ms", 1000 * median(quiet), 80),
            at_most("memory per idle session, MB", each, 2.0),
            at_least("events among the turns", len(events), 1),
        ),
        ("CPU time; an event is a turn in which earlier text is left out",),
        versions("splintr-rs", "msgspec"),
    )


def _turns(count: Counter) -> tuple[list[float], list[float], list[float], list[float], int]:
    """Seconds of the bare way, of the same by one who knows the earlier messages, of quiet turns, of turns with an
    event; and the tokens of the last request."""
    messages = _session(random.Random(7), _LARGE, count)
    engine = ConversationEngine(
        MemoryStore(), MemoryArchive(), lambda: 0.0, count, EngineOptions(task_tools=task_tools())
    )
    format = format_named("anthropic")
    shapes: Shapes = {}
    written = [msgspec.json.encode(message) for message in messages]
    last = len(messages) - 2 * _TURNS
    for at in [*range(last // 8 | 1, last, last // 8 + last // 8 % 2), last]:
        parse(format, _body(written[:at]), shapes).turns  # noqa: B018
        engine.prepare("s", parse(format, _body(written[:at])))
    bare, known, quiet, events = list[float](), list[float](), list[float](), list[float]()
    tokens = 0
    for at in range(last + 2, len(messages) + 1, 2):
        body = _body(written[:at])
        gc.collect()  # neither way pays for what the other left, nor for bytes that the processor has not seen
        assert not body.count(b"\0")
        started = time.process_time()
        sent = engine.prepare("s", parse(format, body))
        middle = time.process_time()
        changes = _changes(parse(format, body), parse(format, sent.body))
        alone, helped = _written(format, body, changes, {}), _written(format, body, changes, shapes)
        if sent.mode:
            events.append(middle - started)
        else:
            bare.append(alone)
            known.append(helped)
            quiet.append(middle - started)
        tokens = sum(count(one.decode()) for one in written[:at]) if at == len(messages) else 0
    return bare, known, quiet, events, tokens


def _written(format: ProviderFormat, body: bytes, changes: dict[At, Change], shapes: Shapes) -> float:
    """Seconds to read a request and to write it with these changes."""
    gc.collect()
    started = time.process_time()
    conversation = parse(format, body, shapes)
    assert conversation.turns
    conversation.emit(changes)
    return time.process_time() - started


def _changes(before: ParsedRequest, after: ParsedRequest) -> dict[At, Change]:
    """What turns one request into the other, as far as results and exchanges that went tell."""
    now = {(block.kind, block.id): block for turn in after.turns for block in turn.blocks}
    changes: dict[At, Change] = {}
    for block in (block for turn in before.turns for block in turn.blocks if block.id):
        other = now.get((block.kind, block.id))
        if other is None:
            changes[block.at] = DropBlock()
        elif block.kind == "result" and other.text != block.text:
            changes[block.at] = SetText(other.text)
    return changes


def _memory(count: Counter) -> tuple[float, float]:
    """MB per session when many rest, and MB that the first of them took while it was the only one."""
    store, archive = _Nowhere(), _Nothing()
    engine = ConversationEngine(store, archive, lambda: 0.0, count, EngineOptions(task_tools=task_tools()))
    format = format_named("anthropic")
    bodies = (
        _body([msgspec.json.encode(m) for m in _session(random.Random(n), _EACH, count)]) for n in range(_IDLE + 1)
    )
    engine.prepare("warm", parse(format, next(bodies)))
    gc.collect()
    tracemalloc.start()
    before, first = tracemalloc.get_traced_memory()[0], 0.0
    for number, body in enumerate(bodies):
        engine.prepare(f"s{number}", parse(format, body))
        if not number:
            del body
            gc.collect()
            first = tracemalloc.get_traced_memory()[0] - before
    gc.collect()
    whole = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return whole / _IDLE / 1e6, first / 1e6


class _Nowhere(MemoryStore):
    """The ledger is on a disk: what it holds is no memory of ours."""

    def append(self, session: str, decisions: Sequence[object], recaps: Sequence[object]) -> None:
        pass


class _Nothing(MemoryArchive):
    """So is the archive."""

    def put_all(self, originals: Sequence[ArchivedOriginal]) -> list[str]:
        return [self.reference(one) for one in originals]


def _body(written: Sequence[bytes]) -> bytes:
    return b'{"model":"claude-sonnet-4-5","max_tokens":8000,"messages":[' + b",".join(written) + b"]}"


def _session(chance: random.Random, tokens: int, count: Counter) -> list[Json]:
    """Files that are read, changed and tested, until there are so many tokens; ends with a result."""
    messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": "Please make it faster."}]}]
    total = 0
    for number, (name, arguments, output) in enumerate(_calls(chance)):
        call = {"type": "tool_use", "id": f"c{number}", "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": output}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        total += count(output) + count(str(arguments))
        if total >= tokens:
            break
    return messages


def _calls(chance: random.Random) -> Iterator[tuple[str, Json, str]]:
    number = 0
    while True:
        number += 1
        path = f"src/{chance.choice(_WORDS)}_{number % 40}.py"
        lines = [_line(chance, number) for _ in range(chance.randrange(40, 400))]
        yield "Read", {"file_path": path}, "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, 1))
        old = "\n".join(lines[5:9])
        yield "Edit", {"file_path": path, "old_string": old, "new_string": _line(chance, number)}, "Updated."
        yield (
            "Bash",
            {"command": f"pytest {path}"},
            "\n".join(f"test {n} passed" for n in range(chance.randrange(30))),
        )


def _line(chance: random.Random, number: int) -> str:
    one, two, three = (chance.choice(_WORDS) for _ in range(3))
    return f"    {one}_{number} = self.{two}({three}_{chance.randrange(900)}, {chance.randrange(99)})"
