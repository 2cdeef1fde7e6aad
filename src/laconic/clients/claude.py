"""Claude Code: one base URL, in a variable that its settings files may set over the environment."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from laconic.clients.claude_settings import (
    MANAGED,
    file_variables,
    flag_settings,
    managed_files,
    read_variables,
    user_folder,
)
from laconic.clients.client import Client
from laconic.clients.command_options import has_option, options
from laconic.clients.config_files import Table, merge, read_json, table_at
from laconic.clients.setup import NAME, ClientFolders, ClientSetup, read_words, typed_entry
from laconic.clients.tools_wait import start_hook
from laconic.clients.wrapped_client import (
    FOLDER,
    DefaultUpstreams,
    Launch,
    LaunchContext,
    Upstream,
    WrappedClient,
    bypass_proxy,
    refuse_detour,
    upstream,
)
from laconic.errors import Unroutable
from laconic.outbound_proxies import ProxyRules
from laconic.sessions.recorded.claude import read_session
from laconic.sessions.recorded.record import RecordedSession, read_first_row, read_sessions

BASE_URL: Final = "ANTHROPIC_BASE_URL"
TOOL_SEARCH: Final = "ENABLE_TOOL_SEARCH"
OWN_API: Final = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"
_OWN_HOST: Final = "https://api.anthropic.com"
_ELSEWHERE: Final = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
    "CLAUDE_CODE_USE_MANTLE": "Amazon Bedrock",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS": "Claude Platform on AWS",
    "CLAUDE_CODE_USE_GATEWAY": "a gateway of its organisation",
    "ANTHROPIC_UNIX_SOCKET": "a socket",
}
_PROXIES: Final = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")  # for every address
_OUTLIVE: Final = ("--bg", "--background", "--tmux")  # options that start it outside of this run


class Claude(WrappedClient):
    """Reads what Claude Code reads; `managed` is the folder of settings that nobody can override."""

    silence = (
        "it asked no model, or managed settings that its organisation sends it name another address "
        "(`/status` in Claude Code shows which is used)"
    )
    one_shot: tuple[str, ...] = ("-p", "--print")
    proxy_rules = ProxyRules(https=_PROXIES, http=_PROXIES)
    certificates: tuple[str, ...] = ("NODE_EXTRA_CA_CERTS",)

    def __init__(self, managed: Path = MANAGED) -> None:
        self._managed = managed

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        _refuse_background(seen)
        managed = self._managed_variables(seen)
        if managed.get(BASE_URL):
            raise Unroutable(
                f"Managed settings of Claude Code set {BASE_URL}, which no client setting can override.",
                "Ask whoever manages them.",
            )
        variables = self.connection_variables(seen)
        for name, place in _ELSEWHERE.items():
            if variables.get(name, "").strip().lower() not in {"", "0", "false", "no", "off"}:
                raise Unroutable(
                    f"Claude Code sends its requests to {place} ({name}), signed for that host.", f"Unset {name}."
                )
        url = variables.get(BASE_URL, "").strip()
        return (upstream("anthropic", url or defaults.anthropic, BASE_URL),)

    def connection_variables(self, seen: LaunchContext) -> Mapping[str, str]:
        return {**seen.environment, **file_variables(seen), **self._managed_variables(seen)}

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        words = ["claude"]
        added: Table = {}
        if code_plane:
            words.append("--mcp-config=" + json.dumps({"mcpServers": {NAME: _entry(list(code_plane))}}))
            if not any(word in self.one_shot for word in seen.args):  # with those it waits for servers by itself
                program = code_plane[: code_plane.index("mcp")]
                added = {"hooks": {"SessionStart": [start_hook(shlex.join(program))]}}
        variables: dict[str, str] = {}
        if gateway:
            variables = {BASE_URL: upstreams[0].through(gateway), **_keep_own_api(seen, upstreams[0])}
            override = self._override_files(seen, variables, gateway)
            if override:
                added = {**added, "env": override}
        if not added:
            return Launch((*words, *seen.args), variables)
        return _add_settings(words, seen, added, variables)

    def _override_files(self, seen: LaunchContext, ours: Mapping[str, str], gateway: str) -> Table:
        """What has to be in settings, because the user's settings have it too: they win over the environment."""
        known = self.connection_variables(seen)
        bypass = bypass_proxy(known)
        final = {**known, **bypass, **self._managed_variables(seen)}
        refuse_detour(final, self.proxy_rules, gateway, "the managed settings of Claude Code")
        found: Table = {}
        for wanted in (ours, bypass):
            if wanted.keys() & file_variables(seen).keys():
                found |= wanted
        return found

    def _managed_variables(self, seen: LaunchContext) -> dict[str, str]:
        found: dict[str, str] = {}
        for file in (*managed_files(self._managed), user_folder(seen) / "remote-settings.json"):
            found |= read_variables(read_json(file))
        return found


def _add_settings(words: Sequence[str], seen: LaunchContext, added: Table, variables: Mapping[str, str]) -> Launch:
    """The command with these settings beside those that its own line names: of several, the last alone counts.

    They are handed over in a file, because they may hold keys, and others can read the command line.
    """
    given, args = flag_settings(seen), list(seen.args)
    settings = merge(given, added)
    if "hooks" in added:
        settings["hooks"] = _join_hooks(table_at(given, "hooks"), added["hooks"])
    for start, end, _ in reversed(list(options(args, "--settings"))):
        del args[start:end]
    files = {"settings.json": json.dumps(settings)}
    return Launch((*words, "--settings", f"{FOLDER}/settings.json", *args), variables, files)


def _join_hooks(given: Table, added: Table) -> Table:
    joined = dict(given)
    for event, hooks in added.items():
        joined[event] = [*given.get(event, ()), *hooks]
    return joined


def _keep_own_api(seen: LaunchContext, upstream: Upstream) -> dict[str, str]:
    """What Claude Code does for Anthropic's own host only, it does through us too.

    With any other address it does not ask for the settings that an organisation sends, writes other cache marks, and
    switches its tool search off.
    """
    if upstream.origin != _OWN_HOST:
        return {}
    kept: dict[str, str] = {}
    for name, value in ((OWN_API, "1"), (TOOL_SEARCH, "true")):
        if name not in seen.environment and name not in file_variables(seen):
            kept[name] = value
    return kept


def _refuse_background(seen: LaunchContext) -> None:
    """The gateway ends with this run: an agent that goes on would send its key to whatever listens there next."""
    for option in _OUTLIVE:
        if has_option(seen.args, option):
            raise Unroutable(f"With {option} Claude Code goes on when this run has ended.", f"Leave {option} out.")
    if seen.args[:1] == ("agents",):
        raise Unroutable("`claude agents` starts agents that go on when this run has ended.")


def _searches_tools(environ: Mapping[str, str]) -> bool:
    """By default with Anthropic's own host; a variable switches it."""
    chosen = environ.get(TOOL_SEARCH, "").strip().lower()
    if chosen:
        return chosen not in {"0", "false", "no", "off"}
    return environ.get(BASE_URL, _OWN_HOST).rstrip("/") in {"", _OWN_HOST}


def _config_folder(places: ClientFolders) -> Path:
    """Its own file lies in its folder if that was moved, else in the home folder."""
    return Path(places.environ.get("CLAUDE_CONFIG_DIR") or places.home)


def notes_folder(places: ClientFolders) -> Path:
    """Where it keeps the user's notes, skills and plugins, and records sessions."""
    return Path(places.environ.get("CLAUDE_CONFIG_DIR") or places.home / ".claude")


def _entry(words: list[str]) -> dict[str, object]:
    """Without `alwaysLoad` neither the first request nor a sub-agent has our tools: they have to be searched for."""
    return {**typed_entry(words), "alwaysLoad": True}


def _find_recorded(places: ClientFolders, since: float) -> Iterator[RecordedSession]:
    return read_sessions(notes_folder(places), ("projects/**/*.jsonl",), since, read_session)


def _read_recorded(path: Path) -> Iterator[RecordedSession]:
    """Lines of objects with a `message` each; those of Codex have a `payload`."""
    if path.suffix == ".jsonl" and "payload" not in read_first_row(path):
        session = read_session(path)
        if session is not None:
            yield session


SETUP: Final = ClientSetup(
    name="claude",
    title="Claude Code",
    table=("mcpServers",),
    project=lambda places: places.root / ".mcp.json",
    user=lambda places: _config_folder(places) / ".claude.json",
    entry=_entry,
    command=read_words,
    notes="CLAUDE.md",
    programs=("claude",),
    folder=notes_folder,
    user_notes=lambda places: notes_folder(places) / "CLAUDE.md",
    after="Claude Code asks once whether to use the project's servers.",
    own_folders=lambda places: (_config_folder(places), notes_folder(places)),
    around_entry=typed_entry,  # without `alwaysLoad`: its tools are many, and it searches them
)

_DATE: Final = re.compile(r"-\d{8}$")
_NARROW: Final = frozenset(
    {"claude-sonnet-4-6", "claude-opus-4-6"}
)  # it uses 200,000 tokens of these, if not told more
_MOST: Final = {"claude-sonnet-5": 967_000}  # tokens that it uses of a window
_KEPT_FREE: Final = 33_000  # tokens, for the summary and what nobody counts


def _compaction_limit(model: str, window: int, betas: str) -> int:
    """With most models it goes on until the provider refuses a prompt; typed or with `-p` makes no difference."""
    family = _DATE.sub("", model)
    if family in _MOST:
        return min(window, _MOST[family]) - _KEPT_FREE
    if family in _NARROW and "context-1m" not in betas:
        return min(window, 200_000) - _KEPT_FREE
    return window


CLIENT: Final = Client(
    name="claude",
    title="Claude Code",
    setup=SETUP,
    launcher=Claude(),
    session_headers=("x-claude-code-session-id",),
    user_agent="claude",
    compacts_at=_compaction_limit,
    keeps_turns=1,
    summarises=1.0,
    task_tools=("TodoWrite", "TaskCreate", "TaskUpdate"),
    shell_tools=("Bash",),
    mcp_names=("claude-code",),
    searches_tools=_searches_tools,
    project_names=(".claude", ".mcp.json"),
    home_names=(".claude", ".claude.json"),
    recorded=_find_recorded,
    read_recorded=_read_recorded,
)
