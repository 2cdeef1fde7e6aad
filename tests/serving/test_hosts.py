"""Which names a listener answers to, and which pages may ask."""

from __future__ import annotations

import pytest

from laconic.serving.hosts import AllowedHosts, allowed_hosts
from laconic.serving.listen import ListenAddress, listen


def _found(hosts: AllowedHosts, **headers: str) -> str:
    return hosts.find_problem([(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()])


def test_names_of_the_setting_are_ours() -> None:
    """A container asks for the host under a name of its own; case does not matter."""
    hosts = allowed_hosts(listen("8787", "", "", "", insecure=False), ["Host.Docker.Internal", "[fd00::1]"])
    for host in ("host.docker.internal:8787", "HOST.DOCKER.INTERNAL", "[fd00::1]:8787", "localhost:1", "127.0.0.1"):
        assert not _found(hosts, host=host), host
    assert "gateway.hosts" in _found(hosts, host="docker.internal:8787")
    assert "gateway.hosts" in _found(hosts, host="x.host.docker.internal")


def test_the_address_that_it_listens_on_is_its_name() -> None:
    hosts = allowed_hosts(ListenAddress("127.0.0.9", 80))
    assert not _found(hosts, host="127.0.0.9")
    assert _found(hosts, host="127.0.0.8")


def test_beyond_this_machine_any_name_may_be_ours_unless_they_are_listed() -> None:
    """Whoever gets in has the token there; a malformed name is refused all the same."""
    anywhere = ListenAddress("0.0.0.0", 80, "word", insecure=True)
    assert not _found(allowed_hosts(anywhere), host="team.example")
    assert not _found(allowed_hosts(anywhere))
    for host in ("team.example/x", "a b", "x?y", "a@b", "[::1", "x:999999"):
        assert _found(allowed_hosts(anywhere), host=host), host
    listed = allowed_hosts(anywhere, ["team.example"])
    assert not _found(listed, host="team.example:443")
    assert _found(listed, host="evil.example")


def test_pages_of_listed_names_may_ask() -> None:
    """A proxy in front may ask for us under another name than the page has."""
    hosts = allowed_hosts(ListenAddress("127.0.0.1", 80), ["team.example"])
    assert not _found(hosts, host="127.0.0.1:80", origin="https://team.example")
    assert not _found(hosts, host="127.0.0.1:80", origin="https://team.example", sec_fetch_site="cross-site")
    for origin in ("https://evil.example", "https://team.example.evil.example", "null", "team.example", "http://["):
        assert _found(hosts, host="127.0.0.1:80", origin=origin), origin


def test_a_page_of_our_own_may_ask_beyond_this_machine_too() -> None:
    hosts = allowed_hosts(ListenAddress("0.0.0.0", 80, "word", insecure=True))
    assert not _found(hosts, host="team.example:80", origin="http://team.example:80")
    assert _found(hosts, host="team.example:80", origin="http://team.example:81")


@pytest.mark.parametrize(
    ("headers", "fine"),
    [
        ({"sec_fetch_site": "none"}, True),
        ({"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}, True),
        ({"sec_fetch_mode": "cors"}, True),  # what Node's fetch sends
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}, True),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}, False),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}, False),
        ({"sec_fetch_site": "same-site"}, False),
    ],
)
def test_what_a_browser_says_of_a_request_without_an_origin(headers: dict[str, str], fine: bool) -> None:
    assert (_found(AllowedHosts(), host="127.0.0.1:80", **headers) == "") is fine


def test_a_message_repeats_nothing_that_a_terminal_would_obey() -> None:
    told = _found(AllowedHosts(), host="evil\x1b[2J" + "x" * 1000)
    assert "\x1b" not in told
    assert len(told) < 300
