"""A line is taken apart into its simple commands, and says so when it cannot be understood."""

from __future__ import annotations

import pytest

from laconic.agent.command_line import understand


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("grep 'sudo x' notes.md", ["grep sudo x notes.md"]),
        ("A=1 B=2 make  all|tee x && (cd y; ls)", ["A=1 B=2 make all", "tee x", "cd y", "ls"]),
        ("timeout -s KILL 5 make", ["timeout -s KILL 5 make", "make"]),
        ("env A=1 nice -n 3 make", ["env A=1 nice -n 3 make", "A=1 nice -n 3 make", "A=1 make"]),
        ("sh -c 'a; b'", ["sh -c a; b", "a", "b"]),
        ("a\nb &\nc", ["a", "b", "c"]),
    ],
)
def test_a_line_is_taken_apart(line: str, commands: list[str]) -> None:
    found = understand(line)
    assert [command.text for command in found.commands] == commands
    assert found.is_understood


@pytest.mark.parametrize(
    "line",
    [
        "$X",
        "a $X",
        "a `b`",
        "a 'b",
        "a=b; c",
        "export a=b",
        "(a",
        "a $'b'",
        "eval $X",
        "ec*o",
        "(" * 9000 + "a" + ")" * 9000,
        "env " * 9000 + "a",
    ],
    ids=lambda line: line[:9],
)
def test_what_only_running_it_would_tell_is_not_understood(line: str) -> None:
    assert not understand(line).is_understood


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("a > x", True),
        ("a 2> x", True),
        ("a >| x", True),
        ("a &> x", True),
        ("a >& x", True),
        ("sh -c 'a > x'", True),
        ("a > /dev/null 2>&1", False),
        ("a < x", False),
        ("a 2>&1 | b", False),
        ("a '>' x", False),
    ],
)
def test_output_files_are_seen(line: str, writes: bool) -> None:
    assert understand(line).has_output_file is writes


@pytest.mark.parametrize("piece", ["$(", "if a; then ", "[[ a ", 'x "$(y ', "case x in a) ", "cat <<A\n", "$({[(<"])
def test_a_hostile_line_is_not_understood(piece: str) -> None:
    assert not understand(piece * (130_000 // len(piece))).is_understood


def test_a_line_that_is_too_long_to_run_is_not_understood() -> None:
    assert understand("ls; " * 32_000).is_understood
    assert not understand("ls; " * 33_000).is_understood
