"""What `wrap` asks of every client: the hosts that it would use, and the command that goes through the gateway."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from laconic.errors import Unroutable
from laconic.outbound_proxies import PYTHON, OutboundProxies, ProxyRules

LOOPBACK: Final = "127.0.0.1"  # where the gateway listens
FOLDER: Final = "{files-of-this-run}"
_NAME: Final = re.compile(r"[^a-z0-9_-]+")
_OURS: Final = frozenset({"laconic", "healthz", "readyz", "metrics"})  # paths of the gateway itself


class LaunchContext(msgspec.Struct, frozen=True):
    """What a client would see if it were started now."""

    folder: Path
    environment: Mapping[str, str]
    args: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return Path(self.environment.get("HOME") or Path.home())

    def variable(self, name: str) -> str:
        return self.environment.get(name, "").strip()


class DefaultUpstreams(msgspec.Struct, frozen=True):
    """Where the providers are when a client's configuration does not say; without a version in the path."""

    anthropic: str
    openai: str
    gemini: str


class Upstream(msgspec.Struct, frozen=True):
    """A base URL that the client uses, under the name by which the gateway knows it."""

    name: str
    url: str
    provider: str = ""  # what the client calls it

    @property
    def origin(self) -> str:
        """Scheme and host: where the gateway connects to."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def through(self, gateway: str) -> str:
        """The base URL for the client: the same path, behind our address and the upstream's name."""
        return f"{gateway}/{self.name}{urlsplit(self.url).path.rstrip('/')}"


class Launch(msgspec.Struct, frozen=True):
    """A command line, the variables that it is run with, and files that exist as long as it runs.

    Where a word names a file, FOLDER stands for the folder that the files are in.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


class WrappedClient(Protocol):
    """One client. `silence` says why a run may have sent nothing through the gateway.

    `one_shot` are the words with which it answers one prompt and ends. `proxy_rules` say how it finds the proxy of its
    network, `certificates` in which variables it finds the authorities that it trusts beside those of the system.
    """

    silence: str
    one_shot: tuple[str, ...]
    proxy_rules: ProxyRules = PYTHON
    certificates: tuple[str, ...] = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        """The base URLs that it would send requests to; `Unroutable` when that cannot be told or changed."""

    def connection_variables(self, seen: LaunchContext) -> Mapping[str, str]:
        """The variables that it has when it connects: the environment, and what its own files set."""
        return seen.environment

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        """The command that sends them to the gateway; without a gateway, only our tools are added."""


def upstream(name: str, url: str, source: str) -> Upstream:
    """An upstream with a plain name and an address that can be reached; `source` says where the address stands."""
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Unroutable(f"{source}: {url!r} is not an HTTP address.", "Write http://host:port or https://host.")
    if parts.username or parts.query or parts.fragment:
        raise Unroutable(f"{source}: the address carries more than a host and a path.", "Put keys into headers.")
    plain = _NAME.sub("-", name.lower()).strip("-_0123456789") or "provider"
    written = parts._replace(netloc=parts.netloc.lower()).geturl()  # as clients write the host into their requests
    return Upstream(f"{plain}-provider" if plain in _OURS else plain, written, name)


def bypass_proxy(variables: Mapping[str, str]) -> dict[str, str]:
    """NO_PROXY in both spellings, so that what is for this machine goes through no proxy of the network."""
    found = {}
    for name in ("NO_PROXY", "no_proxy"):
        held = variables.get(name) or variables.get(name.swapcase(), "")
        if held.strip() == "*":  # beside another name it would mean nothing
            found[name] = held
        else:
            found[name] = ",".join(filter(None, (held, LOOPBACK)))
    return found


def refuse_detour(variables: Mapping[str, str], rules: ProxyRules, gateway: str, source: str) -> None:
    """A proxy of the network would see in plain text what is for the gateway, keys too."""
    if gateway and OutboundProxies.read(variables, rules).chosen(gateway):
        raise Unroutable(
            f"With the proxy settings in {source}, requests for this machine would go through the proxy.",
            f"Add {LOOPBACK} to NO_PROXY there.",
        )


def keep_apart(found: Iterable[Upstream]) -> tuple[Upstream, ...]:
    """The same upstreams with names that differ."""
    kept: dict[str, Upstream] = {}
    for one in found:
        name, number = one.name, 2
        while name in kept:
            name, number = f"{one.name}-{number}", number + 1
        kept[name] = msgspec.structs.replace(one, name=name)
    return tuple(kept.values())
