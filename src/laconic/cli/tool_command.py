"""Any tool of the code plane as a shell command: the same answer, coloured and paged on a terminal."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from laconic.cli.terminal import ProgressBar
from laconic.config import Settings
from laconic.errors import CommandFailed, UsageError
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.tool import AGAIN, BUDGET, OFFSET, Argument, Tool
from laconic.tools import tools
from laconic.workspace.git import home
from laconic.workspace.programs import find_program

_BOLD, _DIM, _PLAIN = "\033[1m", "\033[2m", "\033[0m"
_PATH_LINE = re.compile(r"^(?:\[?[\w@~.+-][^\s]*[./][^\s]*(?:#\w+ \d+ lines\])?|\[.*\])$")
_PLACES = ("targets", "path", "file")  # arguments that may name a file or a folder
_PLACE = re.compile(r"[^\s:#*?]+")  # the path in `path`, `path:40-80`, `path#L40` and `path::Symbol`
_NUMBER = re.compile(r"^( *)(\d+(?:-\d+)?\??)(?=[\t ])")
_WIDTH = 120  # columns of a tool's help


class ToolCommand:
    """A command made from a tool's own declaration."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.__doc__ = f"{tool.summary}.\n\n{textwrap.fill(tool.help, _WIDTH)}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        for argument in self._tool.arguments:
            _add(parser, self._tool, argument)
        parser.add_argument("--budget", metavar="TOKENS", help=BUDGET.explained)
        parser.add_argument("--offset", type=int, default=OFFSET.default, help=OFFSET.explained)
        parser.add_argument("--json", action="store_true", help="compact JSON instead of text")
        parser.add_argument("--root", type=Path, help="the workspace (default: the repository around this folder)")

    def run(self, args: argparse.Namespace, settings: Settings) -> int:
        given: dict[str, object] = {"format": "json" if args.json else "text", AGAIN.name: True}
        for name in [*(argument.name for argument in self._tool.arguments), "budget", "offset"]:
            value = getattr(args, name)
            if isinstance(value, list) and name in self._tool.fields and self._tool.fields[name].kind == "text":
                value = " ".join(value)
            if value not in (None, [], False):
                given[name] = _read_words(value)
        if args.root is not None and not args.root.is_dir():
            raise UsageError(f"{args.root} is not a folder.", "Name the folder of a code base with --root.")
        here = Path.cwd()
        root = args.root or home(here)
        if args.root is None and root != here:
            given |= {name: _from_top(given[name], here, root) for name in _PLACES if name in given}
        flags = []
        for name in ("root", "config"):
            if (value := getattr(args, name, None)) is not None:
                flags += [f"--{name}", str(value)]
        bar = ProgressBar("files indexed")
        runtime = ToolRuntime(root, settings, tools(), shell=True, flags=flags, progress=bar)
        try:
            reply = runtime.call(self._tool.name, given)
        finally:
            bar.close()
            runtime.close()
        if reply.failed:
            print(reply.text, end="", file=sys.stderr)
            return 2
        _show(reply.text, root, plain=args.json)
        return 0


def _read_words(value: object) -> object:
    """Words of the command line; a file name that is not UTF-8 as our listings show it."""
    if isinstance(value, list):
        return [_read_words(each) for each in value]
    if isinstance(value, str):
        return os.fsencode(value).decode("utf-8", "backslashreplace")
    return value


def _from_top(value: object, here: Path, root: Path) -> object:
    """A place that is named from the current folder, as the workspace names it."""
    if isinstance(value, list):
        return [_from_top(each, here, root) for each in value]
    if isinstance(value, str):
        name = _PLACE.match(value)
    else:
        name = None
    if name is None or not (here / name[0]).exists():
        return value
    return f"{here.relative_to(root).as_posix()}/{value}"


def _add(parser: argparse.ArgumentParser, tool: Tool, argument: Argument) -> None:
    """One argument of a tool: required ones by their place, others by a flag; the first also by its place."""
    said = argument.explained or argument.help
    flag = f"--{argument.name.replace('_', '-')}"
    if argument.kind == "flag":
        parser.add_argument(flag, action="store_true", help=said)
        return
    options: dict[str, object] = {"help": said}
    if argument.kind == "number":
        options["type"] = int
    if argument.choices:
        options["choices"] = list(argument.choices)
    several = argument.required or argument.kind in {"texts", "records"}
    if argument.name in tool.leading:
        nargs = "?"
        if argument.required:
            nargs = "+"
        elif several:
            nargs = "*"
        placed = {"default": argparse.SUPPRESS, **options}
        if nargs == "?":  # the parser would look for its default among the choices; the runtime checks them
            placed.pop("choices", None)
        parser.add_argument(argument.name, nargs=nargs, **placed)  # type: ignore[arg-type]
    if not argument.required:
        if several:
            options["nargs"] = "*"
        parser.add_argument(flag, **options)  # type: ignore[arg-type]


def _show(text: str, root: Path, *, plain: bool) -> None:
    """Plain in a pipe; on a terminal with colours, and a pager when it is longer than the screen."""
    if plain or not sys.stdout.isatty():
        print(text, end="" if text.endswith("\n") else "\n")
        return
    coloured = "".join(_colour(line) for line in text.splitlines(keepends=True))
    pager = ""
    if text.count("\n") >= shutil.get_terminal_size().lines:
        pager = _pager(root)
    if pager:
        subprocess.run([pager, "-FRX"], input=coloured, text=True, check=False)
    else:
        print(coloured, end="")


def _pager(root: Path) -> str:
    try:
        return find_program("less", root)
    except CommandFailed:
        return ""


def _colour(line: str) -> str:
    body = line.rstrip("\n")
    if _PATH_LINE.match(body):
        return f"{_BOLD}{body}{_PLAIN}\n"
    return _NUMBER.sub(rf"\1{_DIM}\2{_PLAIN}", body) + "\n"
