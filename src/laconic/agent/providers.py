"""Which model is meant by a name, where it is, and what a request to it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from laconic.agent.transport import Http
from laconic.config import Settings, key_of
from laconic.errors import BadSetting, UsageError
from laconic.models.find import find_model

_FORMATS: Final = {"anthropic": "anthropic", "openai": "chat", "gemini": "gemini"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a provider."""

    provider: str
    model: str
    format: str
    base: str

    @property
    def url(self) -> str:
        if self.format == "anthropic":
            return f"{self.base}/v1/messages"
        if self.format == "gemini":
            return f"{self.base}/v1beta/models/{quote(self.model)}:streamGenerateContent?alt=sse"
        return f"{self.base}/v1/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        plain = {"content-type": "application/json", "accept": "text/event-stream", "user-agent": "laconic"}
        if self.format == "anthropic":
            return {**plain, "anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
        if self.format == "gemini":
            return {**plain, **({"x-goog-api-key": key} if key else {})}
        return {**plain, **({"authorization": f"Bearer {key}"} if key else {})}


def endpoint(name: str, settings: Settings, base: str = "", format: str = "") -> Endpoint:
    """`PROVIDER/MODEL`, or a model whose name says where it is; `base` and `format` for a server of one's own."""
    first, sign, rest = name.partition("/")
    known = _addresses(settings)
    provider, model = (first, rest) if sign and (first in known or base) else (_guess_provider(name, base), name)
    if not model or (not base and provider not in known):
        raise UsageError(f"{name!r} names no model.", f"Write PROVIDER/MODEL; providers: {', '.join(known)}.")
    address = base or known[provider]
    if urlsplit(address).scheme not in {"http", "https"}:
        raise BadSetting(f"{address!r} is no address of a provider.", "Write http://host:port or https://host.")
    plain = address.rstrip("/").removesuffix("/v1").removesuffix("/v1beta")
    return Endpoint(provider, model, format or _FORMATS.get(provider, "chat"), plain)


def transport(where: Endpoint, patience: float) -> Http:
    """The way there, with the provider's key out of the environment."""
    return Http(where.url, where.headers(key_of(where.provider)), patience)


def _addresses(settings: Settings) -> dict[str, str]:
    found = {name: settings.text(f"gateway.{name}_url") for name in _FORMATS}
    for pair in settings.patterns("gateway.upstreams"):
        name, _, url = pair.partition("=")
        found[name.strip()] = url.strip()
    return found


def _guess_provider(name: str, base: str) -> str:
    found = find_model(name).provider
    if not found and base:
        return "openai"
    return found
