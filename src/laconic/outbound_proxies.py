"""The proxies of a network: which one a program uses for an address, by the variables that it reads. Pure.

Programs read the same variables differently: in another order, and with another idea of what NO_PROXY covers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Final

import msgspec

from laconic.errors import BadSetting
from laconic.local_addresses import is_loopback

_ADDRESS: Final = re.compile(r"(https?)://(?:[^/@]*@)?(?:\[([^\]]+)\]|([^/:?#]+))(?::(\d+))?", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_PORTS: Final = {"http": 80, "https": 443}


class ProxyRules(msgspec.Struct, frozen=True):
    """In which variables a program looks, of which the first that is not empty counts, and how it reads NO_PROXY."""

    https: tuple[str, ...] = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    http: tuple[str, ...] = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    bypass: tuple[str, ...] = ("no_proxy", "NO_PROXY")
    knows_networks: bool = False  # `10.0.0.0/8` in NO_PROXY covers the addresses in it
    strict: bool = False  # `corp.example` does not cover `llm.corp.example`, `*.corp.example` and `host:port` count


PYTHON: Final = ProxyRules()


class _Address(msgspec.Struct, frozen=True):
    scheme: str = ""
    host: str = ""
    port: int = 0


def _parse(url: str) -> _Address:
    found = _ADDRESS.match(url)
    if found is None:
        return _Address()
    scheme = found[1].lower()
    return _Address(scheme, (found[2] or found[3]).lower(), int(found[4] or _PORTS[scheme]))


class OutboundProxies(msgspec.Struct, frozen=True):
    """The proxies of one program."""

    https: str = ""
    http: str = ""
    bypass: str = ""
    rules: ProxyRules = PYTHON

    @classmethod
    def read(cls, variables: Mapping[str, str], rules: ProxyRules = PYTHON) -> OutboundProxies:
        return cls(
            https=_first(variables, rules.https),
            http=_first(variables, rules.http),
            bypass=_first(variables, rules.bypass),
            rules=rules,
        )

    def find(self, url: str) -> str | None:
        """The proxy through which we reach an address as the program would; never for this machine."""
        if is_loopback(_parse(url).host):
            return None
        return self.chosen(url)

    def chosen(self, url: str) -> str | None:
        """The proxy that the program itself would choose, for this machine too."""
        address = _parse(url)
        proxy = self.http
        if address.scheme == "https":
            proxy = self.https
        if not proxy or self._is_bypassed(address):
            return None
        if not _SCHEME.match(proxy):
            proxy = f"http://{proxy}"
        if not proxy.startswith(("http://", "https://")):
            raise BadSetting(
                f"The proxy {proxy.partition('://')[0]}://... is not an HTTP proxy.",
                "Set HTTPS_PROXY to an http:// address.",
            )
        return proxy

    def _is_bypassed(self, address: _Address) -> bool:
        if self.bypass.strip() == "*":
            return True
        separator = r"[,\s]+" if self.rules.strict else r"\s*,\s*"
        names = re.split(separator, self.bypass.strip().lower())
        return any(self._covers(name, address) for name in names if name)

    def _covers(self, name: str, address: _Address) -> bool:
        if self.rules.strict:
            return _covers_strictly(name, address)
        plain = name.removeprefix(".")
        if address.host == plain or address.host.endswith(f".{plain}"):
            return True
        return self.rules.knows_networks and _is_inside(address.host, name)


def _first(variables: Mapping[str, str], names: tuple[str, ...]) -> str:
    for name in names:
        if variables.get(name, "").strip():
            return variables[name].strip()
    return ""


def _covers_strictly(name: str, address: _Address) -> bool:
    found = re.fullmatch(r"(.+):(\d+)", name)
    if found is not None:
        name = found[1]
        if int(found[2]) != address.port:
            return False
    if name[0] in ".*":
        return address.host.endswith(name.removeprefix("*"))
    return address.host == name


def _is_inside(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
