"""Logs say what happened and never what was said."""

from __future__ import annotations

import io
import json
import logging

import pytest
from tests.gateway.stage import Stage, play
from tests.gateway.test_proxy import CHAT, Failing

from laconic.gateway.logs import JsonLogFormatter, to
from laconic.gateway.scripted_upstream import ScriptedAnswer


def test_a_request_leaves_one_line_without_its_content() -> None:
    stream = io.StringIO()
    to(stream)

    async def scene(where: Stage) -> None:
        await where.post("/v1/messages", CHAT.replace(b"caf", b"SECRET-TEXT"), x_api_key="SECRET-KEY")

    play(scene, lambda _: ScriptedAnswer((b'{"SECRET-ANSWER": 1}',)), Failing(ValueError("SECRET-TEXT in a message")))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["a request passes unchanged", "answered"]
    assert lines[0]["failure"] == "ValueError"
    assert (lines[1]["status"], lines[1]["format"]) == (200, "anthropic")
    assert "SECRET" not in stream.getvalue()


@pytest.mark.parametrize("text", ["a\nb", '"}\n{"event":"forged"}', "\x1b[31m\x00"])
def test_a_line_stays_one_line(text: str) -> None:
    record = logging.LogRecord("laconic.gateway", logging.INFO, "", 0, text, None, None)
    written = JsonLogFormatter().format(record)
    assert "\n" not in written
    assert json.loads(written)["event"] == text
