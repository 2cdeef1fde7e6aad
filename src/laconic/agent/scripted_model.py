"""A model that follows rules instead of weights: it looks at the newest message and does what the first rule says.

It is asked in the same bytes as any model and answers in the same bytes, with native calls when it is offered tools
and with calls as text when it is told about them in words. For tests, demonstrations and documents.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from laconic.agent.transport import StreamedResponse
from laconic.errors import MalformedRequest, UsageError
from laconic.wire.formats import dialect_of, format_named
from laconic.wire.messages import ModelAnswer, ModelCall
from laconic.wire.parsed_request import ParsedRequest, parse
from laconic.wire.prompted_tool_calls.protocol import call_text
from laconic.wire.refusals import refusal
from laconic.wire.turns_and_blocks import Block
from laconic.wire.usage import Usage

_HOLE: Final = re.compile(r"<<(\w+)>>")
_TEXT_RESULT: Final = re.compile(r"^\[(\w+) (?:returned|failed)(?: \([^)]*\))?\]$", re.MULTILINE)
_PROMPTED: Final = b"```tool"


class RuleCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call; `<<name>>` in a text stands for what a group of that name has found."""

    name: str
    arguments: dict[str, Any] = {}


class ScriptRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When all its patterns are found in the newest message, this is what the model says and does."""

    when: tuple[str, ...] = ()  # regular expressions; their groups fill the holes
    unless: str = ""
    tool: str = ""  # the newest message holds a result of this tool
    say: str = ""
    calls: tuple[RuleCall, ...] = ()
    truncated: bool = False  # the answer ends as if it had been cut off


class ModelScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole model."""

    rules: tuple[ScriptRule, ...] = ()
    format: Literal["chat", "anthropic", "gemini"] = "chat"
    tools: Literal["native", "refused", "ignored"] = "native"  # what becomes of tools in a request


def script(path: Path) -> ModelScript:
    """A script from a TOML file; rules are tables named `rule`."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        table["rules"] = table.pop("rule", [])
        made = msgspec.convert(table, ModelScript)
        for rule in made.rules:
            for pattern in (*rule.when, rule.unless):
                re.compile(pattern)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The script {path} cannot be read: {error}.", "Name another file.") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, re.error) as error:
        raise UsageError(f"{path} is not a model script: {error}.", "See docs/agent.md.") from None
    return made


class ScriptedModel:
    """A transport with the model at its end."""

    def __init__(self, script: ModelScript, format: str, count: Callable[[str], int]) -> None:
        self._script = script
        self._format = format_named(format)
        self._dialect = dialect_of(self._format)
        self._count = count

    def post(self, body: bytes) -> StreamedResponse:
        try:
            conversation = parse(self._format, body)
        except MalformedRequest as error:
            return self._refuse(str(error))
        if faults := conversation.faults():
            return self._refuse(f"{faults[0].problem} (message {faults[0].turn})")
        offered = "tools" in conversation.fields
        if offered and self._script.tools == "refused":
            return self._refuse("this model does not support tools")
        heard = self.answer(conversation, native=offered and self._script.tools == "native")
        usage = Usage(
            self._count(body.decode("utf-8", "replace")), output=self._count(heard.text) + 20 * len(heard.uses)
        )
        heard = msgspec.structs.replace(heard, usage=usage)
        return StreamedResponse(200, {"content-type": "text/event-stream"}, iter(self._dialect.express(heard)))

    def answer(self, conversation: ParsedRequest, *, native: bool) -> ModelAnswer:
        """What the first rule says that fits."""
        text, tools = newest(conversation)
        for rule in self._script.rules:
            found = _fits(rule, text, tools)
            if found is None:
                continue
            say = _fill(rule.say, found)
            uses = tuple(
                ModelCall(call.name, _fill(call.arguments, found), f"call_{len(conversation.turns)}_{number}")
                for number, call in enumerate(rule.calls)
            )
            if native:
                return ModelAnswer(say, uses, rule.truncated)
            if uses and _PROMPTED not in conversation.body:
                return ModelAnswer(say or "I would have to look at the code for that.", (), rule.truncated)
            written = []
            for use in uses:
                written.append(call_text(use.name, use.arguments))
            return ModelAnswer("\n\n".join(filter(None, [say, *written])), (), rule.truncated)
        return ModelAnswer("No rule in this script matches.")

    def _refuse(self, problem: str) -> StreamedResponse:
        return StreamedResponse(
            400, {"content-type": "application/json"}, iter([refusal(self._format.name, 400, problem)])
        )


def newest(conversation: ParsedRequest) -> tuple[str, Sequence[str]]:
    """The text since the model spoke last, and the tools whose results stand in it."""
    spoke = max((turn.index for turn in conversation.turns if turn.role == "assistant"), default=-1)
    names = {}
    for e in conversation.exchanges:
        for call, result in e.pairs:
            if result:
                names[result.at] = call.name
    blocks: list[Block] = []
    for turn in conversation.turns[spoke + 1 :]:
        if turn.role != "system":
            blocks.extend(turn.blocks)
    text = "\n".join(block.text for block in blocks)
    tools = []
    for block in blocks:
        if block.kind == "result":
            tools.append(names.get(block.at, ""))
    return text, tools or _TEXT_RESULT.findall(text)


def _fits(rule: ScriptRule, text: str, tools: Sequence[str]) -> dict[str, str] | None:
    """What the groups of a rule found; None when it does not fit."""
    if rule.tool and rule.tool not in tools:
        return None
    if rule.unless and re.search(rule.unless, text, re.MULTILINE):
        return None
    found: dict[str, str] = {}
    for pattern in rule.when:
        match = re.search(pattern, text, re.MULTILINE)
        if match is None:
            return None
        found |= {name: value or "" for name, value in match.groupdict().items()}
    return found


def _fill(value: Any, found: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _HOLE.sub(lambda hole: found.get(hole[1], hole[0]), value)
    if isinstance(value, list):
        return [_fill(item, found) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, found) for key, item in value.items()}
    return value
