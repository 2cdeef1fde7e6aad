"""A server of the SDK with everything that the official conformance suite asks of one: `python reference_server.py`
on standard input, or `python reference_server.py PORT` over streamable HTTP. It writes down the calls that it gets."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[Any]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n red").decode()
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt ").decode()
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
OPTIONS = ["option1", "option2", "option3"]
CHOICES = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
FORMS: dict[str, dict[str, Any]] = {
    "test_elicitation": {"username": {"type": "string"}, "email": {"type": "string"}},
    "test_elicitation_sep1034_defaults": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "test_elicitation_sep1330_enums": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": CHOICES},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": CHOICES}},
    },
}
EMBEDDED = {
    "type": "resource",
    "resource": {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": "An embedded resource."},
}
CONTENTS: dict[str, list[dict[str, Any]]] = {
    "test_simple_text": [{"type": "text", "text": "This is a simple text response for testing."}],
    "test_image_content": [{"type": "image", "data": PNG, "mimeType": "image/png"}],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [EMBEDDED],
    "test_multiple_content_types": [
        {"type": "text", "text": "Multiple content types test:"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        EMBEDDED,
    ],
}
TOOLS = {
    **dict.fromkeys(CONTENTS, NOTHING),
    **dict.fromkeys(FORMS, NOTHING),
    "test_error_handling": NOTHING,
    "test_tool_with_logging": NOTHING,
    "test_tool_with_progress": NOTHING,
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "json_schema_2020_12_tool": SCHEMA_2020,
    "roots": NOTHING,
    "wait": NOTHING,
    "calls": NOTHING,
    "grow": NOTHING,
}
PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}
PAGE = 5  # tools of one page
CALLS: list[str] = []


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    start = int((params and params.cursor) or 0)
    listed = []
    for name, schema in list(TOOLS.items())[start : start + PAGE]:
        listed.append(types.Tool(name=name, description=f"Does {name}.", input_schema=schema))
    more = start + PAGE < len(TOOLS)
    return types.ListToolsResult(tools=listed, next_cursor=str(start + PAGE) if more else None)


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    name = params.name
    CALLS.append(name)
    if name in CONTENTS:
        return types.CallToolResult.model_validate({"content": CONTENTS[name]})
    if name in FORMS:
        form = {"type": "object", "properties": FORMS[name], "required": list(FORMS[name])}
        chosen = await ctx.session.elicit_form("Please choose", form, related_request_id=ctx.request_id)
        return say(f"action={chosen.action}, content={json.dumps(chosen.content)}")
    if name == "test_error_handling":
        return say("This tool intentionally returns an error for testing", failed=True)
    if name == "test_tool_with_logging":
        for number in range(3):
            await ctx.session.send_log_message("info", f"step {number}", related_request_id=ctx.request_id)
        return say("logged")
    if name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
        return say("done")
    if name == "test_sampling":
        words = types.TextContent(type="text", text=str((params.arguments or {})["prompt"]))
        asked = types.SamplingMessage(role="user", content=words)
        answer = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
        return say(f"the model said {answer.content}")
    if name == "roots":
        return say(" ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots))
    if name == "wait":
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            CALLS.append("wait was cancelled")
            raise
    if name == "grow":
        TOOLS["late"] = NOTHING
        await ctx.session.send_tool_list_changed()
        return say("grown")
    return say(" ".join(CALLS))


def say(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


async def list_resources(ctx: Context, params: object) -> types.ListResourcesResult:
    listed = []
    for name in ("static-text", "static-binary", "watched-resource"):
        listed.append(types.Resource(uri=f"test://{name}", name=name))
    return types.ListResourcesResult(resources=listed)


async def list_templates(ctx: Context, params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    content: dict[str, Any] = {"uri": str(params.uri), "mimeType": "text/plain", "text": f"This is {params.uri}."}
    if "binary" in str(params.uri):
        content = {"uri": str(params.uri), "mimeType": "image/png", "blob": PNG}
    return types.ReadResourceResult.model_validate({"contents": [content]})


async def subscribe(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def list_prompts(ctx: Context, params: object) -> types.ListPromptsResult:
    listed = []
    for name, needed in PROMPTS.items():
        arguments = [types.PromptArgument(name=argument, required=True) for argument in needed]
        listed.append(types.Prompt(name=name, description=f"Says {name}.", arguments=arguments))
    return types.ListPromptsResult(prompts=listed)


async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    content: dict[str, Any] = {"type": "text", "text": f"{params.name} {json.dumps(params.arguments)}"}
    if params.name == "test_prompt_with_image":
        content = {"type": "image", "data": PNG, "mimeType": "image/png"}
    if params.name == "test_prompt_with_embedded_resource":
        content = EMBEDDED
    return types.GetPromptResult.model_validate({"messages": [{"role": "user", "content": content}]})


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=[f"{params.argument.value}-completed"]))


def make_server() -> Server[Any]:
    return Server(
        "reference",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=subscribe,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=subscribe,
    )


async def serve_stdio() -> None:
    server = make_server()
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        uvicorn.run(make_server().streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
    else:
        asyncio.run(serve_stdio())
