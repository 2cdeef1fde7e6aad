"""Find options in a client's command-line arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def options(args: Sequence[str], *names: str) -> Iterator[tuple[int, int, str]]:
    """Each use of an option: where it begins, where it ends, and its value; words after `--` are not options."""
    at = 0
    while at < len(args) and args[at] != "--":
        word, size = args[at], 1
        for name in names:
            if word == name and at + 1 < len(args):
                size = 2
                yield at, at + size, args[at + 1]
            elif word.startswith(f"{name}="):
                yield at, at + size, word.removeprefix(f"{name}=")
            elif len(name) == 2 and word.startswith(name) and len(word) > 2:  # -cVALUE
                yield at, at + size, word.removeprefix(name)
        at += size


def last_value(args: Sequence[str], *names: str) -> str:
    """The value of the last use; empty when there is none."""
    values = []
    for _, _, value in options(args, *names):
        values.append(value)
    if values:
        return values[-1]
    return ""


def has_option(args: Sequence[str], name: str) -> bool:
    """Whether an option is there, with or without a value."""
    return has_flag(args, name) or any(word.startswith(f"{name}=") for word in _before_dashes(args))


def has_flag(args: Sequence[str], name: str) -> bool:
    return name in _before_dashes(args)


def _before_dashes(args: Sequence[str]) -> Sequence[str]:
    if "--" in args:
        return args[: args.index("--")]
    return args
