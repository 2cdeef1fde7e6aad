"""Where a listener may be opened: one policy for the gateway, MCP over HTTP and the dashboard."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.errors import BadSetting, UsageError
from laconic.serving.listen import bind, listen

COMMANDS = [["gateway", "--listen"], ["dashboard", "--listen"], ["mcp", "--http"]]


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Folders and settings that are not the user's."""
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LACONIC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("LACONIC_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.delenv("LACONIC_GATEWAY_TOKEN", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost:8787", "localhost", 8787),
        ("[::1]:80", "::1", 80),
        (":1", "127.0.0.1", 1),
        ("8900", "127.0.0.1", 8900),
    ],
)
def test_loopback_needs_nothing(address: str, host: str, port: int) -> None:
    where = listen(address, "", "", "", insecure=False)
    assert (where.local, where.host, where.port) == (True, host, port)


@pytest.mark.parametrize(
    ("address", "token", "insecure", "fine"),
    [
        ("0.0.0.0:80", "", True, False),
        ("0.0.0.0:80", "t", False, False),
        ("0.0.0.0:80", "t", True, True),
        ("[::]:80", "t", False, False),
        ("192.0.2.7:80", "t", False, False),
        ("localhost.evil.example:80", "t", False, False),
    ],
)
def test_other_addresses_need_a_token_and_tls_or_a_word(address: str, token: str, insecure: bool, fine: bool) -> None:
    if fine:
        assert not listen(address, token, "", "", insecure=insecure).local
    else:
        with pytest.raises(BadSetting):
            listen(address, token, "", "", insecure=insecure)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "localhost", "a:b", "", "127.0.0.1:", "1:²"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadSetting, match="not an address"):
        listen(address, "", "", "", insecure=False)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_keeps_to_it(command: list[str], own: Path) -> None:
    """Nothing is opened to a network by mistake, and no token goes over it in the clear."""
    token = own / "chosen"
    token.write_text("chosen-word\n")
    with pytest.raises(BadSetting, match="--token-file"):
        main([*command, "0.0.0.0:0"])
    with pytest.raises(BadSetting, match="--insecure"):
        main([*command, "0.0.0.0:0", "--token-file", str(token)])
    with pytest.raises(BadSetting, match="no file"):
        main([*command, "0.0.0.0:0", "--token-file", str(token), "--certificate", "nowhere.pem", "--key", "k.pem"])


def test_everybody_is_let_in_on_loopback_only(own: Path) -> None:
    with pytest.raises(BadSetting, match="--token-file"):
        main(["mcp", "--http", "0.0.0.0:0", "--no-token", "--insecure"])
    token = own / "chosen"
    token.write_text("chosen-word\n")
    with pytest.raises(UsageError, match="--no-token"):
        main(["mcp", "--http", "127.0.0.1:0", "--no-token", "--token-file", str(token)])


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = listen(f"127.0.0.1:{taken.getsockname()[1]}", "", "", "", insecure=False)
        with pytest.raises(BadSetting, match=r"another port"):
            bind(where)


def test_the_address_is_written_as_clients_need_it() -> None:
    where = listen("127.0.0.1:0", "", "", "", insecure=False)
    with bind(where) as opened:
        assert where.url(opened) == f"http://127.0.0.1:{opened.getsockname()[1]}"
