"""The SDK's own client and a server of the SDK: what they say to each other is the same directly and through us."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from tests.mcp_proxy.reference_server import FORMS, TOOLS
from tests.mcp_proxy.reference_stage import ENTRY, SERVER, around, around_words, direct, variables

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::mcp.MCPDeprecationWarning")

OWN = {"recall", "pipeline"}
CHANGED = "ToolListChangedNotification"
ANSWER = types.CreateMessageResult(
    role="assistant", content=types.TextContent(type="text", text="forty-two"), model="m", stop_reason="endTurn"
)


async def _answer_question(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"asked": params.message, "fields": ["a", "b"]})


async def _sample(context: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return ANSWER


async def _list_roots(context: object) -> types.ListRootsResult:
    return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///somewhere/here", "name": "here"}]})


async def _talk(server: StdioServerParameters | str) -> dict[str, Any]:
    """Everything that passes in one session."""
    logged: list[object] = []
    heard: list[str] = []

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def hear(message: object) -> None:
        heard.append(type(message).__name__)

    client = Client(
        server,
        mode="legacy",
        sampling_callback=_sample,
        elicitation_callback=_answer_question,
        list_roots_callback=_list_roots,
        logging_callback=log,
        message_handler=hear,
    )
    found: dict[str, Any] = {}
    async with client:
        found["tools"] = await _list_all(client)
        for name in (*FORMS, "test_error_handling", "test_image_content", "test_multiple_content_types", "roots"):
            found[name] = _dump(await client.call_tool(name))
        found["sampling"] = _dump(await client.call_tool("test_sampling", {"prompt": "how many?"}))
        steps: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total))

        await client.call_tool("test_tool_with_progress", progress_callback=note)
        await client.set_logging_level("debug")
        await client.call_tool("test_tool_with_logging")
        with anyio.move_on_after(2):
            await client.call_tool("wait")
        found["prompts"] = _dump(await client.list_prompts())
        found["prompt"] = _dump(await client.get_prompt("test_prompt_with_arguments", {"arg1": "x", "arg2": "y"}))
        found["resource"] = _dump(await client.read_resource("test://template/7/data"))
        reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        found["completion"] = _dump(await client.complete(reference, {"name": "arg1", "value": "v"}))
        found["calls"] = _dump(await client.call_tool("calls"))
        before = heard.count(CHANGED)  # a list that was not complete when the client came changes too
        await client.call_tool("grow")
        await _wait_until(lambda: heard.count(CHANGED) > before and len(logged) == 3 and len(steps) == 3)
        found["later"] = sorted(set(await _list_all(client)) - set(found["tools"]))
    found["steps"], found["logged"] = steps, logged
    return found


async def _list_all(client: Client) -> list[str]:
    """The names of all pages."""
    names: list[str] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        names += [tool.name for tool in page.tools if tool.name not in OWN]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def _wait_until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not holds():
            await anyio.sleep(0.05)


def _dump(result: Any) -> Any:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.fixture(scope="module")
def directly() -> dict[str, Any]:
    found = asyncio.run(_talk(StdioServerParameters(command=sys.executable, args=["-W", "ignore", str(SERVER)])))
    assert set(found["tools"]) == set(TOOLS)
    assert "wait was cancelled" in found["calls"]["content"][0]["text"]
    assert found["later"] == ["late"]
    return found


def test_over_standard_input_nothing_is_lost_or_changed(directly: dict[str, Any], tmp_path: Path) -> None:
    words = around_words(tmp_path, ENTRY)
    assert asyncio.run(_talk(StdioServerParameters(command=sys.executable, args=words, env=variables(tmp_path)))) == (
        directly
    )


def test_over_http_nothing_is_lost_or_changed(directly: dict[str, Any], tmp_path: Path) -> None:
    """On both sides of us."""
    with direct() as url, around(tmp_path, {"type": "http", "url": url}) as ours:
        assert asyncio.run(_talk(ours)) == directly
