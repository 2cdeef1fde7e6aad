"""`recall` for programs that have neither a shell nor our tools: offered in their requests, and answered by us."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Protocol

import msgspec

from laconic.clients.registry import shell_tools
from laconic.errors import LaconicError
from laconic.exchange.caller import Caller
from laconic.sessions.archive import ArchiveEntry
from laconic.wire.hidden_calls import HeldAnswer
from laconic.wire.json_spans import elements, is_array
from laconic.wire.messages import ModelCall, ToolDefinition
from laconic.wire.parsed_request import ParsedRequest, parse

NAME: Final = "laconic_recall"
OFFER: Final = ToolDefinition(
    NAME,
    "Brings back text that was left out of this conversation. Where a note in brackets says `laconic recall REF`, call"
    " this with that REF; `lines` (such as 40-80) or `grep` (a regular expression) bring a part of it.",
    {
        "type": "object",
        "properties": {"ref": {"type": "string"}, "lines": {"type": "string"}, "grep": {"type": "string"}},
        "required": ["ref"],
    },
)
ROUNDS: Final = 5  # times that a model may recall within one answer
_LAST: Final = "(Nothing more can be brought back within this answer. Answer now, with what you have.)"
_MOST: Final = 40_000  # characters of one result
# Words in the names of tools that run commands, for clients that we do not know.
_SHELL_WORDS: Final = (
    r"(?:[\w.-]*[_.-])?(?:bash|shell|terminal|console|exec|powershell|cmd|command|run)(?:[_.-][\w.-]*)?"
)


class RecallArchive(Protocol):
    """Where it is kept what was left out."""

    def entry(self, ref: str) -> ArchiveEntry: ...

    def lines(self, ref: str, first: int, last: int) -> list[str]: ...

    def matching(self, ref: str, pattern: str) -> list[tuple[int, str]]: ...


class Recall:
    """Whether and how left out text can be brought back. Switched off, nothing is left out that nobody could re-read."""

    def __init__(self, archive: RecallArchive, *, enabled: bool = True) -> None:
        self._archive = archive
        self.enabled = enabled

    def is_needed(self, conversation: ParsedRequest) -> bool:
        """Whether a program has tools, and none of them could bring anything back."""
        tools = conversation.field("tools")
        if not is_array(tools) or not elements(tools):
            return False
        return b"laconic" not in tools and _shell_pattern().search(tools) is None

    def offer(self, conversation: ParsedRequest, body: bytes) -> bytes | None:
        """The request with the tool behind the client's own; None when the model may not call it."""
        calls = conversation.format.hidden_calls
        if calls is None or calls.forbids(conversation):
            return None
        tools = parse(conversation.format, body).fields["tools"]
        declared = msgspec.json.encode(conversation.format.declare(OFFER))
        end = tools.end - 1  # the bracket
        return body[:end].rstrip() + b"," + declared + body[end:]

    def answer(self, caller: Caller, held: HeldAnswer, *, is_last: bool = False) -> list[str]:
        """The results of all calls; every failure is a result that says what to do."""
        found: list[str] = []
        for call in held.calls:
            found.append(self._answer(caller, call))
        if found and is_last:
            found[-1] = f"{found[-1]}\n\n{_LAST}"
        return found

    def _answer(self, caller: Caller, call: ModelCall) -> str:
        ref = str(call.arguments.get("ref") or "").strip().strip("[]`'\"").removeprefix("laconic recall ")
        try:
            if self._archive.entry(ref).session != caller.session:  # of another conversation, maybe of somebody else
                return f"error: nothing was left out of this conversation under {ref!r}."
            if pattern := str(call.arguments.get("grep") or ""):
                found = []
                for number, line in self._archive.matching(ref, pattern):
                    found.append(f"{number}: {line}")
                return _cut(found) or f"no line of {ref} matches {pattern}"
            first, last = _range(str(call.arguments.get("lines") or ""))
            return _cut(self._archive.lines(ref, first, last)) or "(empty)"
        except LaconicError as error:
            return f"error: {error}"


@cache
def _shell_pattern() -> re.Pattern[bytes]:
    """A tool that runs commands, where requests declare it."""
    names = "|".join([*map(re.escape, shell_tools()), _SHELL_WORDS])
    return re.compile(rf'"(?:name|type)"\s*:\s*"(?:{names})"'.encode(), re.IGNORECASE)


def extend(conversation: ParsedRequest, messages: Sequence[object]) -> bytes:
    """A request with more messages at its end."""
    array = conversation.array
    assert array is not None
    body, end = conversation.body, array.end - 1
    more = b"".join(b"," + msgspec.json.encode(message) for message in messages)
    return body[:end].rstrip() + more + body[end:]


def _range(text: str) -> tuple[int, int]:
    numbers = []
    for number in re.findall(r"\d{1,9}", text):
        numbers.append(int(number))
    if not numbers:
        return 1, 1_000_000_000
    return numbers[0], numbers[-1]


def _cut(lines: Sequence[str]) -> str:
    """As many whole lines as a result may have."""
    text = "\n".join(lines)
    if len(text) <= _MOST:
        return text
    kept = text[:_MOST].rsplit("\n", 1)[0]
    count = kept.count("\n") + 1
    return f"{kept}\n[{count} of {len(lines)} lines; ask for the others with lines]"
