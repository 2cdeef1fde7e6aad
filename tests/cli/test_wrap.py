"""Clients are pointed at the gateway by words and variables; they end with it, and it with them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest

from laconic.errors import UnknownName
from laconic.gateway.clients import launch

SERVER = ["python", "-m", "laconic", "mcp"]


def test_claude_gets_an_address_and_a_server() -> None:
    made = launch("claude", "http://g", SERVER, ["-p", "hi"], {})
    assert made.variables == {"ANTHROPIC_BASE_URL": "http://g"}
    assert (made.words[0], made.words[2:]) == ("claude", ("-p", "hi"))
    config = json.loads(made.words[1].removeprefix("--mcp-config="))
    assert config["mcpServers"]["laconic"]["args"] == SERVER[1:]


@pytest.mark.parametrize(("environment", "path"), [({"OPENAI_API_KEY": "k"}, "/v1"), ({}, "/chatgpt")])
def test_codex_gets_a_provider_in_its_own_notation(environment: dict[str, str], path: str) -> None:
    made = launch("codex", "http://g", SERVER, ["exec", "hi"], environment)
    settings = [made.words[at + 1] for at, word in enumerate(made.words) if word == "-c"]
    read = tomllib.loads("\n".join(settings))
    assert read["model_providers"]["laconic"]["base_url"] == "http://g" + path
    assert read["mcp_servers"]["laconic"]["args"] == SERVER[1:]
    assert made.words[-2:] == ("exec", "hi")


def test_opencode_gets_its_configuration_in_a_variable() -> None:
    made = launch("opencode", "http://g", [], [], {})
    config = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])
    assert config["provider"]["openai"]["options"]["baseURL"] == "http://g/v1"
    assert "mcp" not in config


def test_another_client_is_unknown() -> None:
    with pytest.raises(UnknownName):
        launch("emacs", "http://g", [], [], {})


FAKE = """\
    #!{python}
    import json, os, sys, time, urllib.request
    if "wait" in sys.argv:
        print("waiting", os.getpid(), flush=True)
        time.sleep(60)
    body = json.dumps({{"messages": [{{"role": "user", "content": "hi"}}]}}).encode()
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/healthz")
    print(urllib.request.urlopen(request, timeout=20).read().decode().strip(), sys.argv[1:])
    sys.exit(7)
"""


@pytest.fixture
def client(tmp_path: Path) -> dict[str, str]:
    """An environment in which `claude` is a small program of ours."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(textwrap.dedent(FAKE).format(python=sys.executable), "utf-8")
    program.chmod(0o755)
    path = f"{program.parent}:/usr/bin:/bin"
    return {"PATH": path, "HOME": str(tmp_path), "LACONIC_CACHE_DIR": str(tmp_path / "cache")}


def _wrap(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "laconic", "wrap", "--no-code-plane", "claude", "--", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_wrapped_client_reaches_the_gateway_and_its_exit_code_is_ours(
    client: dict[str, str], tmp_path: Path
) -> None:
    out, err = (running := _wrap(client, "-p", "x")).communicate(timeout=60)
    assert (out, running.returncode) == ("ok ['-p', 'x']\n", 7)
    assert err == "laconic: no answer reported its usage\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "cache"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel ends orphans only there")
def test_when_we_are_killed_the_client_ends_too(client: dict[str, str]) -> None:
    with _wrap(client, "wait") as running:
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


def test_a_client_that_is_not_there_is_said_so(client: dict[str, str]) -> None:
    _, err = (running := _wrap({**client, "PATH": "/nowhere"})).communicate(timeout=60)
    assert running.returncode == 2
    assert "claude is not installed" in err
