"""An MCP server that says what a JSON file tells it to, run as a process: `python scripted_server.py FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text("utf-8"))


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def greet() -> dict[str, Any]:
    about: dict[str, Any] = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "x", "version": "1"}}
    about["capabilities"] = SCRIPT.get("capabilities", {"tools": {}})
    return about


for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "initialize":
        say({"id": number, "result": greet()})
    elif method == "tools/list":
        say({"id": number, "result": {"tools": SCRIPT.get("tools", [])}})
    elif method == "tools/call":
        for count in range(SCRIPT.get("questions", 0)):
            say({"id": f"q{count}", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        if "error" in SCRIPT:
            say({"id": number, "error": SCRIPT["error"]})
        else:
            content = SCRIPT.get("content", [{"type": "text", "text": f"{SCRIPT['name']} did it"}])
            say({"id": number, "result": {"content": content * SCRIPT.get("times", 1)}})
