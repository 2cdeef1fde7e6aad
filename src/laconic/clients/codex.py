"""Codex: one provider at a time, chosen by its configuration, its profile and `-c` on the command line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from laconic.clients.client import Client
from laconic.clients.codex_chatgpt_backend import ACCOUNTS, AskAccount, ask_account, find_workspace, read_login
from laconic.clients.command_options import has_flag, last_value, options
from laconic.clients.config_files import Table, merge, read_dotenv, read_json, read_toml, table_at, text_at
from laconic.clients.setup import ClientFolders, ClientSetup, plain_entry, read_words
from laconic.clients.wrapped_client import (
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
from laconic.outbound_proxies import OutboundProxies, ProxyRules
from laconic.sessions.recorded.codex import read_session
from laconic.sessions.recorded.record import RecordedSession, read_first_row, read_sessions

_LOCAL_PORTS: Final = {"ollama": 11434, "lmstudio": 1234}
_ACCOUNTS: Final = frozenset({"chatgpt", "chatgptauthtokens", "headers", "agentidentity", "personalaccesstoken"})
_KEY_COMMANDS: Final = frozenset({"exec", "e", "review"})  # the commands that read CODEX_API_KEY
_SYSTEM: Final = Path("/etc/codex")


class Codex(WrappedClient):
    """Reads what Codex reads, and asks what it asks; `system` is the folder of the machine's own configuration."""

    silence = "it asked no model, or its organisation's configuration names another provider"
    one_shot: tuple[str, ...] = ("exec", "e", "review")
    proxy_rules = ProxyRules(
        https=("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"),
        http=("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"),
        bypass=("NO_PROXY", "no_proxy"),
        knows_networks=True,
    )
    certificates: tuple[str, ...] = ("CODEX_CA_CERTIFICATE", "SSL_CERT_FILE")

    def __init__(self, system: Path = _SYSTEM, ask: AskAccount = ask_account) -> None:
        self._system = system
        self._ask = ask

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        seen = msgspec.structs.replace(seen, environment=self.connection_variables(seen))
        config = self._config(seen)
        name = _provider(seen, config)
        if name.startswith("amazon-bedrock"):
            raise Unroutable("Codex sends its requests to Amazon Bedrock, signed for that host.")
        if name in _LOCAL_PORTS:
            url = seen.variable("CODEX_OSS_BASE_URL") or _local_url(seen, _LOCAL_PORTS[name])
            return (upstream(name, url, "CODEX_OSS_BASE_URL"),)
        if name == "openai":
            url = text_at(config, "openai_base_url") or self._default_url(seen, config, defaults)
            return (upstream(name, url, "openai_base_url"),)
        provider = table_at(config, "model_providers", name)
        if not provider:
            raise Unroutable(f"Codex has no model provider {name!r}.", "Define it in its config.toml.")
        if provider.get("aws"):
            raise Unroutable(f"The model provider {name!r} of Codex signs its requests for their host.")
        url = text_at(provider, "base_url")
        if not url and provider.get("requires_openai_auth"):
            url = self._default_url(seen, config, defaults)
        return (upstream(name, url or f"{defaults.openai}/v1", f"model_providers.{name}.base_url"),)

    def connection_variables(self, seen: LaunchContext) -> Mapping[str, str]:
        """A file beside its configuration wins over the environment, except where a variable is Codex's own."""
        found = dict(seen.environment)
        for name, value in read_dotenv(_codex_home(seen) / ".env").items():
            if not name.upper().startswith("CODEX_"):
                found[name] = value
        return found

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        settings: dict[str, object] = {}
        variables: dict[str, str] = {}
        if gateway:
            bypassing = {**seen.environment, **bypass_proxy(seen.environment)}
            final = self.connection_variables(msgspec.structs.replace(seen, environment=bypassing))
            refuse_detour(final, self.proxy_rules, gateway, str(_codex_home(seen) / ".env"))
            name, url = upstreams[0].provider, upstreams[0].through(gateway)
            if name in _LOCAL_PORTS:
                variables["CODEX_OSS_BASE_URL"] = url
            elif name == "openai":
                settings["openai_base_url"] = url
            else:
                settings[f"model_providers.{_key(name)}.base_url"] = url
        if code_plane:
            settings["mcp_servers.laconic.command"] = code_plane[0]
            settings["mcp_servers.laconic.args"] = list(code_plane[1:])
        ours: list[str] = []
        for key, value in settings.items():
            ours.extend(("-c", f"{key}={json.dumps(value)}"))
        # Of several values for a key the last counts: ours stand behind the user's own.
        place = max((end for _, end, _ in options(seen.args, "-c", "--config")), default=0)
        return Launch(("codex", *seen.args[:place], *ours, *seen.args[place:]), variables)

    def _config(self, seen: LaunchContext) -> Table:
        """The configuration in Codex's order: the later win. A project cannot choose a provider."""
        home = _codex_home(seen)
        config = merge(read_toml(self._system / "config.toml"), read_toml(home / "config.toml"))
        if profile := last_value(seen.args, "-p", "--profile"):
            config = merge(config, read_toml(home / f"{profile}.config.toml"))
        for _, _, value in options(seen.args, "-c", "--config"):
            config = merge(config, _override(value))
        managed = self._system / "managed_config.toml"
        if read_toml(managed).keys() & {"model_provider", "model_providers", "openai_base_url"}:
            raise Unroutable(f"{managed} chooses the provider of Codex.", "Ask whoever manages it.")
        return config

    def _default_url(self, seen: LaunchContext, config: Table, defaults: DefaultUpstreams) -> str:
        """Where OpenAI's own provider goes: that depends on how the user signed in."""
        command = next((word for word in seen.args if not word.startswith("-")), "")
        if command in _KEY_COMMANDS and seen.variable("CODEX_API_KEY"):
            return f"{defaults.openai}/v1"
        auth = read_json(_codex_home(seen) / "auth.json")
        if token := seen.variable("CODEX_ACCESS_TOKEN"):
            return self._account_url(seen, config, auth, token)
        mode = text_at(auth, "auth_mode").lower().replace("_", "")
        if mode in _ACCOUNTS or (not mode and auth.get("tokens") and not auth.get("OPENAI_API_KEY")):
            return self._account_url(seen, config, auth)
        if mode == "apikey" or auth.get("OPENAI_API_KEY"):
            return f"{defaults.openai}/v1"
        if text_at(config, "cli_auth_credentials_store") in {"keyring", "auto"}:
            raise Unroutable(
                "Codex keeps its login in the keyring, so Laconic cannot see where its requests go.",
                "Set `openai_base_url` in its config.toml.",
            )
        raise Unroutable("Codex is not signed in.", "Run `codex login`, or set `model_provider` in its config.toml.")

    def _account_url(self, seen: LaunchContext, config: Table, auth: Table, variable: str = "") -> str:
        """Where requests of an account go: the backend of its workspace."""
        token, account = read_login(auth, variable)
        if not token:
            raise Unroutable(
                "Laconic cannot read how Codex is signed in.", "Set `openai_base_url` in its config.toml."
            )
        proxies = OutboundProxies.read(seen.environment, self.proxy_rules)
        base = text_at(config, "chatgpt_base_url").rstrip("/") or ACCOUNTS
        return f"{find_workspace(self._ask(base, token, account, proxies.find(base)), account)}/backend-api/codex"


def _codex_home(seen: LaunchContext) -> Path:
    return Path(seen.variable("CODEX_HOME") or seen.home / ".codex")


def _provider(seen: LaunchContext, config: Table) -> str:
    if has_flag(seen.args, "--oss") or last_value(seen.args, "--local-provider"):
        chosen = last_value(seen.args, "--local-provider") or text_at(config, "oss_provider")
        if not chosen:
            raise Unroutable("Codex would look for a local server by itself.", "Name it with --local-provider.")
        return chosen
    return text_at(config, "model_provider") or "openai"


def _local_url(seen: LaunchContext, port: int) -> str:
    own = seen.variable("CODEX_OSS_PORT")
    return f"http://localhost:{own if own.isdigit() else port}/v1"


def _override(word: str) -> Table:
    """`a.b=VALUE` as Codex reads it: TOML, or else a bare string."""
    path, _, value = word.partition("=")
    try:
        held: object = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        held = value.strip().strip("\"'")
    for key in reversed(path.strip().split(".")):
        held = {key.strip("\"'"): held}
    if isinstance(held, dict):
        return held
    return {}


def _key(name: str) -> str:
    """A provider whose name has dots cannot be named on the command line."""
    if "." in name:
        raise Unroutable(f"The model provider {name!r} of Codex has a dot in its name.", "Rename it.")
    return name


def _folder(places: ClientFolders) -> Path:
    return Path(places.environ.get("CODEX_HOME") or places.home / ".codex")


def _find_recorded(places: ClientFolders, since: float) -> Iterator[RecordedSession]:
    patterns = ("sessions/**/*.jsonl", "archived_sessions/**/*.jsonl")
    return read_sessions(_folder(places), patterns, since, read_session)


def _read_recorded(path: Path) -> Iterator[RecordedSession]:
    if path.suffix == ".jsonl" and "payload" in read_first_row(path):
        session = read_session(path)
        if session is not None:
            yield session


_LONGEST_PROMPT: Final = 272_000  # tokens that Codex lets a prompt have, of the models it is made for

CLIENT: Final = Client(
    name="codex",
    title="Codex",
    setup=ClientSetup(
        name="codex",
        title="Codex",
        table=("mcp_servers",),
        project=lambda places: places.root / ".codex" / "config.toml",
        user=lambda places: _folder(places) / "config.toml",
        entry=plain_entry,
        command=read_words,
        notes="AGENTS.md",
        programs=("codex",),
        folder=_folder,
        user_notes=lambda places: _folder(places) / "AGENTS.md",
        scope="user",
        own_folders=lambda places: (_folder(places),),
    ),
    launcher=Codex(),
    session_headers=("session_id", "session-id", "conversation_id"),
    task_tools=("update_plan",),
    user_agent="codex",
    compacts_at=lambda model, window, betas: int(0.9 * min(window, _LONGEST_PROMPT)),
    keeps_tokens=4_500,  # most of them instructions, in a message
    summarises=1.0,
    shell_tools=("shell", "shell_command", "exec_command", "local_shell"),
    project_names=(".codex",),
    home_names=(".codex",),
    recorded=_find_recorded,
    read_recorded=_read_recorded,
)
