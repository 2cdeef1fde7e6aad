"""Headroom as a policy: where it is not installed it is left out, and its requests carry the client's cache marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laconic.tokens.count import counter
from laconic_benchmarks.peers.headroom import HeadroomProcess, _mark_alike
from laconic_benchmarks.replay import _peers


def _result(text: str, *, marked: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t", "content": text}
    if marked:
        block["cache_control"] = {"type": "ephemeral"}
    return {"role": "user", "content": [block]}


def test_what_is_not_installed_is_not_compared(tmp_path: Path) -> None:
    with HeadroomProcess(tmp_path) as headroom:
        assert headroom.version == ""
        assert list(_peers(counter(), headroom)) == ["context editing at 100k", "results older than 10 masked"]


def test_marks_stand_where_the_client_set_them_and_nowhere_else() -> None:
    came = [{"role": "user", "content": "go"}, _result("long"), _result("long", marked=True)]
    sent = [{"role": "user", "content": "go"}, _result("short", marked=True), _result("short")]
    assert _mark_alike(sent, came) == [
        {"role": "user", "content": "go"},
        _result("short"),
        _result("short", marked=True),
    ]
