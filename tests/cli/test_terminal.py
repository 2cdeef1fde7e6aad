"""Colours and progress bars are for terminals."""

from __future__ import annotations

from io import StringIO

from laconic.cli.terminal import ProgressBar, format_seconds, paint


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bar_says_how_long_it_will_take() -> None:
    clock, screen = Clock(), Terminal()
    bar = ProgressBar("files", screen, clock)
    clock.now = 10.0
    bar(100, 400)
    assert screen.getvalue() == "\r[#######.......................] 100/400 files, about 30 s left"
    bar.close()
    *_, line, blank, end = screen.getvalue().split("\r")
    assert (blank, end) == (" " * len(line), "")


def test_what_is_soon_done_shows_no_bar_and_a_pipe_never_does() -> None:
    clock, screen = Clock(), Terminal()
    bar = ProgressBar("files", screen, clock)
    clock.now = 0.5
    bar(1, 2)
    bar.close()
    assert screen.getvalue() == ""
    pipe = StringIO()
    bar = ProgressBar("files", pipe, clock)
    clock.now = 9.0
    bar(1, 2)
    assert pipe.getvalue() == ""


def test_seconds_are_words_that_people_use() -> None:
    assert [format_seconds(n) for n in (0.4, 61, 200)] == ["0 s", "61 s", "3 min"]


def test_colour_is_for_terminals_only() -> None:
    assert paint("ok", "green", Terminal()) == "\033[32mok\033[0m"
    assert paint("ok", "green", StringIO()) == "ok"
