"""Split a shell command line into its simple commands, as far as possible without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_DEEPEST: Final = 5  # shells in shells
_LONGEST: Final = 131_072  # characters; Linux runs no longer one
_MICROSECONDS: Final = 500_000  # that the grammar may take: some texts would keep it busy for ever
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_STRING: Final = re.compile(r"\\([\"\\$`\n])")
_EXPANDED: Final = re.compile(r"[*?\[{~]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_HARMLESS_TARGETS: Final = ("/dev/null", "/dev/stdout", "/dev/stderr")

# Programs that run the command after them, with those of their options that take a word of their own, and how many
# words stand before the command.
_RUNNERS: Final[dict[str, tuple[frozenset[str], int]]] = {
    "env": (frozenset({"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}), 0),
    "timeout": (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    "nice": (frozenset({"-n", "--adjustment"}), 0),
    "ionice": (frozenset({"-c", "-n", "--class", "--classdata"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "xargs": (frozenset({"-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"}), 0),
    "chrt": (frozenset({"-p"}), 1),
    "taskset": (frozenset(), 1),
    "flock": (frozenset({"-w", "--timeout", "-E"}), 1),
    "watch": (frozenset({"-n", "--interval"}), 0),
    "strace": (frozenset({"-e", "-o", "-p", "-s"}), 0),
    **dict.fromkeys(("nohup", "setsid", "command", "builtin", "exec", "time", "busybox"), (frozenset[str](), 0)),
}
_WRAPPERS: Final = frozenset(
    {"timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "command", "builtin", "time", "env"}
)
_GIT_OPTIONS: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments, as the shell would start it."""

    words: tuple[str, ...]
    assigned: tuple[str, ...] = ()  # variables that are set for it

    @property
    def text(self) -> str:
        """As patterns see it: without quotes, with what is set for it."""
        return " ".join((*self.assigned, *self.words))

    @property
    def name(self) -> str:
        return PurePosixPath(self.words[0]).name


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What is known of a line before it runs."""

    commands: tuple[SimpleCommand, ...]
    is_understood: bool = True  # every word of every command is known
    has_output_file: bool = False  # something is written to a file by the shell itself


def understand(line: str, depth: int = 0) -> CommandLine:
    """All simple commands in a line, also those in substitutions and in what an inner shell is told to run."""
    reader = _Reader(depth)
    if len(line) > _LONGEST:
        return CommandLine((), is_understood=False)
    try:
        tree = _parser().parse(line.encode("utf-8", "surrogateescape"))
    except ValueError:  # the time is over
        _parser().reset()
        return CommandLine((), is_understood=False)
    try:
        reader.visit(tree.root_node)
    except RecursionError:  # nested deeper than anybody writes
        return CommandLine(tuple(reader.commands), is_understood=False)
    understood = reader.is_understood and not tree.root_node.has_error
    return CommandLine(tuple(reader.commands), understood, reader.has_output_file)


def run_by(command: SimpleCommand) -> SimpleCommand | None:
    """The command that a program such as `timeout` or `env` runs; None if it runs none."""
    if command.name == "find":
        return _read_executed(command)
    if command.name not in _RUNNERS:
        return None
    taking, before = _RUNNERS[command.name]
    rest = _after_options(command.words[1:], taking)
    if command.name == "env":
        before = next((at for at, word in enumerate(rest) if not _ASSIGNMENT.match(word)), len(rest))
    if command.name == "env":
        assigned = tuple(rest[:before])
    else:
        assigned = ()
    if rest[before:]:
        return SimpleCommand(tuple(rest[before:]), command.assigned + assigned)
    return None


def is_wrapper(command: SimpleCommand) -> bool:
    """Whether it does nothing but run another command, which has to be judged instead."""
    has_options = any(word.startswith("-") for word in command.words[1:2])
    return command.name in _WRAPPERS and run_by(command) is not None and not (command.name == "env" and has_options)


def spellings(command: SimpleCommand) -> Iterator[str]:
    """The ways to write the same command that a pattern should meet: without its folder, without git's own options."""
    plain = SimpleCommand(command.words)
    yield plain.text
    yield " ".join((command.name, *command.words[1:]))
    if command.name == "git":
        yield " ".join(("git", *_after_options(command.words[1:], _GIT_OPTIONS)))


class _Reader:
    """Walks over the tree of a line."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self.commands: list[SimpleCommand] = []
        self.is_understood = True
        self.has_output_file = False

    def visit(self, node: Node) -> None:
        if node.type == "command":
            self._take(node)
        elif node.type == "file_redirect":
            self._redirect(node)
        elif node.type in {"declaration_command", "unset_command"} or (
            node.type == "variable_assignment" and (node.parent is None or node.parent.type != "command")
        ):
            self.is_understood = False  # what is set here changes what the next commands mean
        for child in node.named_children:
            self.visit(child)

    def _take(self, node: Node) -> None:
        found = []
        for child in node.named_children:
            if _is_word(child):
                found.append(_literal(child))
        assigned = tuple(_source(child) for child in node.named_children if child.type == "variable_assignment")
        if not found:
            return
        known = tuple(word for word in found if word is not None)
        if len(known) < len(found) or _EXPANDED.search(known[0]):
            self.is_understood = False
        if found[0] is not None:
            self._add(SimpleCommand(known, assigned))

    def _add(self, command: SimpleCommand) -> None:
        """A command, and what it runs."""
        self.commands.append(command)
        script = _script(command)
        inner = run_by(command)
        if script is not None and self._depth < _DEEPEST:
            told = understand(script, self._depth + 1)
            self.commands += told.commands
            self.is_understood = self.is_understood and told.is_understood
            self.has_output_file = self.has_output_file or told.has_output_file
        elif script is not None:
            self.is_understood = False
        if inner is not None:
            self._add(inner)

    def _redirect(self, node: Node) -> None:
        signs = []
        for child in node.children:
            if not child.is_named:
                signs.append(child.type)
        targets = []
        for child in node.named_children:
            if child.type != "file_descriptor":
                targets.append(_source(child))
        copies = any(sign in {">&", "<&"} for sign in signs) and all(target.isdigit() for target in targets)
        if any(">" in sign for sign in signs) and not copies:
            self.has_output_file = self.has_output_file or not set(targets) <= set(_HARMLESS_TARGETS)


def _script(command: SimpleCommand) -> str | None:
    """What a shell is told to run by a word."""
    if command.name == "eval":
        return " ".join(command.words[1:])
    if command.name in _SHELLS:
        for at, word in enumerate(command.words[:-1]):
            if re.fullmatch(r"-\w*c", word):
                return command.words[at + 1]
    return None


def _read_executed(command: SimpleCommand) -> SimpleCommand | None:
    """The command that `find` runs."""
    for at, word in enumerate(command.words):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            rest = tuple(word for word in command.words[at + 1 :] if word not in {";", "+"})
            if rest:
                return SimpleCommand(rest)
            return None
    return None


def _after_options(words: Sequence[str], taking: frozenset[str]) -> Sequence[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in taking else 1
    return words[at:]


def _is_word(node: Node) -> bool:
    return node.type != "variable_assignment" and not node.type.endswith("redirect")


def _literal(node: Node) -> str | None:
    """The word that a node stands for; None if only running it would tell."""
    if node.type in {"word", "number"} and not node.named_children:
        return _ESCAPED.sub(r"\1", _source(node))
    if node.type == "raw_string":
        return _source(node)[1:-1]
    if node.type == "string" and all(child.type == "string_content" for child in node.named_children):
        return _ESCAPED_IN_STRING.sub(r"\1", _source(node)[1:-1])
    if node.type in {"command_name", "concatenation"}:
        parts = []
        for child in node.named_children:
            parts.append(_literal(child))
        if None in parts:
            return None
        return "".join(part or "" for part in parts)
    return None


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()), timeout_micros=_MICROSECONDS)
