"""Which servers stand behind us: read from a client's configuration, in whichever form that client writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

from laconic.clients.install import other_servers
from laconic.clients.jsonc import parse as parse_json
from laconic.clients.registry import all_setups
from laconic.clients.setup import AROUND, NAME, ClientFolders
from laconic.clients.toml_tables import parse as parse_toml
from laconic.errors import UnknownName, Unreadable, UsageError

Transport = Literal["stdio", "http", "sse"]
_TABLES: Final = ("mcpServers", "servers", "mcp_servers", "mcp")
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDefinition:
    """How one server is reached. Its variables and headers may be secrets: they are never printed."""

    name: str
    transport: Transport
    command: tuple[str, ...] = ()
    url: str = ""
    folder: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> str:
        """The same for the same server; secrets have no part in it."""
        shape = (self.transport, self.command, self.url, self.folder, sorted(self.variables), sorted(self.headers))
        return blake2b(repr(shape).encode("utf-8", "replace"), digest_size=12).hexdigest()


def read_definitions(words: Iterable[str], places: ClientFolders) -> list[ServerDefinition]:
    """The servers of all files, and those that are named and set up in a client; the first of a name counts."""
    found: dict[str, ServerDefinition] = {}
    named: list[str] = []
    for word in words:
        path = Path(word).expanduser()
        if path.is_file():
            for definition in read_file(path, places.environ):
                found.setdefault(definition.name, definition)
        elif path.suffix in {".json", ".toml", ".jsonc"} or "/" in word:
            raise Unreadable(f"There is no file {word}.", "Name a configuration with `mcpServers`, or a server.")
        else:
            named.append(word)
    if named:
        known = _configured(places)
        for name in named:
            if name not in known:
                raise UnknownName("server", name, tuple(sorted(known)), "Name one that a client is set up with.")
            found.setdefault(name, known[name])
    if not found:
        raise UsageError("No server was named.", "Name a file with `mcpServers`, or servers of a client.")
    return list(found.values())


def read_file(path: Path, environ: Mapping[str, str]) -> list[ServerDefinition]:
    """The servers in one configuration file."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.", "Fix the file.") from None
    if path.suffix == ".toml":
        held: Any = parse_toml(text)
    else:
        held = parse_json(text)
    table: Any = None
    if isinstance(held, dict):
        table = next((held[key] for key in _TABLES if isinstance(held.get(key), dict)), None)
    if table is None:
        raise UsageError(f"{path} names no servers.", "It needs a table `mcpServers`.")
    return _read_table(table, environ)


def read_definition(name: str, entry: Mapping[str, Any], environ: Mapping[str, str]) -> ServerDefinition | None:
    """One server; None where it is switched off, or ours."""
    if name in {NAME, AROUND} or entry.get("enabled") is False or entry.get("disabled") is True:
        return None
    command = entry.get("command")
    if isinstance(command, list):
        words = [*map(str, command), *map(str, entry.get("args") or [])]
    else:
        words = [str(command or ""), *map(str, entry.get("args") or [])]
    variables = _texts(entry.get("env") or entry.get("environment"), environ)
    headers = _texts(entry.get("headers") or entry.get("http_headers"), environ)
    if variable := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer {environ.get(str(variable), '')}"
    for header, variable in (entry.get("env_http_headers") or {}).items():
        if value := environ.get(str(variable)):
            headers[str(header)] = value
    url = str(entry.get("httpUrl") or entry.get("url") or "")
    if not words[0] and not url:
        raise UsageError(f"The server {name!r} has neither a command nor an address.", "Fix its entry.")
    return ServerDefinition(
        name=name,
        transport=_transport(entry, is_process=bool(words[0])),
        command=tuple(expand(word, environ) for word in words if words[0]),
        url=expand(url, environ),
        folder=expand(str(entry.get("cwd") or ""), environ),
        variables=variables,
        headers=headers,
    )


def _transport(entry: Mapping[str, Any], *, is_process: bool) -> Transport:
    if is_process:
        return "stdio"
    if str(entry.get("type") or entry.get("transport") or "").lower() == "sse":
        return "sse"
    return "http"


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`${NAME}`, `${env:NAME}` and `${NAME:-default}`, as clients write them; what is not set stays."""
    return _VARIABLE.sub(
        lambda found: environ.get(found[1]) or (found[2] if found[2] is not None else found[0]), text
    )


def _texts(table: object, environ: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(table, Mapping):
        return {}
    return {str(key): expand(str(value), environ) for key, value in table.items()}


def _read_table(table: Mapping[str, Any], environ: Mapping[str, str]) -> list[ServerDefinition]:
    found: list[ServerDefinition] = []
    for name, entry in table.items():
        if isinstance(entry, Mapping):
            definition = read_definition(name, entry, environ)
            if definition is not None:
                found.append(definition)
    return found


def _configured(places: ClientFolders) -> dict[str, ServerDefinition]:
    """All servers of all clients; those of the project come before those of the user."""
    found: dict[str, ServerDefinition] = {}
    for scope in ("project", "user"):
        for setup in all_setups():
            for definition in _read_table(other_servers(setup, places, scope, normal=True), places.environ):
                found.setdefault(definition.name, definition)
    return found
