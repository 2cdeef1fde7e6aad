"""The MCP server through the SDK's own client."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server
from tests.samples import shop

from laconic.config import Settings, load
from laconic.index.catalog import claim
from laconic.index.store import Store
from laconic.mcp_server.server import CodePlane
from laconic.mcp_server.server_instructions import INSTRUCTIONS
from laconic.mcp_server.tools_and_resources import list_tools
from laconic.render.compact_json import dump
from laconic.tokens.count import counter


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return shop(tmp_path)


def test_a_client_over_stdio_lists_tools_and_gets_text(root: Path, tmp_path: Path) -> None:
    """Text content only, nothing but protocol on standard output, errors as answers."""

    async def talk() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "laconic", "mcp", "--root", str(root)],
            env={"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_CONFIG": str(tmp_path / "none")},
        )
        async with Client(server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"read", "map", "workspace"} <= set(names)
            assert "edit" not in names
            answer = await client.call_tool("read", {"file_path": "shop/money.py", "start_line": 13, "end_line": 16})
            assert answer.structured_content is None
            assert not answer.is_error
            (content,) = answer.content
            assert content.type == "text"
            assert "13\tdef total(prices: list[Price]) -> Price:" in content.text
            wrong = await client.call_tool("read", {"nonsense": 1})
            assert wrong.is_error
            assert "read(targets" in wrong.content[0].text  # type: ignore[union-attr]

    anyio.run(talk)


@pytest.mark.parametrize("over_stdio", [True, False], ids=["stdio", "sdk"])
@pytest.mark.parametrize("allowed", ["", "ruff"])
def test_hints_say_what_a_call_may_do(root: Path, tmp_path: Path, allowed: str, over_stdio: bool) -> None:
    """On the wire: readers read, `workspace` removes, `edit` writes, `report` runs programs once the user allowed one."""
    given = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_REPORT_ALLOW": allowed}
    words = ["-m", "laconic", "mcp", "--edit", "--root", str(root), "--config", str(tmp_path / "config.toml")]
    (tmp_path / "config.toml").write_text("")
    server: StdioServerParameters | Server[None] = StdioServerParameters(
        command=sys.executable, args=words, env=given
    )
    if not over_stdio:
        settings = load(environ=given, file=tmp_path / "config.toml")
        server = CodePlane(root, settings, editing=True).server()

    async def ask() -> dict[str, tuple[bool | None, ...]]:
        async with Client(server) as client:
            told = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        return {
            name: (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
            for name, hints in told.items()
            if hints is not None
        }

    reads = (True, None, None, False)
    assert anyio.run(ask) == {
        **dict.fromkeys(("search", "inspect", "read", "map", "context", "trace", "diff", "recall"), reads),
        "edit": (False, True, False, False),
        "workspace": (False, True, True, False),
        "report": (False, True, False, True) if allowed else reads,
    }


@pytest.mark.feature("C10")
def test_the_fixed_cost_stays_below_its_ceiling(root: Path, settings: Settings) -> None:
    """What every prompt pays: the tool list and the instructions."""
    listed = list_tools(editing=False)
    assert counter("o200k_base")(dump({"tools": list(listed)}) + INSTRUCTIONS) <= 900
    assert len(INSTRUCTIONS.encode()) < 1_000


def test_help_of_every_tool_is_a_resource(root: Path, settings: Settings) -> None:
    async def talk() -> None:
        async with Client(CodePlane(root, settings).server()) as client:
            uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
            assert "laconic://help/read" in uris
            page = await client.read_resource("laconic://help/read")
            assert "Default budget" in page.contents[0].text  # type: ignore[union-attr]

    anyio.run(talk)


@pytest.mark.feature("C7")
def test_the_budget_of_the_host_is_honoured(root: Path, settings: Settings) -> None:
    async def talk() -> None:
        async with Client(CodePlane(root, settings).server()) as client:
            answer = await client.call_tool("map", {}, meta={"tokenBudget": 60})  # type: ignore[arg-type]
            text = answer.content[0].text  # type: ignore[union-attr]
            assert counter()(text) <= 60
            assert " of " in text.splitlines()[-1]

    anyio.run(talk)


@pytest.mark.feature("J8")
def test_a_line_for_each_answer_goes_to_the_log_where_it_is_wanted(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(wanted: str) -> None:
        flags = {"cache_dir": str(tmp_path / "cache"), "mcp.log": wanted}
        own = load(flags=flags, environ={}, file=tmp_path / "none")
        async with Client(CodePlane(root, own).server()) as client:
            await client.call_tool("map", {})

    anyio.run(talk, "true")
    (line,) = [record.getMessage() for record in caplog.records if record.name == "laconic.answers"]
    assert re.fullmatch(r"map: \d+ tokens, \d+\.\d kB, \d+ ms", line)


def test_a_call_that_has_to_wait_reports_progress(root: Path, settings: Settings) -> None:
    """While another process holds the index, the client hears that its call is alive."""
    heard: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def talk() -> None:
        async with Client(CodePlane(root, settings).server()) as client:
            await client.call_tool("search", {"query": "total"}, progress_callback=note)

    file = claim(settings.cache_dir(), root)
    with closing(Store.open(file, root)) as store, store.lock(1.0) as got:
        assert got
        anyio.run(talk)
    assert heard
    assert heard == sorted(heard)


@pytest.mark.parametrize("editing", [False, True])
def test_a_server_changes_files_only_where_editing_is_on(root: Path, settings: Settings, editing: bool) -> None:
    """A client may call what was not listed."""

    async def talk() -> None:
        async with Client(CodePlane(root, settings, editing=editing).server()) as client:
            await client.call_tool("read", {"targets": ["shop/cart.py"]})
            change = {"path": "shop/cart.py", "find": "The cart", "text": "The basket"}
            answer = await client.call_tool("edit", {"edits": [change]})
            assert answer.is_error is not editing

    anyio.run(talk)
    assert ("The basket" in (root / "shop/cart.py").read_text()) is editing
    assert (settings.cache_dir() / "edits").exists() is editing
