"""Which model is meant by a name, where it is, and what a request to it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from laconic.agent.transport import HttpTransport
from laconic.config import Settings, first_variable
from laconic.errors import BadSetting, UsageError
from laconic.local_addresses import is_local
from laconic.models.find_model import find_model
from laconic.wire.formats import FORMATS, format_named

_SPOKEN: Final = {format.provider: format.name for format in FORMATS.values() if format.dialect is not None}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a provider."""

    provider: str
    model: str
    format: str
    base: str

    @property
    def url(self) -> str:
        address = format_named(self.format).address
        assert address.url is not None
        return address.url(self.base, self.model)

    def headers(self, key: str, token: str = "") -> dict[str, str]:
        found = {"content-type": "application/json", "accept": "text/event-stream", "user-agent": "laconic"}
        address = format_named(self.format).address
        assert address.headers is not None
        found |= address.headers("" if token else key)
        if token:
            found["authorization"] = f"Bearer {token}"
        return found


def endpoint(
    name: str, settings: Settings, base: str = "", format: str = "", environ: Mapping[str, str] | None = None
) -> Endpoint:
    """`PROVIDER/MODEL`, or a model whose name says where it is; `base` and `format` for a server of one's own."""
    first, sign, rest = name.partition("/")
    known = _addresses(settings, environ)
    provider, model = (first, rest) if sign and (first in known or base) else (_guess_provider(name, base), name)
    if not model or (not base and provider not in known):
        raise UsageError(f"{name!r} does not name a model.", f"Write PROVIDER/MODEL; providers: {', '.join(known)}.")
    address = base or known[provider]
    if urlsplit(address).scheme not in {"http", "https"}:
        raise BadSetting(f"{address!r} is not a provider's address.", "Write http://host:port or https://host.")
    plain = address.rstrip("/").removesuffix("/v1").removesuffix("/v1beta")
    return Endpoint(provider, model, format or _SPOKEN.get(provider, "chat"), plain)


def transport(where: Endpoint, patience: float, environ: Mapping[str, str] | None = None) -> HttpTransport:
    """The way there, with the provider's key out of the environment; without one the provider is not asked."""
    names, tokens = _key_variables(where.provider)
    key, token = first_variable(names, environ), first_variable(tokens, environ)
    if not key and not token and not is_local(where.base):
        raise UsageError(f"There is no key for {where.provider} ({where.base}).", f"Set {names[0]}.")
    return HttpTransport(where.url, where.headers(key, token), patience)


def _key_variables(provider: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where a provider's key is, and where a token for it; by its name where nothing else is known."""
    if provider in _SPOKEN:
        address = format_named(_SPOKEN[provider]).address
        return address.keys, address.tokens
    return (provider.upper().replace("-", "_") + "_API_KEY",), ()


def _addresses(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Where providers are: by our own settings, else by the variable that other programs read, else their own API."""
    found: dict[str, str] = {}
    for provider, format in _SPOKEN.items():
        name = f"gateway.{provider}_url"
        found[provider] = settings.text(name)
        if settings.is_default(name):
            found[provider] = first_variable(format_named(format).address.variables, environ) or found[provider]
    for pair in settings.patterns("gateway.upstreams"):
        name, _, url = pair.partition("=")
        found[name.strip()] = url.strip()
    return found


def _guess_provider(name: str, base: str) -> str:
    found = find_model(name).provider
    if not found and base:
        return "openai"
    return found
