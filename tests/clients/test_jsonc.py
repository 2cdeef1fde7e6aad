"""Members go into JSON with comments and out again, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clients.jsonc import append, drop, parse, put, take
from laconic.errors import UsageError

AT = ("mcpServers", "laconic")
ENTRY = {"command": "laconic", "args": ["mcp", "--root", "${workspaceFolder}"]}

keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | keys | st.sampled_from(["a // b", "{", "]", ", }", '"', "/* x */"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys | st.just("mcpServers"), values, max_size=4).map(
    lambda value: {**value, "mcpServers": {}} if not isinstance(value.get("mcpServers", {}), dict) else value
)


def _layouts(value: Any) -> list[str]:
    spread = json.dumps(value, indent=2, ensure_ascii=False)
    return [
        spread + "\n",
        json.dumps(value, indent="\t"),
        json.dumps(value),
        spread.replace("\n", "\r\n"),
        "// first\n" + spread.replace("{\n", "{ // opens\n") + "\n/* last */\n",
    ]


@given(objects)
def test_an_entry_goes_in_and_out_of_any_layout(value: dict[str, Any]) -> None:
    """The meaning is the old one with the entry, then the old one again, less objects that are empty."""
    for text in _layouts(value):
        if any(mark in text for mark in ("\\u007f", "\x85", "\u2028", "\u2029")):
            continue
        within = put(text, AT, ENTRY)
        assert parse(within) == {**value, "mcpServers": {**value.get("mcpServers", {}), "laconic": ENTRY}}
        assert put(within, AT, ENTRY) == within
        after = parse(take(within, AT))
        before = {key: item for key, item in value.items() if key != "mcpServers"}
        left = {key: item for key, item in value.get("mcpServers", {}).items() if key != "laconic"}
        assert after == ({**before, "mcpServers": left} if left else before)


COMMENTED = """{
  // servers of the team
  "mcpServers": {
    "files": { "command": "files" }, // reads files
    /* and the web */
    "web": {
      "url": "http://localhost", // with a comma after it:
    }, // last
  },
  "theme": "dark"
}
"""


def test_comments_and_trailing_commas_survive() -> None:
    within = put(COMMENTED, AT, ENTRY)
    assert within.replace(
        '\n    "laconic": {\n      "command": "laconic",\n      "args": ["mcp", "--root", "${workspaceFolder}"]\n    },',
        "",
    ) == (COMMENTED)
    assert take(within, AT) == COMMENTED


def test_a_file_of_one_line_stays_one_line() -> None:
    text = '{"mcpServers": {"a": {"command": "a"}}}'
    within = put(text, AT, {"command": "b"})
    assert within == '{"mcpServers": {"a": {"command": "a"}, "laconic": {"command": "b"}}}'
    assert take(within, AT) == text


def test_an_empty_file_gets_an_object() -> None:
    assert parse(put("", AT, ENTRY)) == {"mcpServers": {"laconic": ENTRY}}
    assert take(put("", AT, ENTRY), AT).strip() == "{}"


@pytest.mark.parametrize("text", ["[]", "{", '{"a": }', "nonsense", '{"mcpServers": {"a": 1 2}}', '"text"'])
def test_what_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        put(text, AT, ENTRY)


@given(st.lists(values, min_size=1, max_size=4), values, st.booleans())
def test_an_element_goes_to_the_end_of_any_array_and_out_again(held: list[Any], new: Any, deep: bool) -> None:
    value = {"a": 1, "hooks": {"Start": held}} if deep else {"hooks": {"Start": held}, "z": [1]}
    for text in _layouts(value):
        if any(mark in text for mark in ("\\u007f", "\x85", "\u2028", "\u2029")):
            continue
        within = append(text, ("hooks", "Start"), new)
        assert parse(within)["hooks"]["Start"] == [*held, new]
        assert drop(within, ("hooks", "Start"), len(held)) == text
        left = drop(within, ("hooks", "Start"), 0)
        assert parse(left)["hooks"]["Start"] == [*held[1:], new]


def test_an_array_is_made_where_there_is_none_and_goes_when_it_is_empty() -> None:
    text = '{\n  "theme": "dark"\n}\n'
    within = append(text, ("hooks", "Start"), ENTRY)
    assert parse(within) == {"theme": "dark", "hooks": {"Start": [ENTRY]}}
    assert drop(within, ("hooks", "Start"), 0) == text
