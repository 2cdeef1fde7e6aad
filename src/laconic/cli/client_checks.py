"""Look at every client that was set up from its own side: does the server start, and what does the model see of it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from laconic.cli.commands.setup import program_words
from laconic.clients import markdown_section
from laconic.clients.claude import BASE_URL, TOOL_SEARCH, notes_folder
from laconic.clients.claude_hook import start_hook_edit
from laconic.clients.claude_plugin import plugin_command, plugin_folder, skill_lines
from laconic.clients.claude_settings import MANAGED, find_mistake, managed_files, read_variables
from laconic.clients.config_files import Table, read_json
from laconic.clients.install import configured_command, configured_entry, read
from laconic.clients.prompt_cost import Count, PromptPart, prompt_parts
from laconic.clients.registry import all_setups
from laconic.clients.server_probe import ProbeResult, ask
from laconic.clients.setup import NAME, ClientFolders, ClientSetup, Scope
from laconic.config import child_environment
from laconic.errors import LaconicError
from laconic.index.health import HealthFinding
from laconic.render.plural import count_of
from laconic.workspace.git import git

_SCOPES: Final[tuple[Scope, ...]] = ("project", "user")
_AROUND: Final = 60  # tokens that Claude Code writes around a file of notes, without the file's name
_CLAUDE: Final = "claude-code"  # as it names itself to servers
_PLUGIN: Final = f"plugin:{NAME}:{NAME}"  # as it names the server of a plugin


def check_clients(
    root: Path, names: Sequence[str], count: Count | None = None, managed: Path = MANAGED
) -> Iterator[HealthFinding]:
    """All clients, or those named; with a counter also what Claude Code's prompts carry because of us."""
    places = ClientFolders(root, child_environment())
    found = False
    for client in all_setups():
        if names and client.name not in names:
            continue
        for scope in _SCOPES:
            for finding in _ClientCheck(client, places, scope, count).find():
                found = True
                yield finding
        if client.name == "claude" and names:
            yield from check_settings(places, managed)
    if not found:
        yield HealthFinding("clients", True, "none is set up here.", "See `laconic setup --help`.")


@dataclass(frozen=True, slots=True)
class _ClientCheck:
    """One client in one scope."""

    client: ClientSetup
    places: ClientFolders
    scope: Scope
    count: Count | None

    def find(self) -> Iterator[HealthFinding]:
        file = self.client.file(self.places, self.scope)
        is_claude = self.client.name == "claude"
        plugin = None
        try:
            command = configured_command(self.client, self.places, self.scope)
            if is_claude:
                plugin = plugin_command(self.places, self.scope)
        except LaconicError as error:
            yield HealthFinding(self.client.title, False, f"{file}: {error.problem}", error.fix)
            return
        if command is not None:
            yield from self._check_server(command, str(file), NAME)
            if is_claude:
                yield from self._check_loading()
        if plugin is not None:
            folder = plugin_folder(self.places, self.scope)
            yield from self._check_server(plugin, f"{folder} (plugin)", _PLUGIN)
            if command is not None:
                problem = f"{file} and the plugin {folder} both start Laconic's server."
                advice = f"Run `laconic setup claude --{self.scope} --remove`, or the same with --plugin."
                yield HealthFinding(self.client.title, False, problem, advice)

    def _check_server(self, command: Sequence[str], where: str, server: str) -> Iterator[HealthFinding]:
        if self.scope == "project" and not is_written_by_setup(command):
            started = " ".join(command)
            seen = f"{where} starts {started!r}, which `laconic setup` did not write, so it was not started."
            advice = f"Run `laconic setup {self.client.name} --{self.scope}` again."
            yield HealthFinding(self.client.title, False, seen, advice)
            return
        is_claude = self.client.name == "claude"
        answered = ask(command, self.places.root, client=_CLAUDE if is_claude else "laconic doctor")
        if answered.problem or not answered.tools:
            problem = answered.problem or "the server has no tools"
            advice = f"Run `laconic setup {self.client.name} --{self.scope}` again."
            yield HealthFinding(self.client.title, False, f"{where}: {problem}.", advice)
            return
        seen = f"{where}: answers in {answered.seconds:.1f} s with {count_of(len(answered.tools), 'tool')}"
        yield HealthFinding(self.client.title, True, seen)
        if is_claude and self.count is not None:
            yield self._cost(answered, server, self.count)

    def _cost(self, answered: ProbeResult, server: str, count: Count) -> HealthFinding:
        parts = prompt_parts(answered.schemas, answered.instructions, answered.has_resources, server, count)
        notes = self.client.notes_file(self.places, self.scope)
        if server == NAME and notes is not None and notes.is_file():
            parts += _section_parts(notes, count)
        if server == _PLUGIN:
            parts.append(PromptPart("skill and command", count(skill_lines())))
        if self.scope == "project":
            parts += _changed_parts(self.places.root, count)
        total = sum(part.tokens for part in parts)
        listed = ", ".join(f"{part.what} {part.tokens:,}" for part in parts)
        return HealthFinding("prompt", True, f"every prompt carries {total:,} tokens from Laconic: {listed}")

    def _check_loading(self) -> Iterator[HealthFinding]:
        entry = configured_entry(self.client, self.places, self.scope) or {}
        if entry.get("alwaysLoad") is not True:
            file = self.client.file(self.places, self.scope)
            problem = f"{file}: Laconic's tools are missing from the first request and from sub-agents."
            advice = f"Run `laconic setup claude --{self.scope}` again."
            yield HealthFinding("tools", False, problem, advice)
        settings = start_hook_edit(self.places, self.scope, NAME)
        if not settings.path.is_file() or settings.take(read(settings.path)) == read(settings.path):
            problem = f"{settings.path}: no hook makes a prompt on the command line wait for Laconic's tools."
            yield HealthFinding("tools", False, problem, f"Run `laconic setup claude --{self.scope}` again.")


def _section_parts(notes: Path, count: Count) -> list[PromptPart]:
    text = read(notes)
    ours = markdown_section.extract(text)
    if not ours:
        return []
    parts = [PromptPart(f"section in {notes.name}", count(ours))]
    if not markdown_section.take(text).strip():  # without us the file would not be in the prompt
        parts.append(PromptPart("what the client writes around it", _AROUND + count(str(notes))))
    return parts


def _changed_parts(root: Path, count: Count) -> list[PromptPart]:
    """Claude Code lists what is not committed, so also the files that `setup` wrote, until they are."""
    try:
        listed = git(root, "status", "--porcelain", "--", ".claude", ".mcp.json", "CLAUDE.md")
    except LaconicError:
        return []  # no repository
    lines = listed.decode("utf-8", "replace").strip()
    if not lines:
        return []
    return [PromptPart("lines on files that are not committed", count(lines))]


def is_written_by_setup(command: Sequence[str]) -> bool:
    """Whether a command is one that `laconic setup` writes: a file of the project may name any other."""
    ways = ([NAME], program_words("user"))
    return any([*command[: len(way) + 1]] == [*way, "mcp"] for way in ways)


def check_settings(places: ClientFolders, managed: Path) -> Iterator[HealthFinding]:
    """What in Claude Code's settings keeps ours from having an effect."""
    files = [notes_folder(places) / "settings.json"]
    files += [places.root / ".claude" / name for name in ("settings.json", "settings.local.json")]
    for file in files:
        mistake = find_mistake(read(file)) if file.is_file() else ""
        if mistake:
            advice = "Fix the file."
            yield HealthFinding("settings", False, f"{file} {mistake}: Claude Code ignores all of it.", advice)
    yield from _check_hooks(files, managed)
    yield from _check_tool_search(files, places.environ)


def _check_hooks(files: Sequence[Path], managed: Path) -> Iterator[HealthFinding]:
    """The last file that says so switches hooks off or on; an organisation may allow none but its own."""
    switch, where = "", Path()
    for file in (*files, *managed_files(managed)):
        held = _read_settings(file)
        if "disableAllHooks" in held:
            switch, where = "disableAllHooks" if held["disableAllHooks"] is True else "", file
        if held.get("allowManagedHooksOnly") is True and file not in files:
            switch, where = "allowManagedHooksOnly", file
            break
    if switch:
        problem = f"{where} sets `{switch}`: a prompt on the command line does not wait for our tools."
        yield HealthFinding("hooks", False, problem, "Remove it, or type the first prompt after the start.")


def _read_settings(file: Path) -> Table:
    """As Claude Code reads them: nothing of a file with a mistake."""
    if not file.is_file() or find_mistake(read(file)):
        return {}
    return read_json(file)


def _check_tool_search(files: Sequence[Path], environ: Mapping[str, str]) -> Iterator[HealthFinding]:
    """With another host than its own Claude Code sends the schemas of all tools, unless it is told not to."""
    variables = dict(environ)
    for file in files:
        variables |= read_variables(_read_settings(file))
    host = urlsplit(variables.get(BASE_URL, "")).hostname
    if host not in {None, "api.anthropic.com"} and not variables.get(TOOL_SEARCH):
        seen = f"{BASE_URL} names {host}, for which Claude Code turns its tool search off."
        yield HealthFinding("tool search", False, seen, f"Set {TOOL_SEARCH}=true next to it.")
