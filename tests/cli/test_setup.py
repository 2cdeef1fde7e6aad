"""Setting clients up and taking it back, through the command line, in a home folder of its own."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from io import StringIO
from pathlib import Path

import pytest

from laconic.cli.client_checks import check_settings
from laconic.cli.main import main
from laconic.clients import jsonc
from laconic.clients.markdown_section import START
from laconic.clients.registry import all_setups
from laconic.clients.setup import ClientFolders
from laconic.errors import LaconicError
from laconic.mcp_server.tool_help import write_project_notes
from laconic.tokens.count import counter


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in an environment that is nobody's."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA", "LACONIC_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LACONIC_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(root)
    return root


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("scope", ["--project", "--user"])
@pytest.mark.parametrize("name", [client.name for client in all_setups()])
def test_setup_twice_is_setup_once_and_removal_leaves_no_trace(project: Path, name: str, scope: str) -> None:
    assert main(["setup", name, scope]) == 0
    once = _files(project.parent)
    assert main(["setup", name, scope]) == 0
    assert _files(project.parent) == once
    assert any(b"laconic" in held for held in once.values())
    assert main(["setup", name, scope, "--remove"]) == 0
    assert _files(project.parent) == {}


@pytest.mark.parametrize("name", [client.name for client in all_setups()])
def test_what_was_there_comes_back_byte_for_byte(project: Path, name: str) -> None:
    """Merged on the way in, with a copy of the old file; restored on the way out."""
    client = next(client for client in all_setups() if client.name == name)
    main(["setup", name, "--project"])
    file = client.project(ClientFolders(project, os.environ))
    assert file.is_file()
    main(["setup", name, "--project", "--remove"])
    table = client.table[0]
    old = f'{{\n\t"{table}": {{\n\t\t"other": {{"command": ["x"]}} // mine\n\t}},\n\t"theme": "dark"}}'
    if file.suffix == ".toml":
        old = f'model = "m" # mine\n[{table}.other]\ncommand = "x"'
    file.parent.mkdir(exist_ok=True)
    file.write_text(old)
    (project / client.notes).write_text("# Notes\n\nMind the gap.")
    main(["setup", name, "--project"])
    text = file.read_text()
    assert "laconic" in text
    assert "mine" in text
    copies = [path for path in (project.parent / "cache" / "backups").iterdir() if path.suffix == file.suffix]
    assert [path.read_text() for path in copies] == [old]
    assert "Mind the gap." in (project / client.notes).read_text()
    main(["setup", name, "--project", "--remove"])
    assert _files(project) == {
        str(file.relative_to(project)): old.encode(),
        client.notes: b"# Notes\n\nMind the gap.",
    }


SETTINGS = """{
	"hooks": {
		"SessionStart": [ {"hooks": [{"type": "command", "command": "mine"}]} ], // greets me
		"PostToolUse": [
			{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}
		]
	}
}"""


@pytest.mark.parametrize("order", [("", "--hook"), ("--hook", "")])
@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_hooks_of_claude_code_stay_and_the_file_comes_back(project: Path, scope: str, order: tuple[str, str]) -> None:
    """Our two hooks are set up apart, and removed in either order; the user changed nothing meanwhile."""
    top = project if scope == "--project" else project.parent / "home"
    file = top / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    main(["setup", "claude", scope])
    main(["setup", "claude", scope, "--hook"])
    hooks = jsonc.parse(file.read_text())["hooks"]
    assert [len(hooks["SessionStart"]), len(hooks["PostToolUse"])] == [2, 2]
    for word in order:
        main(["setup", "claude", scope, "--remove", *filter(None, (word,))])
    assert file.read_text() == SETTINGS


def test_doctor_says_when_the_first_prompt_does_not_wait(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["setup", "claude", "--project"])
    assert main(["doctor", "claude"]) == 0
    (project / ".claude" / "settings.json").unlink()
    assert main(["doctor", "claude"]) == 1
    assert "no hook makes a prompt on the command line wait for Laconic's tools" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["project", "local", "user"])
def test_doctor_says_when_hooks_are_switched_off(
    project: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """Our hook is registered all the same, so that nothing else would say it."""
    main(["setup", "claude", "--project"])
    files = {
        "project": project / ".claude" / "settings.json",
        "local": project / ".claude" / "settings.local.json",
        "user": project.parent / "home" / ".claude" / "settings.json",
    }
    held = {}
    if files[place].exists():
        held = json.loads(files[place].read_text())
    files[place].parent.mkdir(exist_ok=True, parents=True)
    files[place].write_text(json.dumps({**held, "disableAllHooks": True}))
    assert main(["doctor", "claude"]) == 1
    assert f"{files[place]} sets `disableAllHooks`" in capsys.readouterr().out
    (project / ".claude" / "settings.local.json").write_text('{"disableAllHooks": false}')
    assert main(["doctor", "claude"]) == 0


def test_doctor_says_when_an_organisation_allows_no_hooks_of_ours(tmp_path: Path) -> None:
    (tmp_path / "managed-settings.json").write_text('{"allowManagedHooksOnly": true}')
    places = ClientFolders(tmp_path / "project", {"HOME": str(tmp_path / "home")})
    (found,) = check_settings(places, tmp_path)
    assert not found.well
    assert "managed-settings.json sets `allowManagedHooksOnly`" in found.seen


def test_doctor_says_when_claude_code_ignores_a_file_with_our_hook(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["setup", "claude", "--project"])
    file = project / ".claude" / "settings.json"
    file.write_text("// ours\n" + file.read_text())
    assert main(["doctor", "claude"]) == 1
    assert f"{file} is not JSON, which has neither comments nor trailing commas" in capsys.readouterr().out


def test_settings_that_cannot_be_read_stop_setup_before_anything_is_written(project: Path) -> None:
    file = project / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"hooks": ')
    with pytest.raises(LaconicError, match=r"settings\.json"):
        main(["setup", "claude", "--project"])
    assert _files(project) == {".claude/settings.json": b'{"hooks": '}


def test_changes_made_meanwhile_survive_removal(project: Path) -> None:
    main(["setup", "claude"])
    file = project / ".mcp.json"
    held = json.loads(file.read_text())
    held["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps(held, indent=2))
    main(["setup", "claude", "--remove"])
    assert json.loads(file.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_keys_that_the_user_gave_our_entry_stay(project: Path) -> None:
    main(["setup", "gemini"])
    file = project / ".gemini" / "settings.json"
    held = json.loads(file.read_text())
    held["mcpServers"]["laconic"] |= {"timeout": 5, "command": "gone"}
    file.write_text(json.dumps(held))
    main(["setup", "gemini", "--edit"])
    entry = json.loads(file.read_text())["mcpServers"]["laconic"]
    assert entry["timeout"] == 5
    assert entry["command"] != "gone"
    assert entry["args"][-1] == "--edit"


def test_codex_gets_toml_in_the_home_folder(project: Path) -> None:
    main(["setup", "codex"])
    held = tomllib.loads((project.parent / "home" / ".codex" / "config.toml").read_text())
    assert held["mcp_servers"]["laconic"]["args"][-1] == "mcp"


@pytest.mark.feature("C12")
def test_guidance_is_short_and_stands_once_for_clients_that_share_it(project: Path) -> None:
    """One section for two clients, gone with the last of them; a file that includes it gets none."""
    assert counter()(write_project_notes()) <= 160
    main(["setup", "opencode"])
    main(["setup", "cursor"])
    (project / "CLAUDE.md").write_text("See @AGENTS.md\n")
    main(["setup", "claude"])
    assert (project / "AGENTS.md").read_text().count(START) == 1
    assert (project / "CLAUDE.md").read_text() == "See @AGENTS.md\n"
    main(["setup", "opencode", "--remove"])
    assert START in (project / "AGENTS.md").read_text()
    main(["setup", "cursor", "--remove"])
    assert not (project / "AGENTS.md").exists()


def test_a_broken_file_is_refused_and_not_touched(project: Path) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": ')
    with pytest.raises(LaconicError, match=r"\.mcp\.json"):
        main(["setup", "claude"])
    assert _files(project) == {".mcp.json": b'{"mcpServers": '}


def test_print_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["setup", "vscode", "--print"])
    assert '"servers"' in capsys.readouterr().out
    assert _files(project.parent) == {}


def test_doctor_starts_the_server_as_the_client_would(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["setup", "cursor"])
    main(["doctor", "--json"])
    seen = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out.splitlines()[-1])}
    assert seen["Cursor"]["well"], seen["Cursor"]
    assert "tools" in seen["Cursor"]["seen"]
    file = project / ".cursor" / "mcp.json"
    file.write_text(file.read_text().replace('"command": "', '"command": "/nowhere/'))
    assert main(["doctor", "--json"]) == 1
    seen = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out.splitlines()[-1])}
    assert not seen["Cursor"]["well"]
    assert "laconic setup cursor" in seen["Cursor"]["advice"]


@pytest.mark.parametrize("first", ["sh", "/bin/sh", "./trap.sh"])
def test_doctor_starts_nothing_that_a_projects_file_made_up(
    project: Path, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    """A repository may come from a stranger, with a client's file in it."""
    trap = project / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {project / 'sprung'}\n")
    trap.chmod(0o755)
    entry = {"command": first, "args": [str(trap), "mcp"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"laconic": entry}}))
    assert main(["doctor", "--json"]) == 1
    seen = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out.splitlines()[-1])}
    assert not (project / "sprung").exists()
    assert "was not started" in seen["Claude Code"]["seen"]


def _command(file: Path) -> str:
    command = json.loads(file.read_text())["mcpServers"]["laconic"]["command"]
    assert isinstance(command, str)
    return command


def test_files_that_a_team_shares_name_us_and_those_of_the_user_say_where_we_are(project: Path) -> None:
    main(["setup", "claude", "--project"])
    assert _command(project / ".mcp.json") == "laconic"
    main(["setup", "claude", "--user"])
    command = Path(_command(project.parent / "home" / ".claude.json"))
    assert command.is_absolute()
    assert command.is_file()


def test_a_team_can_name_the_command_itself(project: Path) -> None:
    main(["setup", "claude", "--command", "uvx --from ./tools laconic"])
    entry = json.loads((project / ".mcp.json").read_text())["mcpServers"]["laconic"]
    assert [entry["command"], *entry["args"]] == ["uvx", "--from", "./tools", "laconic", "mcp"]


def test_a_program_that_others_will_not_find_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["setup", "claude"])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(sys.executable).parent.parent))
    main(["setup", "claude"])
    assert "only found while the environment" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(project))
    main(["setup", "claude"])
    assert "not on your path" in capsys.readouterr().err


def test_a_file_with_a_byte_order_mark_is_set_up_and_restored(project: Path) -> None:
    old = b"\xef\xbb\xbf" + b'{"mcpServers": {}}'
    (project / ".mcp.json").write_bytes(old)
    main(["setup", "claude", "--no-guidance"])
    assert b"laconic" in (project / ".mcp.json").read_bytes()
    main(["setup", "claude", "--no-guidance", "--remove"])
    assert _files(project) == {".mcp.json": old}


def test_removal_says_what_was_taken_out_of_which_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    main(["setup", "claude"])
    capsys.readouterr()
    main(["setup", "claude", "--remove"])
    out = capsys.readouterr().out
    assert f"removed Laconic's entry from {project / '.mcp.json'}" in out
    assert f"deleted {project / 'CLAUDE.md'}" in out
    main(["setup", "claude", "--remove"])
    assert f"nothing from Laconic in {project / '.mcp.json'}" in capsys.readouterr().out


class _ClosedTerminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_name_the_installed_clients_are_set_up(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(LaconicError, match="No client was found"):
        main(["setup"])
    (project.parent / "home" / ".gemini").mkdir()
    with pytest.raises(LaconicError, match="Found gemini, but cannot ask without a terminal"):
        main(["setup"])
    monkeypatch.setattr("sys.stdin", _ClosedTerminal())
    main(["setup"])  # the end of the input is a no
    assert not (project / ".gemini").exists()
    main(["setup", "--yes"])
    assert _command(project / ".gemini" / "settings.json") == "laconic"
    assert [path.name for path in project.iterdir() if path.suffix == ".json"] == []


@pytest.mark.feature("C12")
@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_the_plugin_brings_tools_a_skill_and_a_command_and_leaves_no_trace(project: Path, scope: str) -> None:
    before = _files(project.parent)
    main(["setup", "claude", "--plugin", scope])
    top = project if scope == "--project" else project.parent / "home"
    folder = top / ".claude" / "skills" / "laconic"
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["mcpServers"]["laconic"]["alwaysLoad"] is True
    assert "hook --client $PPID" in (folder / "hooks" / "hooks.json").read_text()
    skill = (folder / "skills" / "laconic" / "SKILL.md").read_text()
    for advice in ("in progress", "compact", "recall"):
        assert advice in skill
    assert "laconic stats" in (folder / "commands" / "cost.md").read_text()
    assert not (project / ".mcp.json").exists()
    main(["setup", "claude", "--plugin", scope, "--remove"])
    assert _files(project.parent) == before
    assert not folder.parent.exists()


@pytest.mark.parametrize("name", ["CLAUDE.md", ".mcp.json"])
def test_a_link_that_leaves_the_project_is_refused_and_nothing_is_written(project: Path, name: str) -> None:
    outside = project.parent / "outside"
    outside.write_text("{}")
    (project / name).symlink_to(outside)
    for words in ([], ["--remove"]):
        with pytest.raises(LaconicError, match="is a link to"):
            main(["setup", "claude", "--project", *words])
    assert outside.read_text() == "{}"
    assert [path.name for path in project.iterdir()] == [name]


def test_a_folder_that_leaves_the_project_is_refused(project: Path) -> None:
    (project.parent / "outside").mkdir()
    (project / ".cursor").symlink_to("../outside")
    with pytest.raises(LaconicError, match="is a link to"):
        main(["setup", "cursor", "--project"])
    assert list((project.parent / "outside").iterdir()) == []


def test_a_link_that_stays_inside_is_followed_and_stays_a_link(project: Path) -> None:
    (project / "AGENTS.md").write_text("# Notes\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert main(["setup", "claude", "--project"]) == 0
    assert (project / "CLAUDE.md").is_symlink()
    assert START in (project / "AGENTS.md").read_text()
    assert main(["setup", "claude", "--project", "--remove"]) == 0
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "AGENTS.md").read_text() == "# Notes\n"


def test_a_link_of_the_user_may_lead_anywhere_in_the_home_folder(project: Path) -> None:
    home = project.parent / "home"
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "codex.toml").write_text("")
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").symlink_to(home / "dotfiles" / "codex.toml")
    assert main(["setup", "codex", "--no-guidance"]) == 0
    assert "laconic" in (home / "dotfiles" / "codex.toml").read_text()
    (home / ".codex" / "AGENTS.md").symlink_to(project / "elsewhere.md")
    with pytest.raises(LaconicError, match="is a link to"):
        main(["setup", "codex"])


@pytest.mark.feature("C12")
def test_removing_a_client_takes_its_skill_along_and_leaves_no_empty_folder(project: Path) -> None:
    assert main(["setup", "claude", "--project", "--skill"]) == 0
    assert main(["setup", "claude", "--project", "--remove"]) == 0
    assert _files(project.parent) == {}
    assert not (project / ".claude").exists()
    main(["setup", "cursor", "--project"])
    main(["setup", "cursor", "--project", "--remove"])
    assert not (project / ".cursor").exists()


@pytest.mark.feature("C12")
def test_the_skill_alone_is_that_of_the_plugin_and_goes_again(project: Path) -> None:
    """A skill that a host loads when it fits, with what every agent forgets: mark the task, be compact, recall."""
    folder = project / ".claude" / "skills" / "laconic"
    main(["setup", "claude", "--project", "--plugin"])
    of_plugin = (folder / "skills" / "laconic" / "SKILL.md").read_text()
    main(["setup", "claude", "--project", "--plugin", "--remove"])
    assert main(["setup", "claude", "--project", "--skill"]) == 0
    skill = (project / ".claude" / "skills" / "laconic" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: laconic\ndescription: ")
    assert skill == of_plugin
    for said in ("in progress", "compact", "`recall`", "`search`"):
        assert said in skill
    assert not (project / "CLAUDE.md").exists()
    assert main(["setup", "claude", "--project", "--skill", "--remove"]) == 0
    assert _files(project.parent) == {}
    with pytest.raises(LaconicError, match="reads no skills"):
        main(["setup", "codex", "--skill"])


@pytest.mark.feature("C12")
def test_guidance_is_never_there_twice_as_a_section_and_as_a_skill(project: Path) -> None:
    notes, skill = project / "CLAUDE.md", project / ".claude" / "skills" / "laconic" / "SKILL.md"
    notes.write_text("# Shop\n")
    main(["setup", "claude", "--project"])
    assert "laconic" in notes.read_text()
    main(["setup", "claude", "--project", "--skill"])
    assert skill.is_file()
    assert notes.read_text() == "# Shop\n"
    main(["setup", "claude", "--project"])
    assert notes.read_text() == "# Shop\n"
    main(["setup", "claude", "--project", "--skill", "--remove"])
    main(["setup", "claude", "--project"])
    assert "laconic" in notes.read_text()
