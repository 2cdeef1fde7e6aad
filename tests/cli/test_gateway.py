"""What the settings say about conversations holds in the gateway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laconic.cli.commands.gateway import engine
from laconic.config import load
from laconic.exchange.caller import Caller
from laconic.wire.formats import format_named
from laconic.wire.parsed_request import parse

LOG = "\n".join(f"12:00:{n % 60:02} INFO step {n} of the build finished without a word" for n in range(400))
MESSAGES = [
    {"role": "user", "content": "Mend the build."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": LOG}]},
]


@pytest.mark.parametrize("enabled", [True, False])
def test_conversations_are_left_alone_when_a_setting_says_so(tmp_path: Path, enabled: bool) -> None:
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": MESSAGES}).encode()
    kept = engine(load({"cache_dir": str(tmp_path), "context.enabled": enabled}, environ={}, file=tmp_path / "none"))
    sent = kept.prepare(Caller("s", "a", "m"), parse(format_named("anthropic"), body)).body
    assert (sent == body) is not enabled
