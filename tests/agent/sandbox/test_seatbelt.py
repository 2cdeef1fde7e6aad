"""The profile for macOS says what the rules say; the last line that fits a path decides."""

from __future__ import annotations

from pathlib import Path

from laconic.agent.sandbox.rules import SandboxRules
from laconic.agent.sandbox.seatbelt import profile

HOME = Path("/Users/a")
RULES = SandboxRules(
    root=HOME / "p",
    home=HOME,
    places=(
        (Path("/etc"), "read"),
        (Path("/usr"), "read"),
        (HOME, "private"),
        (HOME / "p", "write"),
        (HOME / "p" / ".git", "read"),
        (HOME / 'p/a"b\\', "private"),
    ),
)


def test_places_follow_in_the_order_of_the_rules() -> None:
    lines = profile(RULES).splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    expected = [
        '(allow file-read* (subpath "/private/etc"))',
        '(deny file-write* (subpath "/private/etc"))',
        '(allow file-read* (subpath "/usr"))',
        '(deny file-write* (subpath "/usr"))',
        '(deny file-read* file-write* (subpath "/Users/a"))',
        '(allow file-read* (subpath "/Users/a/p"))',
        '(allow file-write* (subpath "/Users/a/p"))',
        '(allow file-read* (subpath "/Users/a/p/.git"))',
        '(deny file-write* (subpath "/Users/a/p/.git"))',
    ]
    at = lines.index(expected[0])
    assert lines[at : at + len(expected)] == expected


def test_a_name_cannot_end_its_string() -> None:
    assert '(deny file-read* file-write* (subpath "/Users/a/p/a\\"b\\\\"))' in profile(RULES)


def test_the_network_is_allowed_only_by_the_rules() -> None:
    online = SandboxRules(RULES.root, RULES.home, RULES.places, network=True)
    assert "network" not in profile(RULES)
    assert "(allow network-outbound (remote ip))" in profile(online)


def test_parentheses_are_balanced() -> None:
    assert profile(RULES).count("(") == profile(RULES).count(")")
