"""Measure how much smaller large bodies of code become when they are folded, and that what must stay does stay.

Arguments `LABEL=FOLDER` add code bases of your own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from laconic.errors import UsageError
from laconic.index.parse import language_of, parse, read_line_kinds
from laconic.index.parse.compiled import compile_language
from laconic.index.parse.source import paragraph
from laconic.records import Definition
from laconic.reduce.code import fold
from laconic.render.table import Cell
from laconic.tokens.count import Counter, counter
from laconic_benchmarks.corpus import DJANGO, npm_package, sdist
from laconic_benchmarks.report import Options, Report, at_least, versions

LONGER_THAN: Final = 50  # lines
_BODIES: Final = frozenset({"function", "method", "constructor"})
_LANGUAGES: Final = frozenset(
    {"python", "typescript", "tsx", "javascript", "java", "rust", "go", "kotlin", "csharp", "ruby", "php", "cpp", "c"}
)
_RETURN: Final = re.compile(rb"\b(?:return|raise|throw|yield)\b")
_TYPESCRIPT: Final = "@jupyterlab/notebook@4.4.9"
_MORE_TYPESCRIPT: Final = "rxjs@7.8.1"
_JAVA: Final = "@capacitor/android@7.4.3"


@dataclass(slots=True)
class _Tally:
    bodies: int = 0
    before: int = 0
    after: int = 0
    wanted: dict[str, int] = field(default_factory=lambda: {"signatures": 0, "documentation": 0, "returns": 0})
    kept: dict[str, int] = field(default_factory=lambda: {"signatures": 0, "documentation": 0, "returns": 0})

    def see(self, what: str, stays: bool) -> None:
        self.wanted[what] += 1
        self.kept[what] += stays

    def row(self, name: str) -> dict[str, Cell]:
        shares = {f"{what} kept": self.kept[what] / max(1, self.wanted[what]) for what in self.wanted}
        return {
            "code base": name,
            "bodies": self.bodies,
            "tokens": self.before,
            "folded": self.after,
            "saved": 1 - self.after / max(1, self.before),
            **shares,
        }


def run(options: Options) -> Report:
    """Fold every function of more than 50 lines in each code base."""
    count = counter()
    rows = [_measure(folder, count).row(name) for name, folder in _corpora(options)]
    least = {"saved": 0.7, "signatures kept": 1.0, "documentation kept": 1.0, "returns kept": 1.0}
    bars = [
        at_least(f"{row['code base']}: {what}", float(row[what] or 0), bar)
        for row in rows
        for what, bar in least.items()
    ]
    return Report(
        name="bodies",
        corpus=", ".join(str(row["code base"]) for row in rows) + f"; functions over {LONGER_THAN} lines",
        tokenizer=count.name,
        rows=tuple(rows),
        bars=tuple(bars),
        versions=versions("tree-sitter"),
    )


def _corpora(options: Options) -> Iterator[tuple[str, Path]]:
    cache = Path(options.cache)
    yield DJANGO, sdist(DJANGO, cache)
    yield _TYPESCRIPT, npm_package(_TYPESCRIPT, cache) / "src"
    yield _MORE_TYPESCRIPT, npm_package(_MORE_TYPESCRIPT, cache) / "src"
    yield _JAVA, npm_package(_JAVA, cache)
    for argument in options.args:
        label, equals, folder = argument.partition("=")
        if not equals or not Path(folder).is_dir():
            raise UsageError(f"{argument!r} names no folder.", "Write LABEL=FOLDER.")
        yield label, Path(folder)


def _measure(folder: Path, count: Counter) -> _Tally:
    tally = _Tally()
    for path in sorted(folder.rglob("*")):
        language = language_of(path.name) if path.is_file() else None
        if language is None or language.name not in _LANGUAGES:
            continue
        data = path.read_bytes()
        parsed = parse(path.name, data)
        large = [d for d in parsed.definitions if d.kind in _BODIES and len(d.span) > LONGER_THAN]
        if not large:
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        returns = return_rows(language.name, data)
        for each in large:
            body = lines[each.span.start - 1 : each.span.end]
            text = fold(body, read_line_kinds(path.name, data, each.span), each.span.start, cost=count).text
            tally.bodies += 1
            tally.before += count("\n".join(body))
            tally.after += count(text)
            inner = [d for d in parsed.definitions if d.kind in _BODIES and _within(d.line, each)]
            _check(tally, text, inner)
            shown = set(text.split("\n"))
            for row in returns:
                if _within(row + 1, each):
                    tally.see("returns", lines[row] in shown)
    return tally


def _within(line: int, each: Definition) -> bool:
    return each.span.start <= line <= each.span.end


def _check(tally: _Tally, text: str, definitions: Sequence[Definition]) -> None:
    """What must stay of the body and of everything that is defined in it: signatures, first lines of documentation."""
    flat = " ".join(text.split())
    plain = [bare for line in text.split("\n") if (bare := paragraph(line))]
    for each in definitions:
        tally.see("signatures", each.signature.rstrip("…") in flat)
        if each.doc:
            tally.see("documentation", any(each.doc.startswith(bare) for bare in plain))


def return_rows(language: str, data: bytes) -> list[int]:
    """The rows on which something returns or raises: the words are looked for in the text, and count unless the tree
    says that they stand in a string or a comment, or are names of something else.
    """
    import tree_sitter

    ready = compile_language(language)
    if ready is None:
        return []
    root = tree_sitter.Parser(ready.grammar).parse(data).root_node
    rows = []
    for row, line in enumerate(data.split(b"\n")):
        for word in _RETURN.finditer(line):
            node = root.descendant_for_point_range((row, word.start()), (row, word.end()))
            raises = language == "ruby" and node is not None and node.type == "identifier"
            if node is not None and (node.type.rstrip("@") == word[0].decode() or raises):
                rows.append(row)
                break
    return rows
