"""The nouns: what the layers hand to each other. No behaviour beyond small derived values.

Lines are 1-based and spans inclusive everywhere. Paths are relative to the workspace, with forward slashes.
"""

from __future__ import annotations

import msgspec


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A range of lines, both ends included."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start + 1

    def __str__(self) -> str:
        if self.start == self.end:
            return str(self.start)
        return f"{self.start}-{self.end}"


class Definition(msgspec.Struct, frozen=True, array_like=True):
    """A symbol as one file defines it."""

    name: str
    kind: str  # function, method, constructor, class, interface, struct, record, enum, union, trait, impl, object,
    # type, constant, variable, field, module, macro, test, heading, key
    span: Span  # with decorators and documentation that belong to it
    line: int  # where the name stands
    signature: str = ""  # one line, white space folded, no body
    doc: str = ""  # first paragraph of the documentation
    parent: int = -1  # index of the enclosing definition in the same file
    visibility: str = "public"  # public, protected, private, internal
    modifiers: tuple[str, ...] = ()  # async, static, abstract, final, override, exported, ...
    bases: tuple[str, ...] = ()  # what it extends or implements, as written
    test: bool = False  # it is a test, or holds tests
    owner: str = ""  # the type it belongs to when that is not its parent: Go receivers, C++ `Foo::bar`, extensions


class Reference(msgspec.Struct, frozen=True, array_like=True):
    """A name used in a file; who is meant is decided later."""

    name: str
    line: int
    column: int  # 0-based, in bytes
    kind: str  # call, read, write, type, inherit, import, decorator
    receiver: str = ""  # what stands before the dot, as written: `self`, `a.b`, `Foo`
    scope: int = -1  # index of the innermost definition around it


class Import(msgspec.Struct, frozen=True, array_like=True):
    """One imported name. `from a.b import c as d` is module `a.b`, name `c`, alias `d`."""

    module: str  # as written, relative dots and quotes resolved to plain text
    line: int
    name: str = ""  # empty: the module itself; `*`: everything
    alias: str = ""
    exported: bool = False  # it is visible to importers of this file (re-export, `pub use`, `export from`)


class ParsedFile(msgspec.Struct, frozen=True, array_like=True):
    """Everything one file says about itself."""

    language: str
    lines: int
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] = ()  # an explicit list (`__all__`, `export {a}`); empty: by visibility
    package: str = ""  # the package or namespace the file declares
    faults: int = 0  # syntax errors seen


class ParseFailure(msgspec.Struct, frozen=True, array_like=True):
    """Why a file could not be parsed, in words for a list of skipped files."""

    reason: str


class Hit(msgspec.Struct, frozen=True):
    """One place that answers a search, with the symbol around it."""

    path: str
    line: int
    kind: str  # def, ref, text, doc, file
    name: str = ""
    preview: str = ""
    symbol: str = ""  # qualified name of the enclosing symbol
    span: Span | None = None  # span of the enclosing symbol
    sure: bool = True  # a reference that was resolved, not only matched by name
    score: float = 0.0


class Omission(msgspec.Struct, frozen=True):
    """What an answer left out, and the call that brings it."""

    shown: int
    total: int
    unit: str = "hits"
    more: str = ""  # a ready call
    skipped: int = 0  # by the asker, who has them already

    @property
    def missing(self) -> int:
        return self.total - self.skipped - self.shown


class Hunk(msgspec.Struct, frozen=True):
    """A changed place of a file: where it starts on both sides, and its lines as a unified diff marks them."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    body: tuple[str, ...]  # each with its leading space, plus or minus


class FileChange(msgspec.Struct, frozen=True):
    """One file that differs between two states."""

    path: str  # where it is now, or was when it is gone
    status: str  # added, removed, changed, renamed, mode, unmerged
    old_path: str = ""  # if it had another name
    old: bytes | None = None  # contents; None where there is no file, or where they were not asked for
    new: bytes | None = None
    note: str = ""  # binary, submodule, link, too large; or the modes
    hunks: tuple[Hunk, ...] = ()


class SymbolChange(msgspec.Struct, frozen=True):
    """One symbol that differs between two states."""

    path: str
    name: str  # qualified by its enclosing symbols
    kind: str
    changes: tuple[str, ...]  # added, removed, renamed, moved, signature, body, cosmetic
    span: Span | None = None  # in the new state
    old_path: str = ""
    old_name: str = ""
    old_span: Span | None = None
    signature: str = ""
    old_signature: str = ""
    added: int = 0  # lines
    removed: int = 0
    visibility: str = "public"
    modifiers: tuple[str, ...] = ()
    within: bool = False  # it came or went together with the symbol around it
    test: bool = False


class Impact(msgspec.Struct, frozen=True):
    """Who depends on a symbol, as far as an index knows."""

    references: int = 0
    files: tuple[str, ...] = ()  # that refer to it
    tests: tuple[str, ...] = ()  # that reach it, nearest first
    stale: tuple[str, ...] = ()  # places that still use its old name


class ChangeRisk(msgspec.Struct, frozen=True):
    """A changed symbol with what it may break."""

    change: SymbolChange
    risk: str  # none, low, medium, high
    why: str = ""
    impact: Impact | None = None  # None: there was no index to ask


class FoldedRows(msgspec.Struct, frozen=True, array_like=True):
    """Rows of a passage that are not shown as they were; both ends included, counted from 0."""

    first: int
    last: int
    source: str = ""  # the key of the block that shows the same rows; empty: they are left out
    row: int = 0  # the row there at which they start
    label: str = ""  # what a reader is told about that place


class Passage(msgspec.Struct, frozen=True):
    """A tool's text as rows, one to one for its lines. `numbers` and `heads` are empty where the text has none."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...] = ()  # the number that a listing gave the row; -1: none
    heads: tuple[str, ...] = ()  # the file that a search listing found the row in; empty: none
    hits: frozenset[int] = frozenset()  # rows that a search found, among rows shown around them
    tagged: bool = False  # edits refer to its numbers: none of them is left out

    def __len__(self) -> int:
        return len(self.lines)


class Finding(msgspec.Struct, frozen=True):
    """One thing that an analyser or a test run complains about."""

    path: str  # as the tool wrote it; empty where it names no file
    rule: str
    severity: str  # error, warning, info
    category: str
    message: str
    tool: str
    span: Span | None = None
    column: int = 0  # 1-based; 0: not said
    test: str = ""  # the test that failed
    symbol: str = ""  # the symbol it stands in, once the code was looked at


class AddedBlock(msgspec.Struct, frozen=True):
    """A block when it first stood in a conversation."""

    key: str
    kind: str  # instructions, user, assistant, thinking, calls; results: read, search, edit, run, report, task, other
    tool: str = ""
    file: str = ""
    whole: int = 0  # tokens as it came
    tokens: int = 0  # as it was sent


class AddedContent(msgspec.Struct, frozen=True):
    """What one request brought into a conversation."""

    turn: int  # turns of the assistant so far
    fixed: int  # tokens of the instructions and the tools' descriptions
    entered: tuple[AddedBlock, ...] = ()
    anew: bool = False  # these are all blocks: the history was read from its start
    title: str = ""  # how the user began, when it was
    project: str = ""  # the folder that the client says it works in, when it was


class ArchivedOriginal(msgspec.Struct, frozen=True):
    """Bytes that are left out of a conversation or a view, and under what they are archived."""

    session: str
    task: str
    data: bytes
    note: str = ""
