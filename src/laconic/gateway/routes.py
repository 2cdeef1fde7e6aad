"""Which provider a request goes to, and what it asks for. Providers are configured; a request chooses among them.

A request that chooses none is refused, and the key of one provider never goes to the host of another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from laconic.config import outbound_proxy
from laconic.errors import BadSetting, LaconicError, UsageError
from laconic.exchange.caller import Target
from laconic.outbound_proxies import OutboundProxies
from laconic.wire.formats import FORMATS
from laconic.wire.provider_format import ProviderFormat

_PREFIX: Final = re.compile(r"(?:/[\w~@%+-][\w.~@%+-]*)*?")  # folders that gateways and clouds put before a path
_KEY_HEADERS: Final = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})
_PATH: Final = re.compile(r"/[!-~]*")  # printable ASCII without space: nothing that could end a header


FindProxy = Callable[[str], str | None]  # address -> the proxy of the network to reach it through


class NoRoute(LaconicError):
    """A request that belongs to no configured provider."""


class Upstreams(msgspec.Struct, frozen=True):
    """Where each provider is; an empty address means that there is none, and requests for it are refused."""

    anthropic: str = ""
    openai: str = ""
    gemini: str = ""
    named: Mapping[str, str] = {}
    proxies: OutboundProxies | None = None  # of the network, to reach them; none: those of this process
    certificates: tuple[str, ...] = ()  # files of authorities to trust beside those of the system

    @property
    def find_proxy(self) -> FindProxy:
        if self.proxies is None:
            return outbound_proxy
        return self.proxies.find


def upstreams(anthropic: str, openai: str, gemini: str, named: str) -> Upstreams:
    """From settings; `named` is `name=url, name=url`."""
    table = {}
    for pair in filter(None, (item.strip() for item in named.split(","))):
        name, sign, url = pair.partition("=")
        if not sign or not re.fullmatch(r"[a-z][a-z0-9_-]*", name.strip()):
            raise BadSetting(
                f"gateway.upstreams: {pair!r} is not of the form name=url.", "Write: ollama=http://127.0.0.1:11434"
            )
        table[name.strip()] = base_url(url)
    return Upstreams(base_url(anthropic), base_url(openai), base_url(gemini), table)


def base_url(url: str) -> str:
    """An address without its final slash and version, which the request's path carries."""
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{url!r} is not a provider's address.", "Write http://host:port or https://host.")
    return url.strip().rstrip("/").removesuffix("/v1")


def target(known: Upstreams, method: str, path: str, headers: Mapping[str, str], query: str = "") -> Target:
    """Where a request goes: by a configured name in front of its path, else by its path and its key."""
    if not _PATH.fullmatch(path):
        raise UsageError("The path of the request is not plain ASCII.", "Percent-encode all other characters.")
    first, _, rest = path[1:].partition("/")
    if first in known.named:
        name, base, path = first, known.named[first], "/" + rest
    else:
        name, base = _choose_provider(known, path, headers, query)
    found = _find_format(path) if method == "POST" else None
    if found is None:
        return Target(name, base, path)
    format, model = found
    return Target(upstream=name, base=base, path=path, format=format.name, model=model)


def _find_format(path: str) -> tuple[ProviderFormat, str] | None:
    """The format of a request to a model, and the model where the path names it."""
    for format in FORMATS.values():
        asked = re.fullmatch(_PREFIX.pattern + format.address.path.pattern, path)
        if asked is not None:
            return format, "".join(asked.groups())
    return None


def _choose_provider(known: Upstreams, path: str, headers: Mapping[str, str], query: str) -> tuple[str, str]:
    bases = {"anthropic": known.anthropic, "openai": known.openai, "gemini": known.gemini}
    keys = _owners_of_keys(headers, query)
    name = _owner_of_path(path)
    if keys and name in {"", "openai"}:  # several providers answer under OpenAI's paths
        name = keys[0]
    if not name and _KEY_HEADERS & headers.keys():
        name = "openai"
    if not name or not bases[name]:
        raise NoRoute("This request belongs to no configured provider.", "Check the client's base URL.")
    for owner in keys:
        if bases[owner] != bases[name]:
            raise UsageError(
                f"The request goes to {name} with a key for {owner}, so it was not sent.",
                "Check the client's base URL.",
            )
    return name, bases[name]


def _owner_of_path(path: str) -> str:
    """Whose path it is; empty when nobody's. The provider that knows most of it counts."""
    found = _find_format(path)
    if found is not None:
        return found[0].provider
    owner, longest = "", 0
    for format in FORMATS.values():
        if format.address.own_paths is not None:
            own = format.address.own_paths.match(path)
        else:
            own = None
        if own is not None and own.end() > longest:
            owner, longest = format.provider, own.end()
    return owner


def _owners_of_keys(headers: Mapping[str, str], query: str) -> list[str]:
    """Whose keys the request carries, as far as they show it."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    in_query = parse_qs(query).get("key", [""])[0]
    keys = [bearer, in_query, *(headers.get(name, "") for name in ("x-api-key", "x-goog-api-key", "api-key"))]
    owners = []
    for format in FORMATS.values():
        address = format.address
        is_marked = bool(address.own_headers & headers.keys())
        if is_marked or any(key.startswith(address.key_starts) for key in keys if address.key_starts):
            owners.append(format.provider)
    return owners
