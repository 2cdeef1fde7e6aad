"""`laconic wrap` leads a client to its own hosts and to no others, keeps out of its terminal, and ends with it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from laconic.cli.commands.wrap import add_arguments, split_words
from laconic.cli.main import main, parser_for
from laconic.clients.wrapped_client import bypass_proxy
from laconic.errors import UnknownName, UsageError
from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream

FAKE = """\
    #!{python}
    import json, os, sys, time, urllib.error, urllib.request
    if "wait" in sys.argv:
        print("waiting", os.getpid(), flush=True)
        time.sleep(60)
    print(json.dumps(sys.argv[1:]))
    bases = {{"anthropic": os.environ.get("ANTHROPIC_BASE_URL"), "openai": os.environ.get("OPENAI_BASE_URL")}}
    bases["gateway"] = "/".join((bases["anthropic"] or "").split("/")[:3])
    for word in sys.argv[1:]:
        if word.count(" ") != 1:
            continue
        method, place = word.split(" ")
        name, _, path = place.partition("/")
        body = json.dumps({{"model": "claude-sonnet-4-5", "messages": [{{"role": "user", "content": "hi"}}]}}).encode()
        request = urllib.request.Request(
            bases[name] + "/" + path, body if method == "POST" else None, {{"x-api-key": "company-key"}}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                print(answer.status)
        except urllib.error.HTTPError as error:
            print(error.code)
    sys.exit(7)
"""
USAGE = {"input_tokens": 10, "output_tokens": 5}
MESSAGE = json.dumps({"type": "message", "role": "assistant", "content": [], "usage": USAGE}).encode()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which `claude` and `agent` are a small program of ours."""
    for name in ("claude", "agent"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(textwrap.dedent(FAKE).format(python=sys.executable), "utf-8")
        program.chmod(0o755)
    folders = {"LACONIC_CACHE_DIR": str(tmp_path / "cache"), "LACONIC_STATE_DIR": str(tmp_path / "state")}
    return {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), **folders}


def _wrap(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "laconic", "wrap", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Ran:
    """What a wrapped run printed, and what the company's proxy and the default hosts were asked."""

    def __init__(self, environment: dict[str, str], *words: str, settings: str = "", down: bool = False) -> None:
        self._words, self._settings, self._down = words, settings, down
        self.company: list[ReceivedRequest] = []
        self.canary: list[ReceivedRequest] = []
        asyncio.run(self._run(environment))

    async def _run(self, environment: dict[str, str]) -> None:
        async with (
            ScriptedUpstream(lambda _: ScriptedAnswer((MESSAGE,))) as company,
            ScriptedUpstream(_refuse) as canary,
        ):
            proxy = "http://127.0.0.1:9" if self._down else company.url
            if self._settings:
                file = Path(environment["HOME"]) / ".claude" / "settings.json"
                file.parent.mkdir()
                file.write_text(self._settings.replace("COMPANY", proxy), "utf-8")
            hosts = {f"LACONIC_GATEWAY_{name}_URL": canary.url for name in ("ANTHROPIC", "OPENAI", "GEMINI")}
            variables = {"ANTHROPIC_BASE_URL": f"{proxy}/api", "OPENAI_BASE_URL": f"{proxy}/v1"}
            running = await asyncio.to_thread(_wrap, {**environment, **hosts, **variables}, *self._words)
            self.out, self.err = await asyncio.to_thread(running.communicate, timeout=60)
            self.code, self.company, self.canary = running.returncode, company.asked, canary.asked


def _refuse(asked: ReceivedRequest) -> ScriptedAnswer:
    return ScriptedAnswer((b"canary",), 500)


@pytest.mark.parametrize(
    ("words", "name", "flags", "rest"),
    [
        (["claude"], "claude", [], []),
        (["claude", "-p", "hi"], "claude", [], ["-p", "hi"]),
        (["claude", "--", "-p", "hi"], "claude", [], ["-p", "hi"]),
        (["claude", "--off", "--", "-p", "hi"], "claude", ["--off"], ["-p", "hi"]),
        (["claude", "--off", "-p", "hi"], "claude", ["--off"], ["-p", "hi"]),
        (["claude", "--off", "--no-code-plane", "x"], "claude", ["--off", "--no-code-plane"], ["x"]),
        (["claude", "--", "-p", "--off"], "claude", [], ["-p", "--off"]),
        (["claude", "-p", "--", "--off"], "claude", [], ["-p", "--", "--off"]),
        (["claude", "--", "--off"], "claude", [], ["--off"]),
        (["claude", "--", "--", "--off"], "claude", [], ["--", "--off"]),
        (["claude", "-p", "--", "x"], "claude", [], ["-p", "--", "x"]),
        (["claude", "--help"], "claude", [], ["--help"]),
        (["codex", "--config", "model=x"], "codex", [], ["--config", "model=x"]),
        (["--", "agent", "--off"], "", [], ["agent", "--off"]),
    ],
)
@pytest.mark.parametrize("before", [[], ["--off"], ["--no-code-plane", "--off"]])
def test_our_options_stand_around_the_name_and_the_rest_is_the_clients(
    before: list[str], words: list[str], name: str, flags: list[str], rest: list[str]
) -> None:
    command = type("", (), {"__doc__": "x", "add_arguments": staticmethod(add_arguments), "run": None})
    read = parser_for("wrap", command).parse_args([*before, *words])  # type: ignore[arg-type]
    assert split_words(read.words) == (name, flags, rest)
    assert (read.off, read.no_code_plane) == ("--off" in before, "--no-code-plane" in before)


def test_our_options_behind_those_of_the_client_are_refused_with_the_way_to_write_them() -> None:
    with pytest.raises(UsageError, match="laconic wrap codex --off"):
        split_words(["codex", "exec", "fix the parser", "--off"])


@pytest.mark.parametrize("words", [[], ["--"], ["--off"]])
def test_a_client_must_be_named(words: list[str]) -> None:
    with pytest.raises(UsageError, match="No client was given"):
        main(["wrap", *words])


def test_a_client_that_is_not_known_is_named_with_the_way_to_run_it() -> None:
    with pytest.raises(UnknownName, match="laconic wrap -- emacs"):
        main(["wrap", "emacs"])


def test_a_wrapped_client_reaches_its_own_proxy_and_its_exit_code_is_ours(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ran = Ran(environment, "--no-code-plane", "claude", "-p", "POST anthropic/v1/messages", "HEAD anthropic/")
    assert ran.code == 7
    assert ran.out.splitlines()[1:] == ["200", "200"]
    assert [(asked.method, asked.path, asked.header("x-api-key")) for asked in ran.company] == [
        ("POST", "/api/v1/messages", "company-key"),
        ("HEAD", "/api/", "company-key"),
    ]
    assert ran.canary == []
    assert ran.err.startswith("laconic: ")
    assert "prompt tokens" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert list((tmp_path / "state" / "wrap").iterdir()) == []


def test_an_address_in_settings_is_honoured_and_overridden(environment: dict[str, str]) -> None:
    settings = '{"env": {"ANTHROPIC_BASE_URL": "COMPANY/settings"}}'
    ran = Ran(environment, "claude", "--no-code-plane", "-p", "POST anthropic/v1/messages", settings=settings)
    flag, file = json.loads(ran.out.splitlines()[0])[:2]
    assert (flag, Path(file).exists()) == ("--settings", False)
    assert [asked.path for asked in ran.company] == ["/settings/v1/messages"]
    assert ran.canary == []


@pytest.mark.parametrize(
    "asking",
    ["POST gateway/v1/messages", "POST gateway/v1/chat/completions", "GET gateway/v1/models", "HEAD gateway/"],
)
def test_a_askingthat_names_no_upstream_goes_nowhere_and_is_logged(environment: dict[str, str], asking: str) -> None:
    ran = Ran(environment, "--no-code-plane", "claude", "-p", asking)
    assert ran.out.splitlines()[1:] == ["404"]
    assert (ran.company, ran.canary) == ([], [])
    assert "no request went through the gateway" in ran.err
    log = Path(ran.err.rsplit("problems are in ", 1)[1].strip())
    assert json.loads(log.read_text("utf-8"))["event"] == "a request for no configured provider was refused"
    assert log.stat().st_mode & 0o077 == 0


def test_faults_are_written_to_a_file_and_not_to_the_terminal(environment: dict[str, str]) -> None:
    ran = Ran(environment, "--no-code-plane", "claude", "-p", "POST anthropic/v1/messages", down=True)
    assert ran.out.splitlines()[1:] == ["502"]
    (line,) = ran.err.splitlines()
    assert "upstream fault" in Path(line.rsplit("problems are in ", 1)[1]).read_text("utf-8")


def test_a_run_without_a_askingsays_so_and_why_it_may_be(environment: dict[str, str]) -> None:
    ran = Ran(environment, "--no-code-plane", "claude", "-p")
    assert ran.err == (
        "laconic: no request went through the gateway: it asked no model, or managed settings that its organisation "
        "sends it name another address (`/status` in Claude Code shows which is used)\n"
    )


def test_any_program_is_led_to_what_its_environment_named(environment: dict[str, str]) -> None:
    ran = Ran(environment, "--", "agent", "POST openai/chat/completions", "POST anthropic/v1/messages")
    assert [asked.path for asked in ran.company] == ["/v1/chat/completions", "/api/v1/messages"]
    assert (ran.code, ran.canary) == (7, [])


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_the_proxy_of_the_network_sees_our_requests_and_none_to_this_machine(
    environment: dict[str, str], name: str
) -> None:
    async def play() -> list[str]:
        async with ScriptedUpstream(lambda _: ScriptedAnswer((MESSAGE,))) as network:
            variables = {name: network.url, "ANTHROPIC_BASE_URL": "http://company.example/api"}
            words = ("--no-code-plane", "claude", "POST anthropic/v1/messages")
            running = await asyncio.to_thread(_wrap, {**environment, **variables}, *words)
            await asyncio.to_thread(running.communicate, timeout=60)
            return [asked.path for asked in network.asked]

    assert asyncio.run(play()) == ["http://company.example/api/v1/messages"]


def test_the_proxy_that_only_the_client_s_settings_name_is_used(environment: dict[str, str], tmp_path: Path) -> None:
    async def play() -> list[str]:
        async with ScriptedUpstream(lambda _: ScriptedAnswer((MESSAGE,))) as network:
            settings = tmp_path / ".claude" / "settings.json"
            settings.parent.mkdir()
            settings.write_text(json.dumps({"env": {"HTTP_PROXY": network.url}}), "utf-8")
            variables = {"ANTHROPIC_BASE_URL": "http://company.example/api"}
            words = ("--no-code-plane", "claude", "POST anthropic/v1/messages")
            running = await asyncio.to_thread(_wrap, {**environment, **variables}, *words)
            await asyncio.to_thread(running.communicate, timeout=60)
            return [asked.path for asked in network.asked]

    assert asyncio.run(play()) == ["http://company.example/api/v1/messages"]


def test_a_proxy_that_cannot_be_used_is_refused_before_the_client_starts(environment: dict[str, str]) -> None:
    variables = {"HTTPS_PROXY": "socks5://user:secret@proxy:1", "ANTHROPIC_BASE_URL": "https://company.example"}
    with _wrap({**environment, **variables}, "claude", "POST anthropic/v1/messages") as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (2, "")
    assert "socks5" in err
    assert "secret" not in err


def test_every_host_without_a_proxy_stays_every_host() -> None:
    """`*` beside another name would mean nothing to most programs."""
    assert bypass_proxy({"NO_PROXY": "*"}) == {"NO_PROXY": "*", "no_proxy": "*"}
    assert bypass_proxy({"no_proxy": "a.example"})["NO_PROXY"] == "a.example,127.0.0.1"


def test_what_cannot_be_honoured_is_refused_before_the_client_starts(environment: dict[str, str]) -> None:
    ran = Ran({**environment, "CLAUDE_CODE_USE_BEDROCK": "1"}, "claude", "-p", "x")
    assert (ran.code, ran.out) == (2, "")
    assert "Amazon Bedrock" in ran.err
    assert "--no-gateway" in ran.err


def test_a_client_that_takes_no_tools_is_not_offered_them_instead(environment: dict[str, str]) -> None:
    ran = Ran(environment, "aider", "--model", "foo/bar")
    assert ran.code == 2
    assert "Or run `aider` without Laconic." in ran.err
    assert "--no-gateway" not in ran.err


@pytest.mark.parametrize("word", ["--version", "--help", "login"])
def test_words_that_ask_no_model_are_passed_to_the_client_alone(environment: dict[str, str], word: str) -> None:
    """Also where its configuration could not be honoured; and no line is said of requests that did not pass."""
    ran = Ran({**environment, "CLAUDE_CODE_USE_BEDROCK": "1"}, "claude", word)
    assert (ran.code, ran.err) == (7, "")
    assert json.loads(ran.out.splitlines()[0]) == [word]


def test_without_the_gateway_the_client_keeps_its_own_address(environment: dict[str, str]) -> None:
    ran = Ran({**environment, "CLAUDE_CODE_USE_BEDROCK": "1"}, "claude", "--no-gateway", "POST anthropic/v1/messages")
    assert (ran.code, ran.err) == (7, "")
    assert json.loads(ran.out.splitlines()[0])[0].startswith("--mcp-config=")
    assert [asked.path for asked in ran.company] == ["/api/v1/messages"]


@pytest.mark.parametrize(("flags", "joined"), [([], True), (["--off"], False), (["--no-gateway"], False)])
def test_the_tools_know_that_a_gateway_leaves_things_out(
    environment: dict[str, str], flags: list[str], joined: bool
) -> None:
    ran = Ran(environment, *flags, "claude", "POST anthropic/v1/messages")
    assert ("--behind-gateway" in ran.out) == joined


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends orphans only there")
def test_when_we_are_killed_the_client_ends_too(environment: dict[str, str]) -> None:
    with _wrap(environment, "claude", "wait") as running:
        assert running.stdout is not None
        child = int(running.stdout.readline().split()[1])
        running.kill()
        for _ in range(200):
            if not _alive(child):
                break
            time.sleep(0.05)
        assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_client_that_is_not_there_is_said_so(environment: dict[str, str]) -> None:
    _, err = (running := _wrap({**environment, "PATH": "/nowhere"}, "claude")).communicate(timeout=60)
    assert running.returncode == 2
    assert "claude is not installed" in err


@pytest.mark.parametrize("off", [["--off"], []], ids=["off", "on"])
def test_the_last_line_claims_nothing_where_nothing_was_changed(environment: dict[str, str], off: list[str]) -> None:
    """A short prompt twice within the life of the provider's cache: warm the second time, with us and without."""
    usages = [
        {"input_tokens": 224, "cache_creation_input_tokens": 101_000, "output_tokens": 2_000},
        {"input_tokens": 224, "cache_read_input_tokens": 101_000, "output_tokens": 2_000},
    ]

    def answer(asked: ReceivedRequest) -> ScriptedAnswer:
        return ScriptedAnswer((json.dumps({"usage": usages.pop(0)}).encode(),))

    async def twice() -> list[str]:
        async with ScriptedUpstream(answer) as upstream:
            found = []
            for _ in range(2):
                variables = {**environment, "ANTHROPIC_BASE_URL": upstream.url}
                words = ["--no-code-plane", *off, "claude", "--", "POST anthropic/v1/messages"]
                running = await asyncio.to_thread(_wrap, variables, *words)
                found.append((await asyncio.to_thread(running.communicate, timeout=60))[1])
            return found

    said = "laconic: 101,224 prompt tokens, 2,000 output tokens;"
    assert asyncio.run(twice()) == [
        f"{said} $0.41, $0.03 of it for output\n",
        f"{said} $0.06, $0.03 of it for output\n",
    ]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["claude", "--model", "m"], True),
        (["claude", "-p", "hi"], False),
        (["claude", "--print", "hi"], False),
        (["claude", "-p", "hi", "--allowedTools", "mcp__laconic"], True),
        (["claude", "--code-plane", "-p", "hi"], True),
        (["claude", "--no-code-plane", "--model", "m"], False),
        (["--no-gateway", "claude", "-p", "hi"], True),
    ],
)
def test_a_client_that_answers_one_prompt_is_not_charged_for_tools(
    environment: dict[str, str], words: list[str], offered: bool
) -> None:
    ran = Ran(environment, *words)
    assert ran.out.splitlines()[0].startswith('["--mcp-config=') is offered


def test_the_clients_shell_finds_our_program(environment: dict[str, str], tmp_path: Path) -> None:
    """What was left out says `laconic recall REF`, also where laconic is in no folder of the user's path."""
    (tmp_path / "bin" / "agent").write_text("#!/bin/sh\ncommand -v laconic\n", "utf-8")
    ran = Ran(environment, "--", "agent")
    assert Path(ran.out.strip()).parent == Path(sys.executable).parent
