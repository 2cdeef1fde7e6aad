"""Each program reads the variables of a proxy in its own way, which was measured with the programs."""

from __future__ import annotations

import pytest

from laconic.clients.aider import Aider
from laconic.clients.claude import Claude
from laconic.clients.codex import Codex
from laconic.clients.gemini import Gemini
from laconic.clients.opencode import Opencode
from laconic.errors import BadSetting
from laconic.outbound_proxies import PYTHON, OutboundProxies, ProxyRules

HOST = "https://llm.corp.example/v1"
PROXY = "http://proxy:3128"
RULES = {
    "claude": Claude.proxy_rules,
    "codex": Codex.proxy_rules,
    "opencode": Opencode.proxy_rules,
    "gemini": Gemini.proxy_rules,
    "aider": Aider.proxy_rules,
}
# What NO_PROXY says, and which programs then go to the host directly.
BYPASSED = {
    "llm.corp.example": set(RULES),
    "x.example, LLM.CORP.EXAMPLE": set(RULES),
    "corp.example": {"claude", "codex", "opencode", "aider"},
    ".corp.example": set(RULES),
    "*.corp.example": {"gemini"},
    "orp.example": set(),
    "llm.corp.example:443": {"gemini"},
    "llm.corp.example:8443": set(),
    "x.example llm.corp.example": {"gemini"},
    "10.0.0.0/8": set(),
    "*": set(RULES),
}
# Variables, and which programs then go through the proxy.
LED = {
    "HTTPS_PROXY": set(RULES),
    "https_proxy": set(RULES),
    "HTTP_PROXY": {"claude", "gemini"},
    "http_proxy": {"claude", "gemini"},
    "ALL_PROXY": {"codex", "aider"},
    "all_proxy": {"codex", "aider"},
}


@pytest.mark.parametrize("says", BYPASSED)
@pytest.mark.parametrize("program", RULES)
def test_what_a_name_covers(says: str, program: str) -> None:
    proxies = OutboundProxies.read({"HTTPS_PROXY": PROXY, "NO_PROXY": says}, RULES[program])
    assert (proxies.find(HOST) is None) == (program in BYPASSED[says])


@pytest.mark.parametrize("name", LED)
@pytest.mark.parametrize("program", RULES)
def test_which_variables_count(name: str, program: str) -> None:
    proxies = OutboundProxies.read({name: PROXY}, RULES[program])
    assert (proxies.find(HOST) == PROXY) == (program in LED[name])


@pytest.mark.parametrize(
    ("program", "expected"),
    [("claude", "lower"), ("codex", "upper"), ("opencode", "lower"), ("gemini", "upper"), ("aider", "lower")],
)
def test_which_spelling_wins(program: str, expected: str) -> None:
    given = {"HTTPS_PROXY": "http://upper", "https_proxy": "http://lower"}
    assert OutboundProxies.read(given, RULES[program]).find(HOST) == f"http://{expected}"


def test_networks_are_names_of_addresses_to_codex() -> None:
    given = {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}
    assert OutboundProxies.read(given, RULES["codex"]).find("https://10.1.2.3:8443") is None
    assert OutboundProxies.read(given, PYTHON).find("https://10.1.2.3:8443") == PROXY


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://localhost:1/v1", "http://[::1]:1"])
def test_we_never_send_what_is_for_this_machine_through_a_proxy(address: str) -> None:
    proxies = OutboundProxies.read({"HTTP_PROXY": PROXY})
    assert proxies.find(address) is None
    assert proxies.chosen(address) == PROXY


def test_a_proxy_may_lack_its_scheme() -> None:
    assert OutboundProxies.read({"HTTPS_PROXY": "proxy:3128"}).find(HOST) == PROXY


def test_a_proxy_of_another_kind_is_named() -> None:
    with pytest.raises(BadSetting, match="socks5"):
        OutboundProxies.read({"ALL_PROXY": "socks5://u:secret@proxy:1"}).find(HOST)


def test_an_empty_variable_is_none() -> None:
    rules = ProxyRules(https=("A", "B"))
    assert OutboundProxies.read({"A": " ", "B": PROXY}, rules).find(HOST) == PROXY
