"""No file, however made, hangs or crashes the parser."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from laconic.index.content_record import ContentRecord
from laconic.index.languages import all_languages
from laconic.index.parse import language_of, parse
from laconic.index.parse.pool import ParseLimits, ParsePool
from laconic.records import ParseFailure

CORPUS = Path(__file__).parents[2] / "corpus" / "parse"
COUNT = 200


def _endings() -> list[str]:
    return [
        *(f"a{language.extensions[0]}" for language in all_languages().values() if language.extensions),
        *(language.filenames[0] for language in all_languages().values() if language.filenames),
    ]


def _nasty(kind: int, luck: random.Random, sample: bytes) -> bytes:
    soup = [
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b'"',
        b"'",
        b"`",
        b"\\",
        b"#",
        b"//",
        b"/*",
        b"*/",
        b"\n",
        b" ",
    ]
    words = [
        b"class",
        b"def",
        b"fn",
        b"if",
        b"x",
        b"return",
        b"=",
        b":",
        b";",
        b",",
        b"@",
        b"$",
        b"0x",
        b"\xff",
        b"\xc3\x28",
    ]
    makers: list[Callable[[], bytes]] = [
        lambda: b"x",
        lambda: luck.choice(soup) * 5000,
        lambda: b"".join(luck.choice(soup + words) for _ in range(4000)),
        lambda: luck.randbytes(6000).replace(b"\0", b"0"),
        lambda: sample[: luck.randrange(1, len(sample))] * 3,
        lambda: b"\n".join(line[luck.randrange(1 + len(line)) :] for line in sample.split(b"\n")),
        lambda: b"f(" * 3000 + sample,
        lambda: b"a" * 40_000,
        lambda: b"\xef\xbb\xbf" + sample.replace(b"\n", b"\r\n"),
        lambda: b"\n" * 5000 + b"\t" * 5000,
        lambda: sample.decode().encode("utf-16"),
        lambda: b"",
    ]
    return makers[kind % len(makers)]()


@pytest.fixture(scope="module")
def hostile() -> list[tuple[str, bytes]]:
    luck = random.Random(20)
    samples = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    names = _endings()
    return [
        (f"{number}/{names[number % len(names)]}", _nasty(number // len(names) + number, luck, luck.choice(samples)))
        for number in range(COUNT)
    ]


def test_two_hundred_hostile_files_each_have_an_outcome(hostile: list[tuple[str, bytes]]) -> None:
    with ParsePool(2, ParseLimits(seconds=5)) as pool:
        told = dict(pool.parse_many(hostile))
        assert isinstance(pool.parse_one("a.py", b"x = 1\n"), ContentRecord)
    assert told.keys() == {path for path, _ in hostile}
    failed = {path: each.reason for path, each in told.items() if isinstance(each, ParseFailure)}
    assert all("binary" in why or "longer than" in why for why in failed.values()), failed


def test_what_is_told_about_a_hostile_file_stays_inside_the_file(hostile: list[tuple[str, bytes]]) -> None:
    for path, data in hostile:
        language = language_of(path, data)
        if language is None or not language.safe:
            continue
        parsed = parse(path, data)
        for each in parsed.definitions:
            assert 1 <= each.span.start <= each.line <= each.span.end <= max(1, parsed.lines + 1)
            assert -1 <= each.parent < len(parsed.definitions)
        for use in parsed.references:
            assert 1 <= use.line <= parsed.lines
            assert -1 <= use.scope < len(parsed.definitions)
