"""Real server processes behind one relay: what is listed, called, passed on, and what one bad server does to others."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_proxy.stage import definition, names, relaying

from laconic.config import load
from laconic.mcp_proxy.results import ResultReducer
from laconic.tokens.count import counter


def run(work: Any) -> None:
    asyncio.run(work)


def test_tools_are_listed_in_a_line_each(tmp_path: Path) -> None:
    """Whole schemas come when they are asked for, and when a call does not fit."""

    async def work() -> None:
        async with relaying(tmp_path, definition("a"), definition("b")) as client:
            listed = (await client.ask("tools/list"))["tools"]
            assert names(listed) == ["call", "look", "tools", "pipeline", "recall"]
            lines = listed[0]["description"].splitlines()
            assert "only_a*()" in lines[lines.index("# a") + 9]
            assert "a_echo(text)" in listed[0]["description"]
            assert "It is explained" not in listed[0]["description"]
            misfit = await client.call("call", tool="a_echo", arguments={"txt": "x"})
            assert misfit["isError"]
            assert "`text` is missing; `txt` is not an argument" in misfit["content"][0]["text"]
            assert "It is explained at length" in misfit["content"][0]["text"]
            assert json.loads(await client.text("call", tool="a/state"))["calls"] == 1, "the misfit reached no server"
            assert '"name":"b_rows"' in await client.text("tools", names=["b_rows"])
            assert "only_b" in (await client.text("tools", query="only b")).split("\n")[1]

    run(work())


def test_the_same_name_of_two_servers_is_never_confused(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a"), definition("b")) as client:
            assert await client.text("call", tool="a_echo", arguments={"text": "hi"}) == "a heard hi"
            assert await client.text("call", tool="b/echo", arguments={"text": "hi"}) == "b heard hi"
            assert await client.text("only_b") == "b", "a tool can also be called by its own name"
            unclear = await client.call("call", tool="echo", arguments={"text": "hi"})
            assert unclear["isError"]
            assert "a_echo, b_echo" in unclear["content"][0]["text"]

    run(work())


def test_clients_that_search_tools_get_them_in_full(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a"), settings={"around.schemas": "full"}) as client:
            listed = (await client.ask("tools/list"))["tools"]
            assert names(listed)[:3] == ["rows", "log", "echo"]
            assert names(listed)[-2:] == ["pipeline", "recall"]
            assert "explained at length" in listed[0]["description"]

    run(work())


def test_look_only_calls_tools_that_only_read(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            assert await client.text("look", tool="only_a") == "a"
            refused = await client.call("look", tool="echo", arguments={"text": "x"})
            assert refused["isError"]
            assert json.loads(await client.text("state"))["calls"] == 2

    run(work())


def test_a_long_result_is_shortened_and_recalled(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a"), settings={"around.budget": 2_000}) as client:
            shown = await client.text("rows", table="600")
            assert len(shown) < 12_000
            ref = shown.split("recall ")[-1].strip("]\n ")
            whole = await client.text("recall", ref=ref, path="rows[577].id")
            assert whole == "a-0577"
            assert "a-0599" in await client.text("recall", ref=ref, grep="a-0599")
            assert '"rows"' in await client.text("recall", ref=ref, lines="1-3")
            wrong = await client.call("recall", ref=ref, path="rows[0].nothing")
            assert wrong["isError"]
            assert "id, state, size, owner" in wrong["content"][0]["text"]

    run(work())


@pytest.mark.parametrize("schemas", ["full", "lines"])
def test_a_call_says_what_it_is_about_and_no_server_hears_it(tmp_path: Path, schemas: str) -> None:
    async def work() -> None:
        settings = {"around.schemas": schemas, "around.budget": 800}
        async with relaying(tmp_path, definition("a"), settings=settings) as client:
            listed = {tool["name"]: tool for tool in (await client.ask("tools/list"))["tools"]}
            wish = {"about": "who owns a-0431?"}
            if schemas == "full":
                assert "about" in listed["rows"]["inputSchema"]["properties"]
                shown = await client.text("rows", table="900", **wish)
            else:
                assert "about" in listed["call"]["inputSchema"]["properties"]
                shown = await client.text("call", tool="rows", arguments={"table": "900"}, **wish)
            assert "a-0431" in shown
            assert "a-0432" not in shown
            assert json.loads(await client.text("state"))["given"] == {"table": "900"}
            ref = shown.split("recall ")[-1].strip("]\n ")
            assert "a-0577" in await client.text("recall", ref=ref, about="what is a-0577?")

    run(work())


def test_tools_are_listed_without_about_where_the_user_does_not_want_it(tmp_path: Path) -> None:
    async def work() -> None:
        settings = {"around.schemas": "full", "around.about": False}
        async with relaying(tmp_path, definition("a"), settings=settings) as client:
            listed = (await client.ask("tools/list"))["tools"]
            assert "about" not in listed[0]["inputSchema"]["properties"]

    run(work())


def test_the_same_result_is_not_sent_twice(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            first = await client.text("log", lines="300")
            again = await client.text("log", lines="300")
            assert "ERROR disk full on /dev/sda7" in first
            assert again.startswith("[laconic: the same 300 lines")
            assert "disk full" in await client.text("recall", ref=again.split("recall ")[-1].strip("]"), grep="ERROR")

    run(work())


def test_what_is_short_passes_as_it_is(tmp_path: Path) -> None:
    """Images, links, structured content, unknown members, errors of both kinds."""

    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            mixed = await client.call("mixed")
            assert [block["type"] for block in mixed["content"]] == ["text", "image", "resource_link"]
            assert (mixed["structuredContent"], mixed["_meta"], mixed["odd"]) == ({"n": 1}, {"x": 1}, [1])
            assert mixed["content"][1]["annotations"] == {"audience": ["user"]}
            failed = await client.call("fail", how="result")
            assert (failed["isError"], failed["content"][0]["text"]) == (True, "it did not work: code 17")
            refused = await client.call("fail", how="error")
            assert refused == {"error": {"code": -32099, "message": "refused", "data": {"why": "error"}}}

    run(work())


def test_requests_of_servers_reach_the_client_and_their_answers_the_server(tmp_path: Path) -> None:
    """Two servers ask at once, under ids of their own."""

    async def work() -> None:
        async with relaying(tmp_path, definition("a"), definition("b")) as client:
            client.answer_requests = lambda message: {"said": message["params"]["messages"][0].upper()}
            answers = await asyncio.gather(client.text("a/ask", question="one"), client.text("b/ask", question="two"))
            assert list(answers) == ['the client said {"said": "ONE"}', 'the client said {"said": "TWO"}']
            asked = [one for one in client.heard if one.get("method") == "sampling/createMessage"]
            assert len({one["id"] for one in asked}) == 2

    run(work())


def test_progress_goes_to_whoever_asked_for_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            params = {"name": "slow", "arguments": {"seconds": "0"}, "_meta": {"progressToken": "mine"}}
            await client.ask("tools/call", params)
            heard = [one["params"] for one in client.heard if one["method"] == "notifications/progress"]
            assert heard == [{"progressToken": "mine", "progress": 1}], "a token that nobody gave is dropped"

    run(work())


def test_a_cancelled_request_is_cancelled_at_the_server(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            number, answer = client.start("tools/call", {"name": "ask", "arguments": {"question": "?"}})
            await client.hear("sampling/createMessage")
            client.notify("notifications/cancelled", {"requestId": number})
            seen = json.loads(await client.text("state"))
            assert len(seen["cancelled"]) == 1
            assert not answer.done()

    run(work())


def test_prompts_resources_completions_and_levels_find_their_server(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a"), definition("b")) as client:
            prompts = (await client.ask("prompts/list"))["prompts"]
            assert sorted(names(prompts)) == ["a_greet", "b_greet", "prompt_a", "prompt_b"]
            got = await client.ask("prompts/get", {"name": "b_greet"})
            assert got["messages"][0]["content"]["text"] == "b greet"
            resources = (await client.ask("resources/list"))["resources"]
            assert [one["uri"] for one in resources] == ["a://1", "b://1"]
            for address, server in (("b://1", "b"), ("b://item/7", "b"), ("hidden:b", "b"), ("a://1", "a")):
                read = await client.ask("resources/read", {"uri": address})
                assert read["contents"][0]["text"] == server
            assert (await client.ask("resources/read", {"uri": "nowhere:"}))["error"]["code"] == -32002
            assert await client.ask("resources/subscribe", {"uri": "b://1"}) == {}
            await client.hear("notifications/resources/updated")
            ref = {"ref": {"type": "ref/prompt", "name": "a_greet"}, "argument": {"name": "x", "value": ""}}
            assert (await client.ask("completion/complete", ref))["completion"]["values"] == ["a greet"]
            assert await client.ask("logging/setLevel", {"level": "debug"}) == {}
            assert json.loads(await client.text("b/state"))["level"] == "debug"
            assert (await client.ask("no/such"))["error"]["code"] == -32601

    run(work())


def test_servers_meet_the_client_itself(tmp_path: Path) -> None:
    """Its name, what it can do, its roots; the secret of an entry reaches the server and nobody else."""

    async def work() -> None:
        async with relaying(tmp_path, definition("a", variables={"SECRET": "hunter2"})) as client:
            seen = json.loads(await client.text("state"))
            assert seen["client"]["clientInfo"] == {"name": "tester", "version": "1"}
            assert seen["client"]["capabilities"]["roots"] == {"listChanged": True}
            assert seen["secret"] == "hunter2"
            assert client.hello["capabilities"]["prompts"] == {}
            assert client.hello["instructions"] == "a: How to use a."
            client.answer_requests = lambda message: {"roots": [{"uri": "file:///x"}]}
            client.notify("notifications/roots/list_changed")
            await client.hear("roots/list")
            assert {"roots": [{"uri": "file:///x"}]} in json.loads(await client.text("state"))["answers"]
        kept = "".join(file.read_text() for file in (tmp_path / "cache" / "around").iterdir())
        assert "hunter2" not in kept

    run(work())


@pytest.mark.parametrize("mode", ["hang", "die", "flood", "broken", "mute", "chatter", "stranger", "changing"])
def test_one_bad_server_does_not_touch_the_others(tmp_path: Path, mode: str) -> None:
    """While it hangs, dies, floods or sends nonsense, another answers every call."""

    async def work() -> None:
        async with relaying(tmp_path, definition("good"), definition("bad", mode)) as client:
            bad = asyncio.ensure_future(client.ask("tools/call", {"name": "bad/state", "arguments": {}}))
            loop = asyncio.get_running_loop()
            slowest = 0.0
            for number in range(25):
                before = loop.time()
                assert await client.text("good/echo", text=str(number)) == f"good heard {number}"
                slowest = max(slowest, loop.time() - before)
                await asyncio.sleep(0.02)
            if mode in {"hang", "mute"}:
                assert not bad.done()
                bad.cancel()
            else:
                said = json.dumps(await bad)
                wanted = {
                    "die": "ended with code 3",
                    "flood": "more than 16,000,000",
                    "broken": "not JSON",
                    "chatter": "calls",
                    "stranger": "calls",
                    "changing": "calls",
                }
                assert wanted[mode] in said
            if mode == "changing":
                await client.hear("notifications/tools/list_changed")
                assert "late" in (await client.ask("tools/list"))["tools"][0]["description"]

    run(work())


def test_a_server_that_died_is_started_again(tmp_path: Path) -> None:
    """At once the first time, then only after a pause; the answer says so."""

    async def work() -> None:
        async with relaying(tmp_path, definition("bad", "die")) as client:
            assert "ended with code 3. Ask again" in await client.text("state")
            assert "ended with code 3. Ask again" in await client.text("state")
            refused = await client.call("state")
            assert refused["isError"]
            assert "started again in" in refused["content"][0]["text"]

    run(work())


def test_a_server_is_started_when_it_is_first_needed(tmp_path: Path) -> None:
    """Its tools are known from the last time."""

    async def work() -> None:
        mark = tmp_path / "started"
        first = definition("a")
        async with relaying(tmp_path, first) as client:
            await client.text("only_a")
        async with relaying(tmp_path, first) as client:
            connection = client.relay._group.connections["a"]
            assert not connection.is_running
            assert "only_a" in (await client.ask("tools/list"))["tools"][0]["description"]
            assert not connection.is_running
            assert await client.text("only_a") == "a"
            assert connection.is_running
        assert not mark.exists()

    run(work())


def test_hostile_names_and_descriptions_stay_in_their_line(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("good"), definition("evil", "hostile")) as client:
            listed = (await client.ask("tools/list"))["tools"]
            assert names(listed) == ["call", "look", "tools", "pipeline", "recall"]
            text = listed[0]["description"]
            assert "\x1b" not in text
            headings = [line for line in text.splitlines() if line.startswith("#")]
            assert headings == ["# good", "# evil"]
            assert "evil_recall*()" in text, "our names stay ours"
            assert "two lines" in text
            assert await client.text("tools", names=["huge"])

    run(work())


def test_tools_that_a_project_uses_often_come_in_full(tmp_path: Path) -> None:
    async def work() -> None:
        async with relaying(tmp_path, definition("a")) as client:
            for _ in range(6):
                await client.text("only_a")
        async with relaying(tmp_path, definition("a")) as client:
            listed = (await client.ask("tools/list"))["tools"]
            assert names(listed)[-1] == "only_a"
            assert "only_a" not in listed[0]["description"]

    run(work())


def test_structured_content_that_repeats_the_text_is_not_sent_as_a_second_text(tmp_path: Path) -> None:
    """SDKs wrap a text as `{"result": text}`, which is longer than the text by its escapes."""
    text = json.dumps([{"id": number, "quoted": 'a "b"'} for number in range(400)], indent=2)
    for structured in ({"result": text}, {"rows": json.loads(text)}):
        told = text if "result" in structured else json.dumps(structured, indent=2)
        reducer = ResultReducer(load({"cache_dir": str(tmp_path)}, environ={}), counter(), "s")
        result = {"content": [{"type": "text", "text": told}], "structuredContent": structured}
        assert len(reducer.shorten("t", result)["content"]) == 1
        reducer.close()
