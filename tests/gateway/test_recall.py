"""The gateway offers `recall` to programs that could not bring back what was left out, and answers it unseen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.stage import Stage, play

from laconic.conversation.engine import ConversationEngine
from laconic.conversation.in_memory import MemoryArchive, MemoryStore
from laconic.exchange.engine_adapter import EngineAdapter, single_engine
from laconic.exchange.recall import NAME, ROUNDS, Recall
from laconic.gateway.planner import GatewayPolicy
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, streamed
from laconic.sessions.archive import Archive
from laconic.tokens.count import counter
from laconic.wire.formats import FORMATS, dialect_of
from laconic.wire.messages import ModelAnswer, ModelCall
from laconic.wire.usage import Usage

Json = dict[str, Any]
SECRET = "the answer is 42"
PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-3-pro:generateContent",
}
READ: Json = {"type": "object", "properties": {"path": {"type": "string"}}}
CASES = [(name, stream) for name in sorted(FORMATS) for stream in (False, True)]
EACH = pytest.mark.parametrize(
    ("format", "stream"), CASES, ids=[f"{n}-{'stream' if s else 'whole'}" for n, s in CASES]
)


def _request(format: str, *, stream: bool, tool: str = "read_page", **more: object) -> Json:
    """A program with one tool that reads."""
    tools: dict[str, Json] = {
        "anthropic": {"name": tool, "description": "Reads.", "input_schema": READ},
        "chat": {"type": "function", "function": {"name": tool, "parameters": READ}},
        "responses": {"type": "function", "name": tool, "parameters": READ},
        "gemini": {"functionDeclarations": [{"name": tool, "parameters": READ}]},
    }
    body: Json = {"tools": [tools[format]]}
    if format == "gemini":
        return {**body, "contents": [{"role": "user", "parts": [{"text": "hi"}]}], **more}
    body |= {"model": "claude-sonnet-5-5" if format == "anthropic" else "gpt-5", "stream": stream}
    if format == "responses":
        return {**body, "input": [{"role": "user", "content": "hi"}], **more}
    return {**body, "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], **more}


def _path(format: str, *, stream: bool) -> str:
    if format == "gemini" and stream:
        return "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
    return PATHS[format]


def _responses_events(said: ModelAnswer) -> Iterator[bytes]:
    """The Responses API has no dialect of ours: its events, by hand."""
    number = 0

    def event(kind: str, **more: Any) -> bytes:
        nonlocal number
        written = json.dumps({"type": kind, "sequence_number": number, **more})
        number += 1
        return f"event: {kind}\ndata: {written}\n\n".encode()

    items: list[Json] = []
    response: Json = {"id": "r", "object": "response", "model": "m", "output": [], "status": "in_progress"}
    yield event("response.created", response=response)
    if said.text:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
        at = {"output_index": 0, "item_id": "m1", "content_index": 0}
        yield event("response.output_item.added", output_index=0, item={**item, "content": []})
        yield event("response.content_part.added", **at, part={**part, "text": ""})
        yield event("response.output_text.delta", **at, delta=said.text)
        yield event("response.output_text.done", **at, text=said.text)
        yield event("response.content_part.done", **at, part=part)
        yield event("response.output_item.done", output_index=0, item=item)
        items.append(item)
    for use in said.uses:
        arguments = json.dumps(use.arguments)
        item = {"type": "function_call", "id": "f", "call_id": use.id, "name": use.name, "arguments": arguments}
        at = {"output_index": len(items), "item_id": "f"}
        yield event("response.output_item.added", output_index=len(items), item={**item, "arguments": ""})
        yield event("response.function_call_arguments.delta", **at, delta=arguments)
        yield event("response.function_call_arguments.done", **at, arguments=arguments)
        yield event("response.output_item.done", output_index=len(items), item=item)
        items.append(item)
    assert said.usage is not None
    usage = {"input_tokens": said.usage.input, "output_tokens": said.usage.output, "total_tokens": 0}
    yield event("response.completed", response={**response, "status": "completed", "output": items, "usage": usage})


def _whole(format: str, said: ModelAnswer) -> Json:
    assert said.usage is not None
    prompt, output = said.usage.input, said.usage.output
    if format == "anthropic":
        content: list[Json] = [{"type": "text", "text": said.text}] if said.text else []
        content += [{"type": "tool_use", "id": u.id, "name": u.name, "input": u.arguments} for u in said.uses]
        stop = "tool_use" if said.uses else "end_turn"
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
        return {**message, "stop_reason": stop, "usage": {"input_tokens": prompt, "output_tokens": output}}
    if format == "gemini":
        parts: list[Json] = [{"text": said.text}] if said.text else []
        parts += [{"functionCall": {"name": use.name, "args": use.arguments}} for use in said.uses]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": output},
        }
    if format == "chat":
        message = dict[str, Any](role="assistant", content=said.text or None)
        if said.uses:
            calls = []
            for use in said.uses:
                function = {"name": use.name, "arguments": json.dumps(use.arguments)}
                calls.append({"id": use.id, "type": "function", "function": function})
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if said.uses else "stop"}
        usage = {"prompt_tokens": prompt, "completion_tokens": output}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    last = list(_responses_events(said))[-1]
    whole: Json = json.loads(last.split(b"data: ", 1)[1])["response"]
    return whole


def answer_as(format: str, said: ModelAnswer, *, stream: bool) -> ScriptedAnswer:
    """An answer of a model, as its provider writes it."""
    if not stream:
        return ScriptedAnswer((json.dumps(_whole(format, said)).encode(),))
    if format == "responses":
        return streamed(list(_responses_events(said)))
    return streamed(list(dialect_of(FORMATS[format]).express(said)))


def _heard(format: str, body: bytes, *, stream: bool) -> tuple[str, list[str], int, int]:
    """What the client got: the text, the calls, and tokens of prompt and answer."""
    if not stream:
        whole = json.loads(body)
    elif format == "responses":
        whole = json.loads(body.strip().rsplit(b"data: ", 1)[1])["response"]
    else:
        reader = dialect_of(FORMATS[format]).reader()
        text = ""
        for line in body.splitlines():
            if line.startswith(b"data: {"):
                text += reader.event(json.loads(line[6:]))
        heard = reader.close()
        assert heard.usage is not None
        return text, [use.name for use in heard.uses], heard.usage.prompt, heard.usage.output
    if format == "responses":
        items = whole["output"]
        text = "".join(item["content"][0]["text"] for item in items if item["type"] == "message")
        calls = [item["name"] for item in items if item["type"] == "function_call"]
        return text, calls, whole["usage"]["input_tokens"], whole["usage"]["output_tokens"]
    dialect = dialect_of(FORMATS[format])
    reader = dialect.reader()
    for event in dialect.whole(whole):
        reader.event(event)
    heard = reader.close()
    assert heard.usage is not None
    return heard.text, [use.name for use in heard.uses], heard.usage.prompt, heard.usage.output


def _recalling(
    format: str, *, stream: bool, calls: tuple[str, ...] = (NAME,)
) -> Callable[[ReceivedRequest], ScriptedAnswer]:
    """A model that recalls `REF` once it is asked with a session that has it, and then says what it found."""

    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        if SECRET.encode() in asked.body:
            said = ModelAnswer("It says 42.", usage=Usage(input=3_000, output=4))
        else:
            uses = tuple(ModelCall(name, {"ref": _ref(asked)}, f"id{n}") for n, name in enumerate(calls))
            said = ModelAnswer("Let me see.", uses, usage=Usage(input=2_000, output=3))
        return answer_as(format, said, stream=stream)

    return answer


def _ref(asked: ReceivedRequest) -> str:
    return next((value for name, value in asked.headers if name.lower() == "x-ref"), "none")


def _play(
    tmp_path: Path,
    format: str,
    *,
    stream: bool,
    scene: Callable[[Stage, str], Any],
    calls: tuple[str, ...] = (NAME,),
    enabled: bool = True,
) -> None:
    """A gateway with an archive that holds something of the session."""
    archive = Archive(tmp_path / "archive.sqlite", 10**8)
    engine = EngineAdapter(single_engine(ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, counter())))

    async def run(where: Stage) -> None:
        body = json.dumps(_request(format, stream=stream)).encode()
        _, headers, _ = await where.post(_path(format, stream=stream), body, x_laconic="on")
        where.upstream.asked.clear()
        ref = archive.put(headers["x-laconic-session"], "", SECRET.encode())
        await scene(where, ref)

    script = _recalling(format, stream=stream, calls=calls)
    play(run, script, engine, recall=Recall(archive, enabled=enabled))
    archive.close()


@pytest.mark.feature("S5")
@EACH
def test_the_client_sees_one_answer_and_no_call(tmp_path: Path, format: str, stream: bool) -> None:
    async def scene(where: Stage, ref: str) -> None:
        body = json.dumps(_request(format, stream=stream)).encode()
        status, _, said = await where.post(_path(format, stream=stream), body, x_ref=ref)
        assert status == 200
        text, calls, prompt, output = _heard(format, said, stream=stream)
        assert text.replace("\n", "") == "Let me see.It says 42."
        assert calls == []
        assert NAME.encode() not in said
        assert (prompt, output) == (5_000, 7)
        first, second = where.upstream.asked
        assert NAME.encode() in first.body
        assert SECRET.encode() not in first.body
        assert SECRET.encode() in second.body
        assert second.body.count(NAME.encode()) >= 2, "the call stands before its result"

    _play(tmp_path, format, stream=stream, scene=scene)


@EACH
def test_what_another_session_left_out_is_not_shown(tmp_path: Path, format: str, stream: bool) -> None:
    async def scene(where: Stage, ref: str) -> None:
        other = _request(format, stream=stream)
        messages = other.get("messages") or other.get("input") or other["contents"]
        messages.insert(
            0,
            {"role": "user", "content": "other"}
            if format != "gemini"
            else {"role": "user", "parts": [{"text": "other"}]},
        )
        await where.post(_path(format, stream=stream), json.dumps(other).encode(), x_ref=ref)
        assert len(where.upstream.asked) > 1
        assert all(SECRET.encode() not in asked.body for asked in where.upstream.asked)
        assert b"nothing was left out of this conversation" in where.upstream.asked[1].body

    _play(tmp_path, format, stream=stream, scene=scene)


@EACH
def test_beside_calls_of_the_client_the_client_gets_its_own(tmp_path: Path, format: str, stream: bool) -> None:
    async def scene(where: Stage, ref: str) -> None:
        body = json.dumps(_request(format, stream=stream)).encode()
        _, _, said = await where.post(_path(format, stream=stream), body, x_ref=ref)
        assert len(where.upstream.asked) == 1
        text, calls, _, _ = _heard(format, said, stream=stream)
        assert (text, calls) == ("Let me see.", ["read_page"])

    _play(tmp_path, format, stream=stream, scene=scene, calls=(NAME, "read_page"))


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_clients_own_tools_keep_their_bytes_and_every_request_offers_it(tmp_path: Path, format: str) -> None:
    async def scene(where: Stage, ref: str) -> None:
        body = json.dumps(_request(format, stream=False), indent=1).encode()
        for _ in range(2):
            await where.post(_path(format, stream=False), body, x_ref=ref)
        first = [asked.body for asked in where.upstream.asked]
        own = body[: body.index(b'"tools"')] + body[body.index(b'"tools"') :].split(b"\n ]", 1)[0]
        assert all(sent.startswith(own) for sent in first)
        assert all(json.loads(sent)["tools"][0] == json.loads(body)["tools"][0] for sent in first)
        assert all(len(json.loads(sent)["tools"]) == 2 for sent in first)

    _play(tmp_path, format, stream=False, scene=scene)


@pytest.mark.parametrize(
    ("format", "more"),
    [
        ("anthropic", {"tool_choice": {"type": "none"}}),
        ("anthropic", {"tool_choice": {"type": "tool", "name": "read_page"}}),
        ("chat", {"tool_choice": "none"}),
        ("responses", {"tool_choice": {"type": "function", "name": "read_page"}}),
        ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
        ("anthropic", {"tools": []}),
        ("anthropic", {"tools": [{"name": "Bash", "input_schema": READ}]}),
        ("anthropic", {"tools": [{"name": "mcp__laconic__search", "input_schema": READ}]}),
        ("gemini", {"tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}]}),
    ],
)
def test_where_it_is_forbidden_or_not_needed_it_is_not_offered(tmp_path: Path, format: str, more: Json) -> None:
    async def scene(where: Stage, ref: str) -> None:
        body = json.dumps({**_request(format, stream=False), **more}).encode()
        await where.post(_path(format, stream=False), body, x_ref=ref)
        assert where.upstream.asked[0].body == body

    _play(tmp_path, format, stream=False, scene=scene)


def test_switched_off_nothing_is_left_out_that_nobody_could_read_again(tmp_path: Path) -> None:
    """The same long history loses much where the program has a shell."""

    def body(tool: str) -> bytes:
        messages: list[Json] = [{"role": "user", "content": "Look."}]
        for number in range(60):
            use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {"path": f"{number}.txt"}}
            text = "\n".join(f"line {line} of {number}: {line * number}" for line in range(400))
            messages.append({"role": "assistant", "content": [use]})
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
            messages.append({"role": "user", "content": [result]})
        request = _request("anthropic", stream=False, tool=tool)
        return json.dumps({**request, "messages": messages}).encode()

    async def scene(where: Stage, ref: str) -> None:
        for tool, smaller in (("read_page", False), ("bash", True)):
            sent = body(tool)
            await where.post("/v1/messages", sent)
            assert (len(where.upstream.asked[-1].body) < len(sent)) is smaller, tool

    _play(tmp_path, "anthropic", stream=False, scene=scene, enabled=False)


def test_a_model_that_recalls_on_and_on_is_told_to_answer(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite", 10**8)

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b"Answer now" in asked.body:
            return answer_as("anthropic", ModelAnswer("That is all.", (), usage=Usage(20, output=3)), stream=True)
        said = ModelAnswer("", (ModelCall(NAME, {"ref": "x"}, "i"),), usage=Usage(20, output=3))
        return answer_as("anthropic", said, stream=True)

    async def scene(where: Stage) -> None:
        body = json.dumps(_request("anthropic", stream=True)).encode()
        status, _, said = await where.post("/v1/messages", body)
        assert (status, len(where.upstream.asked)) == (200, ROUNDS + 1)
        assert _heard("anthropic", said, stream=True)[:2] == ("That is all.", [])

    play(scene, script, recall=Recall(archive))
    archive.close()


def test_a_provider_that_fails_at_the_second_question_ends_the_answer(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite", 10**8)

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b"tool_result" in asked.body:
            return ScriptedAnswer((b"{}",), 500)
        said = ModelAnswer("Let me see.", (ModelCall(NAME, {"ref": "x"}, "i"),), usage=Usage(20, output=3))
        return answer_as("anthropic", said, stream=True)

    async def scene(where: Stage) -> None:
        body = json.dumps(_request("anthropic", stream=True)).encode()
        status, _, said = await where.post("/v1/messages", body)
        assert status == 200
        assert _heard("anthropic", said, stream=True)[:2] == ("Let me see.", [])
        assert b'"stop_reason":"end_turn"' in said
        assert said.count(b"event: message_stop") == 1

    play(scene, script, recall=Recall(archive))
    archive.close()


@EACH
def test_the_bill_counts_both_requests_and_expects_one_without_us(tmp_path: Path, format: str, stream: bool) -> None:
    async def bill(where: Stage) -> Json:
        _, said = await where.get("/laconic/sessions")
        found: Json = json.loads(said)["sessions"][0]["bill"]
        return found

    async def scene(where: Stage, ref: str) -> None:
        before = await bill(where)
        body = json.dumps(_request(format, stream=stream)).encode()
        await where.post(_path(format, stream=stream), body, x_ref=ref)
        after = await bill(where)
        assert after["turns"] - before["turns"] == 2
        assert after["tokens"] - before["tokens"] == 2_000 + 3_000
        assert after["output"] - before["output"] == 3 + 4
        without = after["tokens_without"] - before["tokens_without"]
        assert 2_500 < without < 2_950, "less than was sent: the tool is ours, and what was recalled"

    _play(tmp_path, format, stream=stream, scene=scene)


def test_a_model_whose_calls_travel_as_text_gets_the_whole_history_and_no_recall(tmp_path: Path) -> None:
    """A call of ours among calls as text could not be kept from the program: the refused request and the next one."""
    text = "\n".join(f"line {line}: {line * line}" for line in range(300))
    messages: list[Json] = [{"role": "user", "content": "Look."}]
    for number in range(30):
        function = {"name": "read_page", "arguments": json.dumps({"page": number})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}\n{text}"})
    tool = {"type": "function", "function": {"name": "read_page", "parameters": {"type": "object"}}}
    body = json.dumps({"model": "gemma", "messages": messages, "tools": [tool]}).encode()

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b'"tools"' in asked.body:
            return ScriptedAnswer((b'{"error":{"message":"models/gemma does not support tools"}}',), 400)
        return answer_as("chat", ModelAnswer("Done.", usage=Usage(9, output=1)), stream=False)

    async def scene(where: Stage) -> None:
        for _ in range(2):
            status, _, _ = await where.post("/v1/chat/completions", body)
            assert status == 200
        offered, *written = where.upstream.asked
        assert NAME.encode() in offered.body
        for asked in written:
            assert NAME.encode() not in asked.body
            assert asked.body.count(b"line 299: 89401") == 30

    archive = Archive(tmp_path / "archive.sqlite", 10**8)
    engine = EngineAdapter(single_engine(ConversationEngine(MemoryStore(), MemoryArchive(), lambda: 0.0, counter())))
    play(scene, script, engine, policy=GatewayPolicy(probe=False), recall=Recall(archive))
    archive.close()
