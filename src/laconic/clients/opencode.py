"""opencode: any number of providers; each that is configured and whose address is known goes through the gateway."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from laconic.clients.client import Client
from laconic.clients.command_options import last_value
from laconic.clients.config_files import (
    Table,
    folders_up,
    merge,
    parse_json,
    project_root,
    read_json,
    read_text,
    table_at,
    text_at,
)
from laconic.clients.setup import ClientFolders, ClientSetup
from laconic.clients.wrapped_client import (
    DefaultUpstreams,
    Launch,
    LaunchContext,
    Upstream,
    WrappedClient,
    keep_apart,
    upstream,
)
from laconic.errors import Unroutable
from laconic.outbound_proxies import ProxyRules
from laconic.sessions.recorded.opencode import read_database, read_export
from laconic.sessions.recorded.record import RecordedSession, read_object

_KEYS: Final = {  # providers that opencode finds by these variables
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"),
}
_PACKAGES: Final = {"@ai-sdk/anthropic": "anthropic", "@ai-sdk/openai": "openai", "@ai-sdk/google": "google"}
_BASE_URLS: Final = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}  # of those packages
_VARIABLE: Final = re.compile(r"\$\{([^}]+)\}")
_MANAGED: Final = Path("/Library/Application Support/opencode") if sys.platform == "darwin" else Path("/etc/opencode")
_VALUED: Final = frozenset({"-m", "--model", "-s", "--session", "--agent", "--prompt"})  # options that take a word
_WHOLE: Final = ("opencode.json", "opencode.jsonc")


class _Provider(msgspec.Struct, frozen=True):
    """One provider: its address, or why it has none that we could use."""

    id: str
    url: str = ""
    reason: str = ""


class Opencode(WrappedClient):
    """Reads what opencode reads; `managed` is the folder of settings that nobody can override."""

    silence = "it asked no model, or it used a provider whose address Laconic does not know, and went there directly"
    one_shot: tuple[str, ...] = ("run",)
    proxy_rules = ProxyRules(https=("https_proxy", "HTTPS_PROXY"), http=("http_proxy", "HTTP_PROXY"))
    certificates: tuple[str, ...] = ("NODE_EXTRA_CA_CERTS",)

    def __init__(self, managed: Path = _MANAGED) -> None:
        self._managed = managed

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        seen = msgspec.structs.replace(seen, folder=_started_in(seen))
        _refuse_remote(seen)
        config = _config(seen)
        found = list(_providers(seen, config, defaults))
        chosen = (last_value(seen.args, "-m", "--model") or text_at(config, "model")).partition("/")[0]
        for provider in found:
            if provider.id == chosen and not provider.url:
                raise Unroutable(f"opencode's provider {chosen!r}: {provider.reason}.", "Choose another model.")
        if chosen and chosen not in {provider.id for provider in found}:
            raise Unroutable(
                f"The address of opencode's provider {chosen!r} is not known.",
                f"Set provider.{chosen}.options.baseURL in opencode.json.",
            )
        usable = [provider for provider in found if provider.url]
        if not usable:
            raise Unroutable("opencode has no provider whose address is known.", "Configure one in opencode.json.")
        self._refuse_managed([provider.id for provider in usable])
        return keep_apart(upstream(one.id, one.url, f"provider.{one.id}.options.baseURL") for one in usable)

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        ours: Table = {}
        if gateway:
            ours["provider"] = {one.provider: {"options": {"baseURL": one.through(gateway)}} for one in upstreams}
        if code_plane:
            ours["mcp"] = {"laconic": {"type": "local", "command": list(code_plane), "enabled": True}}
        given = parse_json(seen.environment.get("OPENCODE_CONFIG_CONTENT", ""), "OPENCODE_CONFIG_CONTENT")
        variables = {"OPENCODE_CONFIG_CONTENT": json.dumps(merge(given, ours))}
        return Launch(("opencode", *seen.args), variables)

    def _refuse_managed(self, ids: Sequence[str]) -> None:
        for name in _WHOLE:
            file = self._managed / name
            held = read_json(file)
            for id in ids:
                if text_at(held, "provider", id, "options", "baseURL"):
                    raise Unroutable(f"{file} fixes the address of {id!r}.", "Ask whoever manages it.")


def _started_in(seen: LaunchContext) -> Path:
    """The folder whose files it reads: it can be told to work in another."""
    if seen.args[:1] == ("run",):
        return seen.folder / last_value(seen.args, "--dir")
    before = ""
    for word in seen.args:
        is_folder = not word.startswith("-") and (seen.folder / word).is_dir()
        if is_folder and before not in _VALUED:
            return seen.folder / word
        before = word
    return seen.folder


def _data_folder(seen: LaunchContext) -> Path:
    return Path(seen.variable("XDG_DATA_HOME") or seen.home / ".local" / "share") / "opencode"


def _credentials(seen: LaunchContext) -> Table:
    if given := seen.variable("OPENCODE_AUTH_CONTENT"):
        return parse_json(given, "OPENCODE_AUTH_CONTENT")
    return read_json(_data_folder(seen) / "auth.json")


def _refuse_remote(seen: LaunchContext) -> None:
    """Configuration that opencode fetches from a server cannot be read beforehand."""
    for place, held in _credentials(seen).items():
        if isinstance(held, dict) and held.get("type") == "wellknown":
            raise Unroutable(f"opencode fetches its configuration from {place}.")
    database = _data_folder(seen) / "opencode.db"
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
            rows = opened.execute("SELECT active_org_id FROM account_state").fetchall()
    except sqlite3.Error:
        return  # a version without accounts
    if any(row[0] for row in rows):
        raise Unroutable("opencode fetches its configuration from the organisation that is signed in.")


def _config(seen: LaunchContext) -> Table:
    """All configuration in opencode's order: the later win."""
    config: Table = {}
    for file in _files(seen):
        config = merge(config, parse_json(_expand(read_text(file), file.parent, seen), str(file)))
    given = seen.environment.get("OPENCODE_CONFIG_CONTENT", "")
    return merge(config, parse_json(_expand(given, seen.folder, seen), "OPENCODE_CONFIG_CONTENT"))


def _files(seen: LaunchContext) -> Iterator[Path]:
    user = Path(seen.variable("XDG_CONFIG_HOME") or seen.home / ".config") / "opencode"
    for name in ("config.json", *_WHOLE):
        yield user / name
    if named := seen.variable("OPENCODE_CONFIG"):
        yield seen.folder / named
    if seen.variable("OPENCODE_DISABLE_PROJECT_CONFIG"):
        folders = []
    else:
        folders = list(_project_folders(seen.folder))
    yield from (folder / name for folder in reversed(folders) for name in _WHOLE)
    inner = [folder / ".opencode" for folder in folders] + [seen.home / ".opencode"]
    if named := seen.variable("OPENCODE_CONFIG_DIR"):
        inner.append(seen.folder / named)
    yield from (folder / name for folder in dict.fromkeys(inner) for name in _WHOLE)


def _project_folders(start: Path) -> Iterator[Path]:
    """From here up to the root of the repository; up to the top without one."""
    root = project_root(start)
    for folder in folders_up(start):
        yield folder
        if folder == root:
            return


def _expand(text: str, folder: Path, seen: LaunchContext) -> str:
    """`{env:NAME}` and `{file:PATH}`, as opencode writes them out before it reads the JSON."""
    text = re.sub(r"\{env:([^}]+)\}", lambda found: seen.environment.get(found[1], ""), text)

    def content(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("~/"):
            path = seen.home / name[2:]
        else:
            path = folder / name
        return json.dumps(read_text(path).strip())[1:-1]

    return re.sub(r"\{file:([^}]+)\}", content, text)


def _providers(seen: LaunchContext, config: Table, defaults: DefaultUpstreams) -> Iterator[_Provider]:
    """Providers that are configured, by a file, a key in the environment, or a login."""
    catalog = _catalog(seen)
    credentials = _credentials(seen)
    configured = [*table_at(config, "provider"), *credentials]
    by_variable = {id: held.get("env", ()) for id, held in catalog.items() if isinstance(held, dict)} | _KEYS
    configured += [id for id, names in by_variable.items() if any(seen.variable(name) for name in names)]
    disabled = config.get("disabled_providers") or ()
    enabled = config.get("enabled_providers")
    for id in dict.fromkeys(configured):
        if id in disabled or (enabled is not None and id not in enabled):
            continue
        login = credentials.get(id)
        if isinstance(login, dict) and login.get("type") == "oauth":
            yield _Provider(id, reason="its login chooses the address of every request")
            continue
        yield _locate(id, table_at(config, "provider", id), table_at(catalog, id), seen, defaults)


def _locate(id: str, own: Table, known: Table, seen: LaunchContext, defaults: DefaultUpstreams) -> _Provider:
    """Its address: its own option, else that of the catalogue, else that of the package that talks to it."""
    package = text_at(own, "npm") or text_at(known, "npm")
    maker = _PACKAGES.get(package, id if id in _KEYS and not package else "")
    url = text_at(own, "options", "baseURL")
    if not url and any(_model_addresses(held) for held in (own, known)):
        return _Provider(id, reason="its models have different addresses")
    url = url or text_at(own, "api") or text_at(known, "api")
    if not url and maker:
        url = seen.variable(_BASE_URLS.get(maker, "")) or _default_url(maker, defaults)
    url = _VARIABLE.sub(lambda found: seen.environment.get(found[1], found[0]), url)
    if not url or _VARIABLE.search(url):
        return _Provider(id, reason=f"its address is not known: set provider.{id}.options.baseURL")
    if maker == "anthropic" and url.rstrip("/") == "https://api.anthropic.com":
        url = "https://api.anthropic.com/v1"  # as its package does for this one address
    return _Provider(id, url)


def _default_url(maker: str, defaults: DefaultUpstreams) -> str:
    versions = {
        "anthropic": f"{defaults.anthropic}/v1",
        "openai": f"{defaults.openai}/v1",
        "google": f"{defaults.gemini}/v1beta",
    }
    return versions[maker]


def _model_addresses(provider: Table) -> list[str]:
    models: dict[str, Any] = table_at(provider, "models")
    found: list[str] = []
    for model in models.values():
        if isinstance(model, dict) and (url := text_at(model, "provider", "api")):
            found.append(url)
    return found


def _catalog(seen: LaunchContext) -> Table:
    """The list of known providers that opencode last fetched."""
    folder = Path(seen.variable("XDG_CACHE_HOME") or seen.home / ".cache") / "opencode"
    return read_json(folder / "models.json")


def _folder(places: ClientFolders) -> Path:
    return Path(places.environ.get("XDG_CONFIG_HOME") or places.home / ".config") / "opencode"


def _setup_file(folder: Path) -> Path:
    commented = folder / "opencode.jsonc"
    if commented.exists():
        return commented
    return folder / "opencode.json"


def _entry(words: list[str]) -> dict[str, object]:
    return {"type": "local", "command": words, "enabled": True}


def _find_recorded(places: ClientFolders, since: float) -> Iterator[RecordedSession]:
    data = Path(places.environ.get("XDG_DATA_HOME") or places.home / ".local" / "share")
    return read_database(data / "opencode" / "opencode.db", since)


def _read_recorded(path: Path) -> Iterator[RecordedSession]:
    """Its database, or what `opencode export` writes."""
    if path.suffix == ".db":
        yield from read_database(path)
    if path.suffix == ".json":
        whole = read_object(path)
        if isinstance(whole.get("messages"), list) and isinstance(whole.get("info"), dict):
            yield read_export(whole)


_ANSWER: Final = 32_000  # tokens that opencode keeps free for the answer: it compacts when they no longer fit
_LONGER: Final = "claude-sonnet-4-5"  # whose window is longer in its list of models than it is
_SHORTENED: Final = 0.08  # of its history: what it asks a summary of, where outputs are long


def _compaction_limit(model: str, window: int, betas: str) -> int:
    """Where it takes a window for longer than it is, it goes on until the provider refuses a prompt."""
    if model.startswith(_LONGER):
        return window
    return max(0, window - _ANSWER)


CLIENT: Final = Client(
    name="opencode",
    title="opencode",
    setup=ClientSetup(
        name="opencode",
        title="opencode",
        table=("mcp",),
        project=lambda places: _setup_file(places.root),
        user=lambda places: _setup_file(_folder(places)),
        entry=_entry,
        command=lambda entry: [str(word) for word in entry.get("command") or []],
        notes="AGENTS.md",
        programs=("opencode",),
        folder=_folder,
        user_notes=lambda places: _folder(places) / "AGENTS.md",
        own_folders=lambda places: (_folder(places),),
    ),
    launcher=Opencode(),
    session_headers=("x-opencode-session", "x-session-affinity"),
    task_tools=("todowrite",),
    user_agent="opencode",
    compacts_at=_compaction_limit,
    keeps_turns=2,
    summarises=_SHORTENED,
    shell_tools=("bash",),
    project_names=(".opencode", "opencode.json", "opencode.jsonc"),
    home_names=(".config/opencode", ".local/share/opencode"),
    recorded=_find_recorded,
    read_recorded=_read_recorded,
)
