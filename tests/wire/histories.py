"""Random conversations, written in every format: what the laws of `wire` are tried on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

_LETTERS = "abcXYZ 09_/\\\"'{}[]:,.\n\t\u00e9\u4e2d\U0001f600\u2028\x7f"
texts = st.text(_LETTERS, min_size=1, max_size=30).filter(lambda text: text.strip() != "")
values = (
    st.sampled_from([None, True, 0, -7, 1.5, "", "x\ny", "\u4e2d", [], [1, [None]], {}, {"a": {"b": ["c"]}}]) | texts
)


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    input: Json
    output: str
    error: bool = False
    listed: bool = False  # the result is a list of elements
    image: bool = False


@dataclass(frozen=True)
class Step:
    """What the user says, or one turn of the assistant with the answers to its calls."""

    user: str = ""
    thinking: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    marked: bool = False  # carries a cache mark
    extra: Json = field(default_factory=dict)  # unknown keys


_names = st.sampled_from(["Read", "Bash", "Grep", "Edit"])
_inputs = st.dictionaries(st.sampled_from(["path", "command", "pattern", "n"]), values, max_size=3)
_nothing: Json = {}
_extras = st.just(_nothing) | st.dictionaries(st.sampled_from(["x_unknown", "zeta"]), values, max_size=2)


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """A valid conversation that ends with something to answer."""
    steps = [Step(user=draw(texts))]
    for number in range(draw(st.integers(0, 6))):
        calls = tuple(
            Call(
                f"call_{number}_{place}",
                draw(_names),
                draw(_inputs),
                draw(texts),
                draw(st.booleans()),
                draw(st.booleans()),
                draw(st.booleans()),
            )
            for place in range(draw(st.integers(0, 3)))
        )
        text = draw(texts) if not calls or draw(st.booleans()) else ""
        steps.append(Step(thinking=draw(st.just("") | texts), text=text, calls=calls, extra=draw(_extras)))
        if not calls or draw(st.booleans()):
            steps.append(Step(user=draw(texts), marked=draw(st.booleans())))
    return steps


@st.composite
def written(draw: st.DrawFn, body: Json) -> bytes:
    """A body as some client would write it."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")]))
    ascii_only = draw(st.booleans())
    indent = draw(st.sampled_from([None, None, 1]))
    return json.dumps(body, separators=separators, ensure_ascii=ascii_only, indent=indent).encode()


def anthropic(steps: list[Step]) -> Json:
    messages: list[Json] = []
    for step in steps:
        if step.user:
            block: Json = {"type": "text", "text": step.user}
            if step.marked:
                block["cache_control"] = {"type": "ephemeral"}
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"].append(block)
            else:
                messages.append({"role": "user", "content": [block]})
            continue
        content: list[Json] = []
        if step.thinking:
            content.append({"type": "thinking", "thinking": step.thinking, "signature": "c2ln" + step.thinking[:1]})
        if step.text:
            content.append({"type": "text", "text": step.text})
        content += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in step.calls]
        messages.append({"role": "assistant", "content": content, **step.extra})
        if step.calls:
            messages.append({"role": "user", "content": [_anthropic_result(c) for c in step.calls]})
    return {
        "model": "m",
        "system": [{"type": "text", "text": "s"}],
        "tools": [],
        "messages": messages,
        "stream": True,
    }


def _anthropic_result(call: Call) -> Json:
    content: Any = call.output
    if call.listed:
        content = [{"type": "text", "text": call.output}]
        if call.image:
            content.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}})
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": content,
        **({"is_error": True} if call.error else {}),
    }


def chat(steps: list[Step]) -> Json:
    messages: list[Json] = [{"role": "system", "content": "s"}]
    for step in steps:
        if step.user:
            messages.append({"role": "user", "content": step.user})
            continue
        message: Json = {"role": "assistant", "content": step.text or None, **step.extra}
        if step.thinking:
            message["reasoning_content"] = step.thinking
        if step.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.input)}}
                for c in step.calls
            ]
        messages.append(message)
        for call in step.calls:
            content: Any = [{"type": "text", "text": call.output}] if call.listed else call.output
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return {"model": "m", "messages": messages, "tools": [], "stream": True}


def responses(steps: list[Step]) -> Json:
    items: list[Json] = []
    for step in steps:
        if step.user:
            items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": step.user}]})
            continue
        if step.thinking:
            items.append(
                {
                    "type": "reasoning",
                    "id": "rs_" + step.thinking.encode().hex(),
                    "summary": [],
                    "encrypted_content": step.thinking,
                }
            )
        if step.text:
            content = [{"type": "output_text", "text": step.text, "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content, **step.extra})
        for call in step.calls:
            arguments = json.dumps(call.input)
            items.append({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
        for call in step.calls:
            output: Any = [{"type": "input_text", "text": call.output}] if call.listed else call.output
            if call.listed and call.image:
                output.append({"type": "input_image", "image_url": "data:,"})
            items.append({"type": "function_call_output", "call_id": call.id, "output": output})
    return {"model": "m", "instructions": "s", "input": items, "tools": [], "stream": True}


def gemini(steps: list[Step]) -> Json:
    contents: list[Json] = []
    for step in steps:
        if step.user:
            if contents and contents[-1]["role"] == "user":
                contents[-1]["parts"].append({"text": step.user})
            else:
                contents.append({"role": "user", "parts": [{"text": step.user}]})
            continue
        parts: list[Json] = []
        if step.thinking:
            parts.append({"text": step.thinking, "thought": True})
        if step.text:
            parts.append({"text": step.text})
        for place, call in enumerate(step.calls):
            part: Json = {"functionCall": {"name": call.name, "args": call.input}}
            if step.thinking and place == 0:
                part["thoughtSignature"] = "c2lnbmVk"
            parts.append(part)
        contents.append({"role": "model", "parts": parts, **step.extra})
        if step.calls:
            contents.append({"role": "user", "parts": [_gemini_result(call) for call in step.calls]})
    return {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": contents, "tools": []}


def _gemini_result(call: Call) -> Json:
    response: Json = {"error" if call.error else "output": call.output}
    if call.listed:
        response["count"] = 3
    return {"functionResponse": {"name": call.name, "response": response}}


BUILDERS = {"anthropic": anthropic, "chat": chat, "responses": responses, "gemini": gemini}
