"""Print a completion script for bash, zsh or fish.

    laconic completion bash > ~/.local/share/bash-completion/completions/laconic

It completes commands, options and their values, and file names everywhere else.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from laconic.config import Settings

SHELLS: Final = ("bash", "zsh", "fish")

_BASH: Final = """\
_laconic() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _laconic laconic
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def run(args: argparse.Namespace, settings: Settings) -> int:
    print(script(args.shell), end="")
    return 0


def script(shell: str) -> str:
    """The script that a shell sources."""
    from laconic.cli.main import names  # not at the top: that module imports this one

    if shell == "fish":
        return "".join(f"{line}\n" for line in _fish())
    cases = "\n".join(f'            {name}) words="{" ".join(_words(name))}" ;;' for name in names())
    text = _BASH.format(commands=" ".join([*names(), "--help", "--version"]), cases=cases)
    head = "#compdef laconic\nautoload -U +X bashcompinit && bashcompinit\n"
    if shell == "bash":
        return text
    return head + text


def _words(name: str) -> list[str]:
    """The options of a command, and the words that its arguments are chosen from."""
    actions = _actions(name)
    flags = []
    for action in actions:
        for option in action.option_strings:
            if option.startswith("--"):
                flags.append(option)
    return [*flags, *(str(choice) for action in actions for choice in action.choices or ())]


def _fish() -> Iterator[str]:
    from laconic.cli.main import names, summary

    for name in names():
        yield f"complete -c laconic -n __fish_use_subcommand -a {name} -d {_quote(summary(name))}"
    for name in names():
        seen = f"'__fish_seen_subcommand_from {name}'"
        for action in _actions(name):
            if action.choices:
                choices = f" -xa {_quote(' '.join(map(str, action.choices)))}"
            else:
                choices = ""
            long = []
            for option in action.option_strings:
                if option.startswith("--"):
                    long.append(option[2:])
            if long:
                yield f"complete -c laconic -n {seen} -l {long[0]}{choices} -d {_quote(action.help or '')}"
            elif choices:
                yield f"complete -c laconic -n {seen}{choices}"


def _actions(name: str) -> list[argparse.Action]:
    from laconic.cli.main import command, parser_for

    return parser_for(name, command(name))._actions  # argparse offers no other list


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
