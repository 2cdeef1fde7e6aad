"""Histories in the words of four providers, as raw JSON that nothing of ours has touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from laconic.exchange.caller import Target
from laconic_benchmarks.attack.material import Media, ToolOutput

Json = Any
MARK: Final = ',"cache_control":{"type":"ephemeral"}'  # as it stands in a message that carries it
_SLOT: Final = "@@arguments-{}@@"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call and what it gave back. `arguments` is a JSON object as it is to be written."""

    id: str
    name: str
    arguments: str
    output: ToolOutput


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What the model said, and the results of its calls. Without calls the user speaks next."""

    said: str = ""
    thought: str = ""
    signature: str = ""
    calls: tuple[ToolCall, ...] = ()
    server: str = ""  # a block that the provider made, or one that nobody knows
    interleaved: bool = False  # each call is followed by its result, where a format allows that


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How a client writes JSON."""

    ascii: bool = True
    pretty: bool = False

    def write(self, value: Json, arguments: Sequence[str] = ()) -> str:
        """A value as JSON; `arguments` are put, as they are, where slots are."""
        if self.pretty:
            text = json.dumps(value, ensure_ascii=self.ascii, indent=1)
        else:
            text = json.dumps(value, ensure_ascii=self.ascii, separators=(",", ":"))
        for number, raw in enumerate(arguments):
            text = text.replace(f'"{_SLOT.format(number)}"', raw, 1)
        return text

    @property
    def comma(self) -> str:
        return ",\n   " if self.pretty else ","


class RequestWriter(Protocol):
    """Writes one provider's requests."""

    @property
    def name(self) -> str: ...

    @property
    def models(self) -> tuple[str, ...]: ...

    def target(self, model: str) -> Target: ...

    def head(self, style: JsonStyle, fields: RequestFields) -> str:
        """Everything before the first message."""

    def leading(self, style: JsonStyle, fields: RequestFields) -> list[str]:
        """Messages before the first one of the user."""

    def tail(self, style: JsonStyle, fields: RequestFields) -> str:
        """Everything behind the last message."""

    def user(self, style: JsonStyle, text: str, media: Sequence[Media] = ()) -> str: ...

    def turn(self, style: JsonStyle, turn: AgentTurn) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class RequestFields:
    """What stands beside the messages."""

    model: str
    system: str = "You are a careful agent."
    tools: tuple[str, ...] = ("Read", "Bash", "Edit", "TodoWrite")
    session: str = ""  # said in the body; empty: not said
    output: int = 1_000
    thinking: int = 0
    extra: dict[str, Json] = field(default_factory=dict)


def _opened(style: JsonStyle, fields: dict[str, Json], name: str) -> str:
    text = style.write({**fields, name: []})
    return text[: text.rindex("]")]


def _closed(style: JsonStyle, fields: dict[str, Json]) -> str:
    return "]" + ("," + style.write(fields)[1:] if fields else "}")


def _schema(name: str) -> dict[str, Json]:
    return {"type": "object", "properties": {"path": {"type": "string", "description": f"for {name}"}}}


class AnthropicMessages:
    """Anthropic's Messages API."""

    name = "anthropic"
    models = ("claude-sonnet-4-5", "claude-opus-4-7", "claude-unknown-9")

    def target(self, model: str) -> Target:
        return Target("anthropic", "http://127.0.0.1:9", "/v1/messages", "anthropic")

    def head(self, style: JsonStyle, fields: RequestFields) -> str:
        tools = [{"name": name, "description": name, "input_schema": _schema(name)} for name in fields.tools]
        first: dict[str, Json] = {"model": fields.model, "max_tokens": fields.output, "system": fields.system}
        if fields.thinking:
            first["thinking"] = {"type": "enabled", "budget_tokens": fields.thinking}
        return _opened(style, {**first, "tools": tools}, "messages")

    def leading(self, style: JsonStyle, fields: RequestFields) -> list[str]:
        return []

    def tail(self, style: JsonStyle, fields: RequestFields) -> str:
        said = {"metadata": {"user_id": fields.session}} if fields.session else {}
        return _closed(style, {**fields.extra, **said, "stream": True})

    def user(self, style: JsonStyle, text: str, media: Sequence[Media] = ()) -> str:
        content = [*map(self._media, media), {"type": "text", "text": text}]
        return style.write({"role": "user", "content": content})

    def turn(self, style: JsonStyle, turn: AgentTurn) -> list[str]:
        blocks: list[Json] = []
        if turn.thought:
            blocks.append({"type": "thinking", "thinking": turn.thought, "signature": turn.signature})
        if turn.thought and turn.signature[0] in "0123":
            blocks.append({"type": "redacted_thinking", "data": turn.signature})
        if turn.server == "known":
            asked = {"query": turn.said or "q"}
            found = [{"type": "web_search_result", "url": "u", "encrypted_content": turn.signature}]
            blocks.append(
                {"type": "server_tool_use", "id": f"srv{turn.signature[:6]}", "name": "web_search", "input": asked}
            )
            blocks.append(
                {"type": "web_search_tool_result", "tool_use_id": f"srv{turn.signature[:6]}", "content": found}
            )
        elif turn.server:
            blocks.append({"type": "future_block", "payload": {"n": 1.5, "of": turn.signature}})
        if turn.said or not turn.calls:
            blocks.append({"type": "text", "text": turn.said or "Done."})
        for number, call in enumerate(turn.calls):
            blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": _SLOT.format(number)})
        written = [style.write({"role": "assistant", "content": blocks}, [call.arguments for call in turn.calls])]
        if turn.calls:
            written.append(style.write({"role": "user", "content": [self._result(call) for call in turn.calls]}))
        return written

    def _result(self, call: ToolCall) -> Json:
        output = call.output
        content: Json = [{"type": "text", "text": text} for text in output.texts] + [*map(self._media, output.media)]
        if len(output.texts) == 1 and not output.media and len(call.id) % 2:
            content = output.texts[0]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
        return {**result, "is_error": True} if output.error else result

    @staticmethod
    def _media(media: Media) -> Json:
        kind = "image" if media.type.startswith("image") else "document"
        return {"type": kind, "source": {"type": "base64", "media_type": media.type, "data": media.data}}


class ChatCompletions:
    """OpenAI's chat completions."""

    name = "chat"
    models = ("gpt-5", "gpt-4-my-own-1m", "qwen3:8b", "openai/gpt-4o")

    def target(self, model: str) -> Target:
        return Target("openai", "http://127.0.0.1:9", "/v1/chat/completions", "chat")

    def head(self, style: JsonStyle, fields: RequestFields) -> str:
        tools = [{"type": "function", "function": {"name": n, "parameters": _schema(n)}} for n in fields.tools]
        first: dict[str, Json] = {"model": fields.model, "max_completion_tokens": fields.output, "tools": tools}
        if fields.thinking:
            first["reasoning_effort"] = "high"
        return _opened(style, first, "messages")

    def leading(self, style: JsonStyle, fields: RequestFields) -> list[str]:
        return [style.write({"role": "system", "content": fields.system})]

    def tail(self, style: JsonStyle, fields: RequestFields) -> str:
        said = {"prompt_cache_key": fields.session} if fields.session else {}
        return _closed(style, {**fields.extra, **said, "temperature": 0.50})

    def user(self, style: JsonStyle, text: str, media: Sequence[Media] = ()) -> str:
        if not media:
            return style.write({"role": "user", "content": text})
        content = [{"type": "text", "text": text}, *map(self._media, media)]
        return style.write({"role": "user", "content": content})

    def turn(self, style: JsonStyle, turn: AgentTurn) -> list[str]:
        message: dict[str, Json] = {"role": "assistant", "content": turn.said or (None if turn.calls else "Done.")}
        if turn.thought:
            message["reasoning_content"] = turn.thought
            message["reasoning_details"] = [{"type": "reasoning.encrypted", "data": turn.signature}]
        if turn.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in turn.calls
            ]
        return [style.write(message), *(style.write(self._result(call)) for call in turn.calls)]

    def _result(self, call: ToolCall) -> Json:
        output = call.output
        content: Json = output.texts[0] if len(output.texts) == 1 else ""
        if output.media or len(output.texts) > 1:
            content = [{"type": "text", "text": text} for text in output.texts] + [*map(self._media, output.media)]
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    @staticmethod
    def _media(media: Media) -> Json:
        if media.type.startswith("audio"):
            return {"type": "input_audio", "input_audio": {"data": media.data, "format": "wav"}}
        if not media.type.startswith("image"):
            url = f"data:{media.type};base64,{media.data}"
            return {"type": "file", "file": {"filename": "paper.pdf", "file_data": url}}
        return {"type": "image_url", "image_url": {"url": f"data:{media.type};base64,{media.data}", "detail": "auto"}}


class OpenAIResponses:
    """OpenAI's Responses API."""

    name = "responses"
    models = ("gpt-5-codex", "o4-mini", "gpt-4.1")

    def target(self, model: str) -> Target:
        return Target("openai", "http://127.0.0.1:9", "/v1/responses", "responses")

    def head(self, style: JsonStyle, fields: RequestFields) -> str:
        tools = [{"type": "function", "name": name, "parameters": _schema(name)} for name in fields.tools]
        first: dict[str, Json] = {
            "model": fields.model,
            "instructions": fields.system,
            "tools": tools,
            "store": False,
        }
        if fields.thinking:
            first["reasoning"] = {"effort": "high"}
        return _opened(style, first, "input")

    def leading(self, style: JsonStyle, fields: RequestFields) -> list[str]:
        return []

    def tail(self, style: JsonStyle, fields: RequestFields) -> str:
        said = {"prompt_cache_key": fields.session} if fields.session else {}
        return _closed(style, {**fields.extra, **said, "include": ["reasoning.encrypted_content"]})

    def user(self, style: JsonStyle, text: str, media: Sequence[Media] = ()) -> str:
        content = [{"type": "input_text", "text": text}, *map(self._media, media)]
        return style.write({"type": "message", "role": "user", "content": content})

    def turn(self, style: JsonStyle, turn: AgentTurn) -> list[str]:
        items: list[Json] = []
        if turn.thought and (turn.calls or turn.said):
            summary = [{"type": "summary_text", "text": turn.thought}]
            items.append(
                {
                    "type": "reasoning",
                    "id": f"rs{turn.signature[:8]}",
                    "summary": summary,
                    "encrypted_content": turn.signature,
                }
            )
        if turn.said or not turn.calls:
            content = [{"type": "output_text", "text": turn.said or "Done.", "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content})
        if turn.server:
            kind = "web_search_call" if turn.server == "known" else "future_item"
            items.append({"type": kind, "id": f"ws{turn.signature[:8]}", "action": {"query": turn.signature}})
        calls = [self._call(call) for call in turn.calls]
        results = [self._result(call) for call in turn.calls]
        if turn.interleaved:
            items += [item for pair in zip(calls, results, strict=True) for item in pair]
        else:
            items += calls + results
        return [style.write(item) for item in items]

    @staticmethod
    def _call(call: ToolCall) -> Json:
        return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}

    def _result(self, call: ToolCall) -> Json:
        output = call.output
        said: Json = output.texts[0] if len(output.texts) == 1 else ""
        if output.media or len(output.texts) > 1:
            said = [{"type": "input_text", "text": text} for text in output.texts] + [*map(self._media, output.media)]
        return {"type": "function_call_output", "call_id": call.id, "output": said}

    @staticmethod
    def _media(media: Media) -> Json:
        url = f"data:{media.type};base64,{media.data}"
        if media.type.startswith("image"):
            return {"type": "input_image", "image_url": url}
        return {"type": "input_file", "filename": "paper.pdf", "file_data": url}


class GeminiContents:
    """Gemini's generateContent."""

    name = "gemini"
    models = ("gemini-2.5-pro", "gemini-3-pro-preview")

    def target(self, model: str) -> Target:
        path = f"/v1beta/models/{model}:streamGenerateContent"
        return Target("gemini", "http://127.0.0.1:9", path, "gemini", model)

    def head(self, style: JsonStyle, fields: RequestFields) -> str:
        declared = [{"name": name, "parameters": _schema(name)} for name in fields.tools]
        first: dict[str, Json] = {
            "systemInstruction": {"parts": [{"text": fields.system}]},
            "tools": [{"functionDeclarations": declared}],
        }
        return _opened(style, first, "contents")

    def leading(self, style: JsonStyle, fields: RequestFields) -> list[str]:
        return []

    def tail(self, style: JsonStyle, fields: RequestFields) -> str:
        config: dict[str, Json] = {"maxOutputTokens": fields.output}
        if fields.thinking:
            config["thinkingConfig"] = {"thinkingBudget": fields.thinking}
        return _closed(style, {**fields.extra, "generationConfig": config})

    def user(self, style: JsonStyle, text: str, media: Sequence[Media] = ()) -> str:
        return style.write({"role": "user", "parts": [{"text": text}, *map(self._media, media)]})

    def turn(self, style: JsonStyle, turn: AgentTurn) -> list[str]:
        parts: list[Json] = []
        if turn.thought:
            parts.append({"text": turn.thought, "thought": True})
        if turn.said or not turn.calls:
            parts.append({"text": turn.said or "Done."})
        if turn.server:
            parts.append({"executableCode": {"language": "PYTHON", "code": f"print({turn.signature!r})"}})
        for number, call in enumerate(turn.calls):
            part: dict[str, Json] = {"functionCall": {**self._name(call), "args": _SLOT.format(number)}}
            if number == 0 and turn.signature:
                part["thoughtSignature"] = turn.signature
            parts.append(part)
        written = [style.write({"role": "model", "parts": parts}, [call.arguments for call in turn.calls])]
        if turn.calls:
            written.append(style.write({"role": "user", "parts": [self._result(call) for call in turn.calls]}))
        return written

    def _result(self, call: ToolCall) -> Json:
        output = call.output
        response: dict[str, Json] = {("error" if output.error else "output"): "\n".join(output.texts)}
        if len(output.texts) > 1:
            response = {"first": output.texts[0], "rest": list(output.texts[1:])}
        made: dict[str, Json] = {**self._name(call), "response": response}
        if output.media:
            made["parts"] = [*map(self._media, output.media)]
        return {"functionResponse": made}

    @staticmethod
    def _name(call: ToolCall) -> dict[str, Json]:
        """Clients of Gemini leave ids out as often as not."""
        return {"name": call.name} if call.id.endswith(("1", "3", "5")) else {"id": call.id, "name": call.name}

    @staticmethod
    def _media(media: Media) -> Json:
        return {"inlineData": {"mimeType": media.type, "data": media.data}}


PROVIDERS: Final[tuple[RequestWriter, ...]] = (
    AnthropicMessages(),
    ChatCompletions(),
    OpenAIResponses(),
    GeminiContents(),
)
