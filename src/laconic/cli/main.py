"""Find the command, read the settings, run it, and turn failures into messages and exit codes."""

from __future__ import annotations

import argparse
import ast
import os
import pkgutil
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn, Protocol, cast

from laconic import __version__
from laconic.cli import commands
from laconic.config import Settings, load
from laconic.errors import LaconicError, UsageError
from laconic.render.escape_control import visible

_GROUPS: Final = {
    "Start here": ("replay", "setup", "wrap", "doctor"),
    "Ask about code": ("search", "inspect", "read", "map", "context", "trace", "diff", "report", "edit"),
    "Shorten output": ("run", "reduce", "recall", "hook"),
    "See what it costs": ("stats", "why", "dashboard"),
    "Serve": ("gateway", "serve", "team", "login", "mcp", "agent"),
    "Maintain": ("index", "workspace", "purge", "completion"),
}


class Command(Protocol):
    """What a module in `commands` holds; its docstring's first line is the command's help."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace, settings: Settings) -> int: ...


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}.", f"See `{self.prog} --help`.")


def names() -> list[str]:
    """All commands: the modules of `commands`, every tool of the code plane, and what other packages add."""
    from laconic.cli.extension_commands import (
        find_extensions,
    )  # looks at every installed package: not for `--version`
    from laconic.tools import tools  # imports all tools: not for `--version`

    return sorted({*_modules(), *tools(), *find_extensions()})


def _modules() -> list[str]:
    found: list[str] = []
    for module in pkgutil.iter_modules(commands.__path__):
        found.append(module.name.replace("_", "-"))
    return found


def command(name: str) -> Command:
    """The module behind a command name; no other package can replace a command of ours."""
    if name in _modules():
        return cast(Command, import_module(f"{commands.__name__}.{name.replace('-', '_')}"))
    from laconic.cli.extension_commands import INSTALL, find_extensions, load_extension
    from laconic.cli.tool_command import ToolCommand  # imports all tools: not for other commands
    from laconic.tools import tools

    if name in tools():
        return ToolCommand(tools()[name])
    if name in find_extensions():
        return cast(Command, load_extension(name))
    if name in INSTALL:
        raise UsageError(INSTALL[name])
    near = get_close_matches(name, names(), n=3)
    raise UsageError(
        f"There is no command {name!r}.", f"Nearest: {', '.join(near or names())}. See `laconic --help`."
    )


def parser_for(name: str, module: Command) -> argparse.ArgumentParser:
    """The argument parser of one command."""
    parser = _Parser(
        prog=f"laconic {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file to use instead of the user's own")
    module.add_arguments(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    argv = _put_config_last(argv)
    if not argv or argv[0] in {"-h", "--help", "help"}:
        print(_overview())
        return 0
    if argv[0] in {"-V", "--version"}:
        print(f"laconic {__version__}")
        return 0
    size = 1 if "=" in argv[0] else 2
    if argv[0].partition("=")[0] == "--config" and len(argv) > size:  # it may also stand before the command
        return main([*argv[size:], *argv[:size]])
    module = command(argv[0])
    args = parser_for(argv[0], module).parse_args(list(argv[1:]))
    return module.run(args, load(file=args.config, required=True))


def _put_config_last(argv: Sequence[str]) -> list[str]:
    """`--config FILE` may stand before the command too."""
    if argv and argv[0].startswith("--config="):
        return [*argv[1:2], argv[0], *argv[2:]]
    if len(argv) > 2 and argv[0] == "--config":
        return [argv[2], *argv[:2], *argv[3:]]
    return list(argv)


def entry() -> NoReturn:
    """The console script: main with failures turned into messages."""
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except LaconicError as error:
        print(visible(f"laconic: {error}"), file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader has seen enough; a flush at exit must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def summary(name: str) -> str:
    """The first line of a command's docstring, read without importing the command; for a tool, its summary."""
    from laconic.cli.extension_commands import find_extensions
    from laconic.tools import tools

    if name in tools() and name not in _modules():
        return tools()[name].summary
    if name in _modules():
        module = f"{commands.__name__}.{name.replace('-', '_')}"
    else:
        module = find_extensions()[name].module
    try:
        spec = find_spec(module)
    except ImportError:  # another package, and broken: its command says so when it is called
        return ""
    if spec is None or spec.origin is None:
        return ""
    doc = ast.get_docstring(ast.parse(Path(spec.origin).read_text("utf-8"))) or ""
    return doc.split("\n", 1)[0].rstrip(".")


def _overview() -> str:
    lines = [
        "usage: laconic [--config FILE] COMMAND [...]",
        "",
        "Help coding agents do the same work with fewer tokens.",
    ]
    left = dict.fromkeys(names())
    for title, group in _GROUPS.items():
        listed = []
        for each in group:
            if each in left:
                listed.append(each)
        lines += ["", f"{title}:", *(f"  {name:<12} {summary(name)}" for name in listed)]
        for name in listed:
            del left[name]
    if left:
        lines += ["", "More:", *(f"  {name:<12} {summary(name)}" for name in left)]
    return "\n".join([*lines, "", "Run `laconic COMMAND --help` for details."])
