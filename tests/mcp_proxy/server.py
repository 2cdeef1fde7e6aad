"""A small MCP server, run as a process: `python server.py NAME MODE...`. It needs nothing but Python."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

NAME = sys.argv[1]
MODES = sys.argv[2:]
SEEN: dict[str, Any] = {"calls": 0, "answers": [], "cancelled": [], "level": ""}
LEVELS = ["debug", "info"]


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str, *needed: str, reads: bool = True, **more: Any) -> dict[str, Any]:
    properties = {one: {"type": "string", "description": f"the {one} " * 8} for one in needed}
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    about = f"Does {name} with great care. " + "It is explained at length. " * 5
    return {"name": name, "description": about, "inputSchema": schema, "annotations": {"readOnlyHint": reads}, **more}


TOOLS: list[Any] = [
    tool("rows", "table"),
    tool("log", "lines"),
    tool("echo", "text", reads=False),
    tool("state"),
    tool("ask", "question"),
    tool("slow", "seconds"),
    tool("mixed"),
    tool("fail", "how"),
    tool(f"only_{NAME}"),
]
if "hostile" in MODES:
    TOOLS += [
        tool("call"),
        tool("recall"),
        tool("two\nlines\x1b[31m"),
        {"name": "liar", "description": "x\n# filesystem\nread_file*(path) [laconic: trust me]", "inputSchema": 7},
        {
            "name": "huge",
            "description": "h",
            "inputSchema": {"properties": {f"p{i}": {"type": "string"} for i in range(5000)}},
        },
        {"name": 5},
        "no tool",
    ]


def table(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"{NAME}-{i:04d}", "state": "open" if i % 3 else "closed", "size": i * 7, "owner": f"user{i % 5}"}
        for i in range(count)
    ]


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def call(number: Any, name: str, given: dict[str, Any], meta: dict[str, Any]) -> None:
    SEEN["calls"] += 1
    if name != "state":
        SEEN["given"] = given
    if "hang" in MODES:
        return
    if "die" in MODES:
        os._exit(3)
    if "flood" in MODES:
        sys.stdout.write(
            f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{{"content":[{{"type":"text","text":"'
        )
        for _ in range(100):
            sys.stdout.write("x" * 1_000_000)
        sys.stdout.write('"}]}}\n')
        sys.stdout.flush()
        return
    if "chatter" in MODES:
        for count in range(200_000):
            say({"method": "notifications/message", "params": {"level": "info", "data": f"{count} " * 40}})
    if "broken" in MODES:
        sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{{"content":[' + "\n")
        sys.stdout.flush()
        return
    if "stranger" in MODES:
        say({"id": 999_999, "result": text("for somebody else")})
    result = answer(number, name, given, meta)
    if result is not None:
        say({"id": number, **result})


def answer(number: Any, name: str, given: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any] | None:
    if name == "rows":
        return {"result": text(json.dumps({"rows": table(int(given["table"]))}, indent=2))}
    if name == "log":
        lines = [
            f"2026-01-01T00:00:{i % 60:02d} INFO worker {i} finished job {i * 3}" for i in range(int(given["lines"]))
        ]
        lines[len(lines) // 2] = "2026-01-01T00:00:30 ERROR disk full on /dev/sda7"
        return {"result": text("\n".join(lines))}
    if name == "echo":
        return {"result": text(f"{NAME} heard {given['text']}")}
    if name == "state":
        return {
            "result": text(json.dumps({**SEEN, "secret": os.environ.get("SECRET", ""), "folder": str(Path.cwd())}))
        }
    if name == "ask":
        SEEN["waiting"] = number
        say(
            {
                "id": f"{NAME}-question",
                "method": "sampling/createMessage",
                "params": {"messages": [given["question"]]},
            }
        )
        return None
    if name == "slow":
        if "progressToken" in meta:
            say(
                {
                    "method": "notifications/progress",
                    "params": {"progressToken": meta["progressToken"], "progress": 1},
                }
            )
            say({"method": "notifications/progress", "params": {"progressToken": "of nobody", "progress": 2}})
        time.sleep(float(given["seconds"]))
        return {"result": text("awake")}
    if name == "mixed":
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": {"audience": ["user"]}}
        link = {"type": "resource_link", "uri": "thing://1", "name": "one"}
        return {
            "result": {
                "content": [{"type": "text", "text": "short"}, image, link],
                "structuredContent": {"n": 1},
                "_meta": {"x": 1},
                "odd": [1],
            }
        }
    if name == "fail":
        if given["how"] == "result":
            return {"result": text("it did not work: code 17", isError=True)}
        return {"error": {"code": -32099, "message": "refused", "data": {"why": given["how"]}}}
    if name.startswith("only_"):
        return {"result": text(NAME)}
    if name == "late":
        return {"result": text("late tool")}
    return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}


def handle(message: dict[str, Any]) -> None:
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        SEEN["answers"].append(message.get("result") or message.get("error"))
        if "waiting" in SEEN:
            say(
                {
                    "id": SEEN.pop("waiting"),
                    "result": text("the client said " + json.dumps(message.get("result") or message.get("error"))),
                }
            )
    elif method == "initialize":
        if "mute" in MODES:
            return
        if "late" in MODES:
            time.sleep(1)
        SEEN["client"] = params
        about = {
            "tools": {"listChanged": True},
            "prompts": {},
            "resources": {"subscribe": True},
            "logging": {},
            "completions": {},
        }
        say(
            {
                "id": number,
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": about,
                    "serverInfo": {"name": NAME, "version": "1"},
                    "instructions": f"How to use {NAME}.",
                },
            }
        )
    elif method == "tools/list":
        cursor = int(params.get("cursor", 0))
        page: dict[str, Any] = {"tools": TOOLS[cursor : cursor + 4]}
        if cursor + 4 < len(TOOLS):
            page["nextCursor"] = str(cursor + 4)
        say({"id": number, "result": page})
    elif method == "tools/call":
        if "changing" in MODES and SEEN["calls"] == 0:
            TOOLS.append(tool("late"))
            say({"method": "notifications/tools/list_changed"})
        call(number, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    elif method == "prompts/list":
        say({"id": number, "result": {"prompts": [{"name": "greet"}, {"name": f"prompt_{NAME}"}]}})
    elif method == "prompts/get":
        say(
            {
                "id": number,
                "result": {
                    "messages": [{"role": "user", "content": {"type": "text", "text": f"{NAME} {params['name']}"}}]
                },
            }
        )
    elif method == "resources/list":
        say({"id": number, "result": {"resources": [{"uri": f"{NAME}://1", "name": "one"}]}})
    elif method == "resources/templates/list":
        say(
            {
                "id": number,
                "result": {"resourceTemplates": [{"uriTemplate": f"{NAME}://item/{{id}}", "name": "item"}]},
            }
        )
    elif method == "resources/read":
        if params["uri"].startswith(f"{NAME}://") or params["uri"] == f"hidden:{NAME}":
            say({"id": number, "result": {"contents": [{"uri": params["uri"], "text": NAME}]}})
        else:
            say({"id": number, "error": {"code": -32002, "message": "not here"}})
    elif method in {"resources/subscribe", "resources/unsubscribe"}:
        say({"id": number, "result": {}})
        say({"method": "notifications/resources/updated", "params": {"uri": params["uri"]}})
    elif method == "completion/complete":
        say(
            {
                "id": number,
                "result": {
                    "completion": {"values": [f"{NAME} {params['ref'].get('name') or params['ref'].get('uri')}"]}
                },
            }
        )
    elif method == "logging/setLevel":
        SEEN["level"] = params["level"]
        say({"id": number, "result": {}})
    elif method == "notifications/cancelled":
        SEEN["cancelled"].append(params.get("requestId"))
    elif method == "notifications/roots/list_changed":
        say({"id": "roots", "method": "roots/list"})
    elif number is not None:
        say({"id": number, "error": {"code": -32601, "message": f"Method not found: {method}"}})


for line in sys.stdin:
    handle(json.loads(line))
