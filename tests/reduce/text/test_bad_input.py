"""Hostile input is normal: binary, NUL bytes, one endless line, broken UTF-8, very much of it."""

from __future__ import annotations

import random

import pytest

from laconic.reduce.text import detect, reduce_text
from laconic.tokens.count import counter

COST = counter()


def test_binary_data_becomes_its_readable_stretches() -> None:
    noise = random.Random(7).randbytes(40_000)
    view = reduce_text((noise + b"\x00GNU C17 13.2.0 -O2\x00" + noise).decode("utf-8", "replace"), cost=COST)
    assert view.kind == "binary"
    assert "GNU C17" in view.text or "readable stretches" in view.text
    assert len(view.text) < 10_000


def test_stray_nul_bytes_and_broken_utf8_do_not_hide_an_error() -> None:
    raw = b"\x00starting\n" + b"progress \xff\xfe ok\n" * 300 + b"error: disk \xe2\x82 full\n"
    view = reduce_text(raw.decode("utf-8", "replace"), cost=COST)
    assert "error: disk" in view.text
    assert "\x00" not in view.text


@pytest.mark.parametrize("letter", ["x", "ab ", '{"a":', "\x1b[0m", "é"])
def test_one_line_of_300_kb_is_cut_and_says_so(letter: str) -> None:
    text = "first\n" + letter * (300_000 // len(letter)) + "\nlast error: seen"
    view = reduce_text(text, cost=COST)
    assert len(view.text) < 20_000
    assert "last error: seen" in view.text


def test_fifty_megabytes_of_log_keep_the_one_error() -> None:
    line = "2024-05-06 07:08:09 INFO [pool-3] com.example.Worker: finished job 123456 with state DONE\n"
    half = line * (25_000_000 // len(line))
    view = reduce_text(
        half + "2024-05-06 07:08:10 ERROR [pool-3] com.example.Worker: disk is full\n" + half, cost=COST
    )
    assert "disk is full" in view.text
    assert len(view.text) < 5_000


def test_deeply_nested_and_truncated_json_is_survived() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    assert reduce_text(deep, cost=COST).text
    cut = '{"items": [' + '{"name": "a", "value": 1}, ' * 500
    assert '"name"' in reduce_text(cut, cost=COST).text


@pytest.mark.parametrize("text", ["", "\x00", "\ufffd" * 100, "\ud800 lone", "\r\r\r", "\x08\x08a"])
def test_odd_scraps_have_a_kind_and_a_view(text: str) -> None:
    assert detect(text)
    assert isinstance(reduce_text(text, cost=COST).text, str)
