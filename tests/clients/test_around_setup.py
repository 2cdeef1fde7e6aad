"""`laconic setup CLIENT --around` moves servers behind us; `--remove` puts them back byte for byte."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from laconic.cli.main import main
from laconic.clients import jsonc
from laconic.clients.setup import ClientFolders
from laconic.errors import UsageError
from laconic.mcp_proxy.definitions import read_definitions

JSON = """{
  // mine
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files"], "env": {"KEY": "s3cret"} },   /* odd   spacing */
    "far":   { "type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"} },
  },
  "other": [1,2,   3]
}
"""
TOML = """# my settings
model = "x"

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]

[mcp_servers.files.env]
KEY = "s3cret"

[tools]   # after
web = true
"""
OPENCODE = """{
  "mcp": {
    "files": {"type": "local", "command": ["npx", "files"], "environment": {"KEY": "s3cret"}},
    "far": {"type": "remote", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
  }
}
"""
FILES = {
    "claude": (".mcp.json", JSON),
    "cursor": (".cursor/mcp.json", JSON),
    "gemini": (".gemini/settings.json", JSON),
    "opencode": ("opencode.json", OPENCODE),
    "codex": (".codex/config.toml", TOML),
    "vscode": (".vscode/mcp.json", JSON.replace("mcpServers", "servers")),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in (("HOME", "home"), ("LACONIC_CACHE_DIR", "cache"), ("LACONIC_STATE_DIR", "state")):
        monkeypatch.setenv(name, str(tmp_path / value))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


@pytest.mark.parametrize("client", FILES)
def test_servers_go_behind_us_and_come_back_byte_for_byte(home: Path, client: str) -> None:
    name, text = FILES[client]
    file = home / "project" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert main(["setup", client, "--around", "--project", "--command", "laconic"]) == 0
    changed = file.read_text()
    assert "files" not in changed
    assert "s3cret" not in changed
    assert "laconic-around" in changed
    moved = home / "project" / f".mcp.around.{client}.json"
    assert stat.S_IMODE(moved.stat().st_mode) == 0o600
    places = ClientFolders(home / "project", {"TOKEN": "t0ken"})
    definitions = {one.name: one for one in read_definitions([str(moved)], places)}
    assert definitions["files"].variables == {"KEY": "s3cret"}
    assert definitions["files"].command[0] == "npx"
    assert "s3cret" not in repr(definitions["files"])
    if "far" in definitions:
        assert definitions["far"].headers == {"Authorization": "Bearer t0ken"}
        assert definitions["far"].transport == "http"
    assert main(["setup", client, "--around", "--project", "--command", "laconic"]) == 0
    assert file.read_text() == changed, "a second time changes nothing"
    assert main(["setup", client, "--around", "--project", "--remove", "--command", "laconic"]) == 0
    assert file.read_text() == text
    assert not moved.exists()


def test_clients_of_one_project_go_behind_us_and_back_one_by_one(home: Path) -> None:
    for name, text in FILES.values():
        file = home / "project" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for client in FILES:
        assert main(["setup", client, "--around", "--project", "--command", "laconic"]) == 0
    for client, (name, text) in FILES.items():
        assert main(["setup", client, "--around", "--project", "--remove", "--command", "laconic"]) == 0
        assert (home / "project" / name).read_text() == text
    assert not list((home / "project").glob(".mcp.around*"))


def test_a_client_without_servers_gets_no_file(home: Path) -> None:
    """Not even where another client of the project has some."""
    (home / "project" / ".mcp.json").write_text(JSON)
    assert main(["setup", "claude", "--around", "--project"]) == 0
    with pytest.raises(UsageError, match="has no other servers"):
        main(["setup", "gemini", "--around", "--project"])
    assert not (home / "project" / ".gemini").exists()


def test_a_file_that_changed_meanwhile_gets_its_servers_back(home: Path) -> None:
    file = home / "project" / ".mcp.json"
    file.write_text(JSON)
    main(["setup", "claude", "--around"])
    held = jsonc.parse(file.read_text())
    assert held["mcpServers"]["laconic-around"]["args"][-1] == ".mcp.around.claude.json"
    assert "alwaysLoad" not in held["mcpServers"]["laconic-around"]
    held["mcpServers"]["new"] = {"command": "new"}
    held["more"] = 1
    file.write_text(json.dumps(held, indent=2))
    main(["setup", "claude", "--around", "--remove"])
    after = json.loads(file.read_text())
    assert sorted(after["mcpServers"]) == ["far", "files", "new"]
    assert after["mcpServers"]["files"]["env"] == {"KEY": "s3cret"}
    assert after["more"] == 1


def test_servers_of_a_client_are_found_by_name(home: Path) -> None:
    (home / "project" / ".gemini").mkdir()
    settings = {
        "mcpServers": {"old": {"url": "http://127.0.0.1:1/sse"}, "new": {"httpUrl": "http://127.0.0.1:1/mcp"}}
    }
    (home / "project" / ".gemini" / "settings.json").write_text(json.dumps(settings))
    places = ClientFolders(home / "project", {"HOME": str(home / "home")})
    assert [one.transport for one in read_definitions(["old", "new"], places)] == ["sse", "http"]
