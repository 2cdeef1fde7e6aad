"""A table goes into TOML and out again, and nothing else changes."""

from __future__ import annotations

import pytest

from laconic.clients.toml_tables import parse, put, take
from laconic.errors import UsageError

AT = ("mcp_servers", "laconic")
ENTRY = {"command": "laconic", "args": ["mcp"]}

FILE = '''# my settings
model = "gpt-5"   # the big one

[mcp_servers.files]
command = "files"
args = [
  "[not.a.table]",
  "b", # two
]

# notes on the terminal
[tui]
motto = """
[mcp_servers.laconic]
command = "no"
"""
'''


@pytest.mark.parametrize("text", ["", FILE, FILE.rstrip(), "a = 1\n\n\n", FILE.replace("\n", "\r\n")])
def test_a_table_goes_in_and_out(text: str) -> None:
    """Comments and values over several lines stay as they were; a second time nothing changes."""
    within = put(text, AT, ENTRY)
    assert parse(within)["mcp_servers"]["laconic"] == ENTRY
    assert within.startswith(text.rstrip())
    assert put(within, AT, ENTRY) == within
    assert take(within, AT).rstrip() == text.rstrip()


def test_other_keys_of_the_table_stay_when_the_command_changes() -> None:
    text = put(FILE, AT, {"command": "old", "args": ["a", "b"]}) + "tool_timeout_sec = 5 # mine\n"
    text += '\n[mcp_servers.laconic.env]\nX = "1"\n\n# theirs\n[profiles.a]\nmodel = "b"\n'
    within = put(text, AT, ENTRY)
    assert parse(within)["mcp_servers"]["laconic"] == {**ENTRY, "tool_timeout_sec": 5, "env": {"X": "1"}}
    assert "tool_timeout_sec = 5 # mine\n" in within
    gone = take(within, AT)
    assert parse(gone) == {**parse(FILE), "profiles": {"a": {"model": "b"}}}
    assert "# theirs\n[profiles.a]" in gone
    assert "# notes on the terminal\n[tui]" in gone


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { files = { command = "f", env = { "A.B" = "1" } } } # mine\nmodel = "m"\n',
        "mcp_servers = {}\n\n[tui]\nmotto = 'x'\n",
        'mcp_servers = { files = { args = [\n  "a", # one\n] } }\n',
    ],
)
def test_a_table_goes_into_an_inline_table_and_out_again(text: str) -> None:
    within = put(text, AT, ENTRY)
    assert parse(within)["mcp_servers"] == {**parse(text)["mcp_servers"], "laconic": ENTRY}
    assert put(within, AT, ENTRY) == within
    assert parse(take(within, AT)) == parse(text)
    assert ("# mine" in within) == ("# mine" in text)


@pytest.mark.parametrize("text", ["= 1", 'mcp_servers.laconic.command = "x"\n'])
def test_a_layout_that_is_not_understood_is_refused_and_not_broken(text: str) -> None:
    with pytest.raises(UsageError):
        put(text, AT, ENTRY)
