"""What a tool is: its arguments, its budget, its function; and what it hands back.

A tool answers with pieces, best first, each in one or more sizes. It does not cut, count, or add notes on what was
left out: that is done once for all tools, where the answer leaves (`compose`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from laconic.edits.source import SourceText
from laconic.records import Span
from laconic.render.compact_json import Json

if TYPE_CHECKING:
    from laconic.tool_runtime.runtime import ToolRuntime
    from laconic.tool_runtime.session import Session

Value = str | int | bool | list[str] | list[dict[str, object]] | None


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its type decides how a guessed value is understood."""

    name: str
    kind: str  # text, texts, number, flag, records
    help: str  # in the schema, which every prompt pays for
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()  # choices that change something: none of them is ever guessed
    also: tuple[tuple[str, str], ...] = ()  # other words for a choice
    default: Value = None
    listed: bool = True  # it stands in the schema that every prompt pays for
    words: bool = True  # an element may hold white space; if not, a text is split there
    explained: str = ""  # what a terminal and the documents show instead of `help`

    def schema(self) -> dict[str, Json]:
        """The JSON schema of this argument, as short as it can be."""
        schema: dict[str, Json] = {"type": _SCHEMA_TYPES[self.kind]}
        if self.kind in {"texts", "records"}:
            schema["items"] = {"type": "string" if self.kind == "texts" else "object"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.help:
            schema["description"] = self.help
        return schema


_SCHEMA_TYPES: Final[dict[str, Json]] = {
    "text": "string",
    "texts": "array",
    "number": "integer",
    "flag": "boolean",
    "records": "array",
}

BUDGET: Final = Argument(
    name="budget",
    kind="text",
    help="",
    aliases=("max_tokens", "tokens", "token_budget", "verbosity", "detail"),
    explained="tokens, or compact, standard, full",
)
FORMAT: Final = Argument(
    name="format",
    kind="text",
    help="",
    choices=("text", "json"),
    default="text",
    listed=False,
    explained="the form of the answer",
)
OFFSET: Final = Argument(
    name="offset",
    kind="number",
    help="",
    aliases=("skip", "cursor", "from"),
    default=0,
    listed=False,
    explained="continue at this offset",
)
AGAIN: Final = Argument(
    name="again",
    kind="flag",
    help="",
    aliases=("force", "refresh", "no_cache"),
    default=False,
    listed=False,
    explained="send again what this session already received",
)
SHARED: Final = (BUDGET, FORMAT, OFFSET, AGAIN)
WORKSPACE: Final = Argument(
    name="workspace",
    kind="text",
    help="",
    aliases=("workspaces", "repo", "repository", "repos", "project", "codebase"),
    explained="other indexed code bases: names separated by commas, or all",
)
AT: Final = Argument(
    name="at",
    kind="text",
    help="",
    listed=False,
    aliases=("commit", "revision", "rev", "ref", "tag", "branch"),
    explained="a commit, tag or branch, instead of the files on disk",
)


@dataclass(frozen=True, slots=True)
class SentLines:
    """Which lines a piece sends, by the size at which it is shown."""

    path: str
    source: SourceText
    spans: tuple[Span, ...] = ()  # of every size from `level` on
    level: int = 0
    steps: tuple[tuple[Span, ...], ...] = ()  # of each size, where they differ
    numbered: bool = False  # each line has its number
    before: bool = False  # they were sent before: the piece points to them

    def at(self, size: int) -> tuple[Span, ...]:
        """The lines that the client has once the piece is shown at a size."""
        if self.steps:
            return self.steps[size]
        if size >= self.level:
            return self.spans
        return ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to show: its texts from smallest to largest, each ending in a line feed."""

    texts: tuple[str, ...]
    group: str = ""  # a line that stands once above all pieces of the group, such as a path
    order: int = 0  # place inside the group
    record: Mapping[str, Json] | None = None  # the same for programs
    sent: SentLines | None = None  # lines of a file that the client has once this is shown
    score: float = 0.0  # what it is worth beside pieces of other workspaces


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool found, best first."""

    pieces: Sequence[Piece] = ()
    kind: str = "answer"
    head: str = ""  # stands before the pieces, never cut
    note: str = ""  # stands after them: a hint, a lag, a ready call
    unit: str = "items"
    facts: Mapping[str, Json] = field(default_factory=dict)  # for programs, what the head says in words
    total: int | None = None  # how many there are in all, if more than the pieces
    spread: float = 4.0
    paths: tuple[str, ...] = ()  # files that the answer quotes: checked before it leaves
    grouped: bool = True  # pieces of a group stand together in order; if not, in the order given
    skipped: int = 0  # pieces before these that the asker did not want again
    reached: tuple[
        int, ...
    ] = ()  # how far the asker has come once so many pieces are shown, if it has others already
    failed: bool = False  # it says why nothing was done


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: understood arguments, and what the tool may use."""

    runtime: ToolRuntime
    session: Session
    values: Mapping[str, Value]
    limit: int  # tokens that the answer may have
    runtimes: tuple[ToolRuntime, ...] = ()  # of the workspaces that it names, where one answer is about all of them

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if isinstance(value, str):
            return value
        return ""

    def texts(self, name: str) -> list[str]:
        value = self.values.get(name)
        if isinstance(value, list):
            found: list[str] = []
            for item in value:
                if isinstance(item, str):
                    found.append(item)
            return found
        return []

    @property
    def question(self) -> list[str]:
        """Every text that the caller gave."""
        found: list[str] = []
        for name in self.values:
            found += [self.text(name), *self.texts(name)]
        return found

    def number(self, name: str, default: int = 0) -> int:
        value = self.values.get(name)
        if isinstance(value, int):
            return value
        return default

    def flag(self, name: str) -> bool:
        return bool(self.values.get(name))

    def wish(self) -> dict[str, str | int]:
        """The budget that this call names, for those that go on after it."""
        named = self.text("budget")
        if named.isdigit():
            return {"budget": int(named)}
        if named:
            return {"budget": named}
        return {}

    def ready(self, tool: str, what: str = "", **more: str | int) -> str:
        """A call that the reader may make next, in the words of where the answer is read: a client, or a shell."""
        known = self.runtime.tools[tool]
        given: dict[str, Value] = {}
        if what:
            given[known.arguments[0].name] = what
        return self.runtime.write_call(known, {**given, **more})

    def records(self, name: str) -> list[dict[str, object]]:
        value = self.values.get(name)
        if isinstance(value, list):
            found: list[dict[str, object]] = []
            for item in value:
                if isinstance(item, dict):
                    found.append(item)
            return found
        return []


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the code plane; everything else about it is made from this."""

    name: str
    summary: str  # what every prompt pays for
    help: str  # the rest, for people and for the help resource
    arguments: tuple[Argument, ...]
    run: Callable[[ToolCall], ToolAnswer]
    budget: int  # tokens of an answer when the call names none
    examples: tuple[str, ...] = ()
    aliases: str = ""  # names that agents guess, separated by spaces
    instead: str = ""  # names of things that we do not do, to which this tool comes nearest
    indexed: bool = True  # it needs the index to be fresh
    seldom: bool = False  # it needs it for some targets only
    writes: bool = False  # it changes files of the workspace
    runs: bool = False  # it starts programs that the settings allow
    manages: bool = False  # it adds and removes indexes
    default: bool = True  # offered without being asked for
    joins: Callable[[ToolCall], bool] | None = None  # whether it reads the workspaces of a call as one code base
    weigh: Callable[[ToolCall], float] | None = None  # how much a workspace has to say on a call; quick to tell
    glance: Callable[[ToolCall], ToolAnswer] | None = None  # the surest part of an answer, for one workspace of many
    unnamed: int = 1  # arguments that a shell may give without their names, where none is required
    fields: Mapping[str, Argument] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", {a.name: a for a in (*self.arguments, *SHARED)})

    @property
    def leading(self) -> tuple[str, ...]:
        """The arguments that need no name: those that are required, or else the first ones."""
        required = tuple(argument.name for argument in self.arguments if argument.required)
        return required or tuple(argument.name for argument in self.arguments[: self.unnamed])

    def schema(self) -> dict[str, Json]:
        """The input schema."""
        shown = []
        for argument in self.fields.values():
            if argument.listed:
                shown.append(argument)
        required = []
        for argument in shown:
            if argument.required:
                required.append(argument.name)
        schema: dict[str, Json] = {"type": "object", "properties": {a.name: a.schema() for a in shown}}
        if required:
            schema["required"] = required
        return schema

    def signature(self) -> str:
        """The call in one line, for errors."""
        words = []
        for a in self.fields.values():
            if a.listed:
                words.append(f"{a.name}" if a.required else f"{a.name}?")
        return f"{self.name}({', '.join(words)})"
