"""Clients of the previous major version of the SDK, in an environment of their own, over stdio and HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.samples import shop

from laconic.config import load
from laconic.workspace.lock import hold_lock
from laconic.workspace.process import run
from laconic_benchmarks.clients import serving

pytestmark = pytest.mark.flow

VERSION = "1.30.0"
CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

async def ask(received, sent):
    async with ClientSession(received, sent) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answer = await session.call_tool("read", {"targets": ["shop/money.py:13-16"]})
        page = await session.read_resource("laconic://help/read")
        print(json.dumps([tools, answer.content[0].text, answer.structuredContent, page.contents[0].text]))

async def main(words):
    if words[0].startswith("http:"):
        async with streamablehttp_client(words[0]) as (received, sent, _):
            await ask(received, sent)
    else:
        async with stdio_client(StdioServerParameters(command=words[0], args=words[1:])) as (received, sent):
            await ask(received, sent)

asyncio.run(main(sys.argv[1:]))
"""


def _python() -> Path:
    """A Python with the previous SDK, made once outside the repository."""
    folder = load().cache_dir() / "clients" / f"python-mcp-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    with hold_lock(folder / "lock", seconds=600):
        if not (folder / "installed").exists():
            made = run([sys.executable, "-m", "venv", str(folder / "venv")], folder, seconds=120)
            got = run([str(python), "-m", "pip", "install", "--quiet", f"mcp=={VERSION}"], folder, seconds=600)
            assert (made.code, got.code) == (0, 0), got.complaints.decode()[-2000:]
            (folder / "installed").write_text("")
    return python


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_the_previous_sdk_gets_the_same_text(transport: str, tmp_path: Path) -> None:
    root = shop(tmp_path)
    with serving(root, tmp_path / "cache") as url:
        server = [str(Path(sys.executable).with_name("laconic")), "mcp", "--root", str(root)]
        words = [str(_python()), "-W", "ignore", "-c", CLIENT, *([url] if transport == "http" else server)]
        finished = run(words, tmp_path, seconds=60, environment={"LACONIC_CACHE_DIR": str(tmp_path / "cache")})
    assert finished.code == 0, finished.complaints.decode()[-2000:]
    tools, text, structured, page = json.loads(finished.output)
    assert {"search", "inspect", "read"} <= set(tools)
    assert "13\tdef total(prices: list[Price]) -> Price:" in text
    assert structured is None
    assert "Default budget" in page
