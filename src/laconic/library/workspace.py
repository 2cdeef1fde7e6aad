"""Questions about a code base, as methods."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from laconic.config import Settings, load
from laconic.errors import UsageError
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.tool import AGAIN
from laconic.tools import tools

Budget = int | str
Record = dict[str, Any]


class CodeAnswer(msgspec.Struct, frozen=True):
    """An answer: the text for a model, its number of tokens, and the same content as records."""

    text: str
    tokens: int
    records: list[Record]

    def __str__(self) -> str:
        return self.text


class Workspace:
    """A code base on disk. The first question builds its index; later ones bring in what changed.

    Use one object from one thread, and close it, or use it in a `with` statement. `budget` is a number of tokens, or
    `compact`, `standard`, `full`; no answer is longer. `settings` are those of the settings page, by their names.
    """

    def __init__(self, root: str | Path = ".", *, settings: Mapping[str, object] | None = None) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise UsageError(f"{self.root} is not a folder.", "Name the folder of a code base.")
        self._settings: Settings = load(flags=settings)
        self._plane: ToolRuntime | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._plane is not None:
            self._plane.close()
            self._plane = None

    def search(self, query: str, *, path: str = "", within: str = "all", budget: Budget = "") -> CodeAnswer:
        """A name, text, `/regex/`, a path or a question. `within`: all, code, symbols, refs, docs, tests or paths."""
        return self._ask("search", budget, query=query, path=path, **{"in": within})

    def inspect(self, *symbols: str, budget: Budget = "") -> CodeAnswer:
        """Symbols with their body, references, callees, implementations and tests."""
        return self._ask("inspect", budget, symbol=list(symbols))

    def read(self, *targets: str, budget: Budget = "") -> CodeAnswer:
        """Numbered lines of several places: `path`, `path:40-80`, `path::Symbol`."""
        return self._ask("read", budget, targets=list(targets))

    def context(self, task: str, *, budget: Budget = "") -> CodeAnswer:
        """The code for a task in words, such as an issue: the lines that matter, and where else to look."""
        return self._ask("context", budget, task=task)

    def map(self, path: str = "", *, budget: Budget = "") -> CodeAnswer:
        """The repository, a folder, or the outline of a file."""
        return self._ask("map", budget, path=path)

    def trace(self, symbol: str, *, to: str = "", budget: Budget = "") -> CodeAnswer:
        """Who calls a symbol, directly or not; or the call paths from one symbol to another."""
        return self._ask("trace", budget, symbol=symbol, to=to)

    def diff(self, states: str = "", *, budget: Budget = "") -> CodeAnswer:
        """What changed, by symbol: `A..B`, one revision, or nothing for uncommitted work."""
        return self._ask("diff", budget, states=states)

    def _ask(self, tool: str, budget: Budget, **given: object) -> CodeAnswer:
        asked: dict[str, object] = {name: value for name, value in given.items() if value}
        asked[AGAIN.name] = True  # a program has no memory of what it was shown
        if budget:
            asked["budget"] = str(budget)
        runtime = self._open()
        reply = runtime.call(tool, asked)
        if reply.failed:
            raise UsageError(reply.text.strip().removeprefix("error: "))
        listed = runtime.call(tool, {**asked, "format": "json"})
        return CodeAnswer(reply.text, reply.tokens, _read_records(listed.text))

    def _open(self) -> ToolRuntime:
        if self._plane is None:
            self._plane = ToolRuntime(self.root, self._settings, tools(), editing=False)
            self._plane.index.build()  # complete before the first answer: nobody asks a program twice
        return self._plane


def _read_records(text: str) -> list[Record]:
    """The list that the JSON form of an answer holds."""
    held = msgspec.json.decode(text)
    for value in held.values() if isinstance(held, dict) else ():
        if isinstance(value, list):
            found: list[Record] = []
            for row in value:
                found.append(row if isinstance(row, dict) else {"value": row})
            return found
    return []
