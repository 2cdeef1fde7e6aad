"""Files are parsed in child processes, and no file can take the others with it."""

from __future__ import annotations

from laconic.index.content_record import ContentRecord, read_content
from laconic.index.parse.pool import ParseLimits, ParsePool
from laconic.records import ParseFailure

GOOD = b"def f():\n    return g()\n"


def test_the_pool_says_what_parsing_in_process_says() -> None:
    files = [(f"m{number}.py", GOOD + b"x = %d\n" % number) for number in range(200)]
    with ParsePool(2) as pool:
        told = dict(pool.parse_many(files))
    assert told == {path: read_content(path, data) for path, data in files}


def test_files_over_the_limits_fail_with_a_reason_and_the_rest_is_parsed() -> None:
    files = [
        ("big.py", b"x = 1\n" * 300),
        ("long.py", b"x = '" + b"a" * 600 + b"'\n"),
        ("bin.py", b"a\0b"),
        ("ok.py", GOOD),
    ]
    with ParsePool(1, ParseLimits(max_bytes=1000, max_line=500)) as pool:
        told = dict(pool.parse_many(files))
    assert told["big.py"] == ParseFailure("larger than 1000 bytes")
    assert told["long.py"] == ParseFailure("a line longer than 500 bytes")
    assert told["bin.py"] == ParseFailure("binary")
    assert isinstance(told["ok.py"], ContentRecord)


def test_a_parser_that_takes_too_long_is_killed_and_the_rest_goes_to_a_new_one() -> None:
    slow = b"f(" * 20_000 + b"\n" + b"class A: pass\n" * 40_000
    with ParsePool(1, ParseLimits(max_bytes=10_000_000, max_line=1_000_000, seconds=0.01)) as pool:
        told = dict(pool.parse_many([("slow.py", slow)]))
    assert told["slow.py"] == ParseFailure("took longer than 0.01 seconds")
    with ParsePool(1) as pool:
        assert isinstance(dict(pool.parse_many([("ok.py", GOOD)]))["ok.py"], ContentRecord)


def test_a_pool_that_is_left_early_ends_its_children_and_can_be_used_again() -> None:
    files = [(f"m{number}.py", GOOD) for number in range(500)]
    with ParsePool(2) as pool:
        first = pool.parse_many(files)
        next(first)
        first.close()
        assert len(dict(pool.parse_many(files))) == 500


def test_one_small_file_needs_no_child_process() -> None:
    with ParsePool(1) as pool:
        assert pool.parse_one("a.py", GOOD) == read_content("a.py", GOOD)
        assert pool.parse_one("a.py", b"\0") == ParseFailure("binary")
