"""Gemini CLI: one base URL in a variable, which it accepts only when its settings say that it uses a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from laconic.clients.client import Client
from laconic.clients.config_files import folders_up, read_dotenv, read_json, text_at
from laconic.clients.setup import ClientFolders, ClientSetup, plain_entry, read_words
from laconic.clients.wrapped_client import DefaultUpstreams, Launch, LaunchContext, Upstream, WrappedClient, upstream
from laconic.errors import Unroutable
from laconic.outbound_proxies import OutboundProxies, ProxyRules
from laconic.sessions.recorded.gemini import read_session
from laconic.sessions.recorded.record import RecordedSession, read_sessions

BASE_URL: Final = "GOOGLE_GEMINI_BASE_URL"
_ELSEWHERE: Final = {
    "oauth-personal": "signs in with a Google account, whose requests have another format",
    "vertex-ai": "sends its requests to Vertex AI, signed for that host",
    "cloud-shell": "sends its requests from Cloud Shell",
    "compute-default-credentials": "signs in with the credentials of a machine",
}
_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")  # for every address
_SYSTEM: Final = Path("/etc/gemini-cli/settings.json")


class Gemini(WrappedClient):
    """Reads what Gemini CLI reads. Our tools cannot be given to one run of it: `laconic setup gemini` does that."""

    silence = "it asked no model, or signs in as a project's settings say, which count in trusted folders only"
    one_shot: tuple[str, ...] = ("-p", "--prompt")
    proxy_rules = ProxyRules(https=_PROXIES, http=_PROXIES, bypass=("NO_PROXY", "no_proxy"), strict=True)
    certificates: tuple[str, ...] = ("NODE_EXTRA_CA_CERTS",)

    def __init__(self, system: Path = _SYSTEM) -> None:
        self._system = system

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        how = self._auth_type(seen)
        if how in _ELSEWHERE:
            raise Unroutable(f"Gemini CLI {_ELSEWHERE[how]}.", "Choose `Use Gemini API Key` with /auth.")
        if how not in {"gemini-api-key", "gateway"}:
            raise Unroutable(
                "Gemini CLI accepts another address only if its settings say how it signs in.",
                'Put {"security": {"auth": {"selectedType": "gemini-api-key"}}} into ~/.gemini/settings.json.',
            )
        url = seen.variable(BASE_URL)
        self._refuse_hidden(seen)
        return (upstream("gemini", url or defaults.gemini, BASE_URL),)

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        if gateway:
            variables = {BASE_URL: upstreams[0].through(gateway)}
        else:
            variables = {}
        return Launch(("gemini", *seen.args), variables)

    def _refuse_hidden(self, seen: LaunchContext) -> None:
        """A `.env` file may name an address or a proxy, and whether it counts depends on whether the folder is trusted.

        It never wins over the environment.
        """
        known = OutboundProxies.read(seen.environment, self.proxy_rules)
        folders = [*folders_up(seen.folder), seen.home]
        for file in (folder / name for folder in folders for name in (".gemini/.env", ".env")):
            hidden = {**read_dotenv(file), **seen.environment}
            named = ""
            if hidden.get(BASE_URL) != seen.environment.get(BASE_URL):
                named = BASE_URL
            if OutboundProxies.read(hidden, self.proxy_rules) != known:
                named = "a proxy"
            if named:
                raise Unroutable(
                    f"{file} names {named}, which Gemini CLI uses in trusted folders only.",
                    "Export the variable in your shell instead.",
                )

    def _auth_type(self, seen: LaunchContext) -> str:
        """How it signs in, by its settings in its own order: the later win."""
        system = Path(seen.variable("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or self._system)
        defaults = Path(seen.variable("GEMINI_CLI_SYSTEM_DEFAULTS_PATH") or system.with_name("system-defaults.json"))
        user = Path(seen.variable("GEMINI_CLI_HOME") or seen.home) / ".gemini" / "settings.json"
        files = (defaults, user, seen.folder / ".gemini" / "settings.json", system)
        chosen = ""
        for file in files:
            chosen = text_at(read_json(file), "security", "auth", "selectedType") or chosen
        return chosen


def _find_recorded(places: ClientFolders, since: float) -> Iterator[RecordedSession]:
    folder = Path(places.environ.get("GEMINI_CLI_HOME") or places.home) / ".gemini"
    return read_sessions(folder, ("tmp/*/chats/session-*.json*",), since, read_session)


CLIENT: Final = Client(
    name="gemini",
    title="Gemini CLI",
    setup=ClientSetup(
        name="gemini",
        title="Gemini CLI",
        table=("mcpServers",),
        project=lambda places: places.root / ".gemini" / "settings.json",
        user=lambda places: places.home / ".gemini" / "settings.json",
        entry=plain_entry,
        command=read_words,
        notes="GEMINI.md",
        programs=("gemini",),
        folder=lambda places: places.home / ".gemini",
        user_notes=lambda places: places.home / ".gemini" / "GEMINI.md",
        url_transport="sse",
    ),
    launcher=Gemini(),
    task_tools=("write_todos",),
    user_agent="geminicli",
    compacts_at=lambda model, window, betas: window // 2,
    compacts_late=True,
    shell_tools=("run_shell_command",),
    project_names=(".gemini",),
    home_names=(".gemini",),
    recorded=_find_recorded,
)
