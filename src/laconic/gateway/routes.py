"""Which provider a request goes to, and what it asks for. Providers are configured; a request chooses among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from laconic.errors import BadSetting, UsageError

_PREFIX: Final = r"(?:/[\w~@%+-][\w.~@%+-]*)*"  # gateways and clouds put their own folders before the provider's path
_GENERATE: Final = {
    "anthropic": re.compile(_PREFIX + "/v1/messages"),
    "chat": re.compile(_PREFIX + "/chat/completions"),
    "responses": re.compile(_PREFIX + "/responses"),
}
_GEMINI: Final = re.compile(_PREFIX + r"/models/([\w.-]+):(?:streamGenerateContent|generateContent)")
_GEMINI_PATH: Final = re.compile(r"/v1(?:beta|alpha)")
_PATH: Final = re.compile(r"/[!-~]*")  # printable ASCII without space: nothing that could end a header


class Upstreams(msgspec.Struct, frozen=True):
    """Where each provider is."""

    anthropic: str
    openai: str
    gemini: str
    named: Mapping[str, str] = {}


class Target(msgspec.Struct, frozen=True):
    """Where a request goes."""

    upstream: str  # anthropic, openai, gemini, or a configured name
    base: str
    path: str  # as the provider is asked for it
    format: str = ""  # empty: not a conversation
    model: str = ""  # where the path names it


def upstreams(anthropic: str, openai: str, gemini: str, named: str) -> Upstreams:
    """From settings; `named` is `name=url, name=url`."""
    table = {}
    for pair in filter(None, (item.strip() for item in named.split(","))):
        name, sign, url = pair.partition("=")
        if not sign or not re.fullmatch(r"[a-z][a-z0-9_-]*", name.strip()):
            raise BadSetting(f"gateway.upstreams: {pair!r} is no name=url.", "Write: ollama=http://127.0.0.1:11434")
        table[name.strip()] = base_url(url)
    return Upstreams(base_url(anthropic), base_url(openai), base_url(gemini), table)


def base_url(url: str) -> str:
    """An address without its final slash and version, which the request's path carries."""
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{url!r} is no address of a provider.", "Write http://host:port or https://host.")
    return url.strip().rstrip("/").removesuffix("/v1")


def target(known: Upstreams, method: str, path: str, headers: Mapping[str, str]) -> Target:
    """Where a request goes: by a configured name in front of its path, else by what the path looks like."""
    if not _PATH.fullmatch(path):
        raise UsageError("The path of the request is not a plain one.", "Escape what is not printable ASCII.")
    first, _, rest = path[1:].partition("/")
    name, base = _provider(known, path, headers)
    if first in known.named:
        name, base, path = first, known.named[first], "/" + rest
    if method == "POST":
        for format, pattern in _GENERATE.items():
            if pattern.fullmatch(path):
                return Target(name, base, path, format)
        if match := _GEMINI.fullmatch(path):
            return Target(name, base, path, "gemini", match[1])
    return Target(name, base, path)


def _provider(known: Upstreams, path: str, headers: Mapping[str, str]) -> tuple[str, str]:
    if path.startswith("/v1/messages") or _is_anthropic(headers):
        return "anthropic", known.anthropic
    if _GEMINI_PATH.match(path) or _GEMINI.fullmatch(path) or "x-goog-api-key" in headers:
        return "gemini", known.gemini
    return "openai", known.openai


def _is_anthropic(headers: Mapping[str, str]) -> bool:
    """Whether the key or the headers are Anthropic's: nobody else may get them."""
    if {"anthropic-version", "anthropic-beta", "x-api-key"} & {name.lower() for name in headers}:
        return True
    return headers.get("authorization", "").removeprefix("Bearer ").startswith("sk-ant-")
