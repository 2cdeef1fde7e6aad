"""References, implementations and outlines against what language servers say, on code bases in seven languages.

Symbols are chosen by chance, half of them with names that other definitions have too. Figures count lines. One part of
the code bases may be looked into, the other is only reported. A language whose server is not installed is left out.
Words narrow the run: a language, a repository, `dev`, `held`, or `misses` to list what differs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from laconic.index.resolve import (
    CallEdge,
    Code,
    SymbolUse,
    callers,
    implementations,
    overridden,
    paths,
    references,
    spread,
)
from laconic.index.store import Symbol
from laconic.index.workspace_index import Index
from laconic.render.table import Cell
from laconic_benchmarks.corpus import snapshot
from laconic_benchmarks.language_servers.code_bases import CODE_BASES, CodeBase
from laconic_benchmarks.language_servers.servers import SERVERS
from laconic_benchmarks.language_servers.truth import Place, TrueSymbol, Truth, is_test, read_truth
from laconic_benchmarks.report import Bar, Options, Report, at_least, versions

_WANTED: Final = {
    "sure P": 0.98,
    "sure R": 0.90,
    "possible R": 0.97,
    "possible P": 0.80,
    "callers R": 0.95,
    "implementations R": 0.95,
    "outline R": 0.99,
    "path steps P": 0.98,
}
_FORWARD: Final = re.compile(r"\s*(?:friend\s+)?(?:class|struct|union|enum)\b[^{(]*;")  # it has no body here
# To us, not to the server, a call of the class is a use of `__init__`; `default` is a role, which no text names.
_NOT_ASKED: Final = frozenset({"__init__", "default"})
_PAIRS: Final = 25  # pairs of functions in one code base between which paths are looked for
_INHERITED: Final = frozenset({"class", "interface", "struct", "method"})
_IMPLICIT: Final = frozenset({"c", "cpp", "java"})  # names are used without being written: by macros, annotations
_LOWER: Final = {("cpp", "sure R"): 0.80, ("cpp", "possible R"): 0.92}


class Ground(NamedTuple):
    """What a symbol is judged on."""

    code: Code
    files: frozenset[str]  # that the server looked into
    named: frozenset[Place]  # lines with definitions of its name: neither right nor wrong
    defined: frozenset[Place]  # lines with definitions


class Tally(msgspec.Struct):
    """Counts of lines for a language and a part."""

    symbols: int = 0
    true: int = 0
    sure: int = 0
    sure_true: int = 0
    found: int = 0
    found_true: int = 0
    calling: int = 0
    calling_found: int = 0
    heirs: int = 0
    heirs_found: int = 0
    outlined: int = 0
    outlined_found: int = 0
    steps: int = 0  # sure steps of call paths that lead to a symbol the server was asked about
    steps_true: int = 0

    def add(self, other: Tally) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def figures(self) -> dict[str, float]:
        return {
            "sure P": self.sure_true / max(self.sure, 1),
            "sure R": self.sure_true / max(self.true, 1),
            "possible P": self.found_true / max(self.found, 1),
            "possible R": self.found_true / max(self.true, 1),
            "callers R": self.calling_found / max(self.calling, 1),
            "implementations R": self.heirs_found / max(self.heirs, 1),
            "outline R": self.outlined_found / max(self.outlined, 1),
            "path steps P": self.steps_true / max(self.steps, 1),
        }


def run(options: Options) -> Report:
    """All code bases whose server is installed."""
    tallies: dict[tuple[str, str], Tally] = {}
    notes: list[str] = []
    words = set(options.args) - {"misses"}
    for base in CODE_BASES:
        if words and not words & {base.language, base.repository.partition("/")[2], base.part}:
            continue
        server = SERVERS[base.language]
        if not server.is_installed:
            notes.append(f"{base.repository} is left out: {server.command[0]} is not installed")
            continue
        options.progress(f"{base.repository}")
        tally = _measure(base, options, notes if "misses" in options.args else [])
        tallies.setdefault((base.language, base.part), Tally()).add(tally)
    return Report(
        name="references",
        corpus=f"{sum(each.symbols for each in tallies.values())} symbols",
        tokenizer="none",
        rows=tuple(_row(language, part, tally) for (language, part), tally in tallies.items()),
        bars=tuple(_bars(tallies)),
        notes=tuple(dict.fromkeys(notes)),
        versions=versions("tree-sitter"),
    )


def _row(language: str, part: str, tally: Tally) -> dict[str, Cell]:
    figures = {name: round(100 * value, 1) for name, value in tally.figures().items()}
    return {"language": language, "part": part, "symbols": tally.symbols, "lines": tally.true, **figures}


def _bars(tallies: dict[tuple[str, str], Tally]) -> Iterable[Bar]:
    for (language, part), tally in tallies.items():
        if part != "held":
            continue
        for name, value in tally.figures().items():
            if (name == "implementations R" and not tally.heirs) or (name == "path steps P" and not tally.steps):
                continue
            yield at_least(f"{language}: {name}", round(value, 3), _LOWER.get((language, name), _WANTED[name]))


def _measure(base: CodeBase, options: Options, misses: list[str]) -> Tally:
    cache = Path(options.cache)
    root = snapshot(base.repository, base.commit, Path(options.mirror), cache).resolve()
    kept = cache / "truth" / f"{root.name}.json"
    truth = read_truth(base, SERVERS[base.language], root, kept)
    index = Index.open(root, cache / "indexes")
    index.build(seconds=60)
    code = Code(index.store, index.root)
    tally = Tally()
    _compare_outline(code, base, truth, tally, misses)
    named: dict[str, set[Place]] = {}
    defined: set[Place] = set()
    for path, line, name, _ in truth.outline:
        named.setdefault(name, set()).add((path, line))
        defined.add((path, line))
    for source in code.sources.values():  # servers leave blocks that add to a type out of their outlines
        defined.update((source.path, each.line) for each in code.outline(source.id).symbols if each.kind == "impl")
    for each in truth.symbols:
        if each.name in _NOT_ASKED:
            continue
        if base.language in _IMPLICIT:
            each = msgspec.structs.replace(each, uses=tuple(_find_written_uses(code, each)))
        elif base.language == "rust":
            each = msgspec.structs.replace(each, uses=tuple(_leave_out_self(code, each)))
        ground = Ground(code, frozenset(truth.files), frozenset(named[each.name]), frozenset(defined))
        _compare(ground, each, tally, misses)
    _check_paths(code, truth, tally, misses)
    index.close()
    return tally


def _compare_outline(code: Code, base: CodeBase, truth: Truth, tally: Tally, misses: list[str]) -> None:
    for path, line, name, kind in truth.outline:
        source = code.by_path.get(path)
        if source is None or is_test(path) or source.file_class == "generated":
            continue
        text = _line(code, source.id, line)
        if _FORWARD.match(text) or (base.language in _IMPLICIT and not _is_written(name, text)):
            continue
        if base.language == "typescript" and _is_local(code, source.id, line, name, kind):
            continue
        tally.outlined += 1
        if any(each.name == name and abs(each.line - line) < 2 for each in code.outline(source.id).symbols):
            tally.outlined_found += 1
        else:
            misses.append(f"outline {path}:{line} {kind} {name}")


def _is_local(code: Code, file: int, line: int, name: str, kind: str) -> bool:
    """Whether an outline names what nobody else can: a variable of a block, the role of a default export."""
    if name == "default" or kind not in {"variable", "constant"}:
        return name == "default"
    around = code.store.symbol_at(file, line)
    return _line(code, file, line)[:1].isspace() and (around is None or around.kind != "module")


def _find_written_uses(code: Code, true: TrueSymbol) -> Iterable[Place]:
    """The uses that are written: what a macro expands to is in no line of the code, nor is `value` in `@Name("x")`."""
    for path, line in true.uses:
        source = code.by_path.get(path)
        if source is None or _is_written(true.name, _line(code, source.id, line)):
            yield path, line


def _leave_out_self(code: Code, true: TrueSymbol) -> Iterable[Place]:
    """The uses that name a type: to the server `Self` is one as well."""
    for path, line in true.uses:
        source = code.by_path.get(path)
        text = _line(code, source.id, line) if source is not None else ""
        if _is_written(true.name, text) or "Self" not in text:
            yield path, line


def _is_written(name: str, line: str) -> bool:
    return re.search(rf"\b{re.escape(name.lstrip('~'))}\b", line) is not None


def _line(code: Code, file: int, number: int) -> str:
    lines = code.lines(file)
    return lines[number - 1] if number <= len(lines) else ""


def _compare(ground: Ground, true: TrueSymbol, tally: Tally, misses: list[str]) -> None:
    """One symbol; lines with definitions of its name, or that the server cannot read, are neither right nor wrong."""
    code = ground.code
    tally.symbols += 1
    tally.true += len(true.uses)
    symbol = _find(code, true)
    wanted_heirs = set(_find_named_heirs(ground, true, symbol))
    tally.heirs += len(wanted_heirs)
    if symbol is None:
        misses.append(f"unknown {true.path}:{true.line} {true.name}, {len(true.uses)} uses")
        return
    uses = [use for use in references(code, symbol) if use.path in ground.files]
    wanted = set(true.uses)
    neutral = ground.named | (set(true.unresolved) - wanted) | set(_find_forward_declarations(code, uses))
    sure = {(use.path, use.line) for use in uses if use.sure} - neutral
    found = {(use.path, use.line) for use in uses} - neutral
    tally.sure += len(sure)
    tally.sure_true += len(sure & wanted)
    tally.found += len(found)
    tally.found_true += len(found & wanted)
    label = f"{true.path}:{true.line} {true.kind} {true.name}"
    _list(misses, "sure but false", label, sure - wanted)
    _list(misses, "missed", label, wanted - found)
    _list(misses, "only possible", label, (wanted & found) - sure)
    _list(misses, "possible but false", label, found - sure - wanted)
    _compare_callers(code, symbol, wanted, tally)
    related = [*implementations(code, symbol), *overridden(code, symbol)]
    heirs = {(code.sources[each.file].path, each.line) for each in related}
    tally.heirs_found += len(heirs & wanted_heirs)
    _list(misses, "implementation missed", label, wanted_heirs - heirs)


def _find_forward_declarations(code: Code, uses: list[SymbolUse]) -> Iterable[Place]:
    """Lines such as `class Name;`, which declare once more what they name."""
    for use in uses:
        file = code.by_path[use.path].id
        if code.sources[file].dialect.declared_apart and _FORWARD.match(_line(code, file, use.line)):
            yield use.path, use.line


def _find_named_heirs(ground: Ground, true: TrueSymbol, symbol: Symbol | None) -> Iterable[Place]:
    """What implements or overrides a symbol and has a name itself; derived code of Rust is in no line."""
    code = ground.code
    if true.kind not in _INHERITED:
        return
    if symbol is not None and code.sources[symbol.file].dialect.open_types:
        above = code.symbol(symbol.parent) if symbol.parent is not None else None
        if symbol.kind != "trait" and (above is None or above.kind != "trait"):
            return  # the server lists whoever has the same trait
    for path, line in true.implementations:
        source = code.by_path.get(path)
        text = _line(code, source.id, line) if source is not None else ""
        if "derive(" not in text and (path, line) in ground.defined:
            yield path, line


def _check_paths(code: Code, truth: Truth, tally: Tally, misses: list[str]) -> None:
    """Call paths between functions taken by chance: each sure step to a symbol of the truth must be a use of it.

    One end of a pair is a function that the server was asked about, the other one that calls it in a few steps.
    """
    luck = random.Random(7)
    asked: dict[int, TrueSymbol] = {}
    for true in truth.symbols:
        symbol = _find(code, true)
        if symbol is not None and symbol.kind in {"function", "method"}:
            asked[symbol.id] = true
    ends = sorted(asked)
    luck.shuffle(ends)
    checked: set[tuple[int, int]] = set()
    for number in ends[:_PAIRS]:
        end = code.symbol(number)
        starts = [symbol for _, symbol in spread(code, end, 3, most=40)] if end is not None else []
        if end is None or not starts:
            continue
        for way in paths(code, luck.choice(starts), end, 4):
            for before, step in pairwise(way):
                true_end = asked.get(step.symbol.id)
                if code.sources[before.symbol.file].path not in truth.files:
                    continue
                if step.sure and true_end is not None and (before.symbol.id, step.symbol.id) not in checked:
                    checked.add((before.symbol.id, step.symbol.id))
                    if not _is_true_step(code, before.symbol, step, true_end, tally):
                        misses.append(f"false step: {before.symbol.qualified} -> {true_end.name} at {step.lines[0]}")


def _is_true_step(code: Code, caller: Symbol, step: CallEdge, true: TrueSymbol, tally: Tally) -> bool:
    """Whether a step is at a line that the server knows as a use; counts what the server can read."""
    path = code.sources[caller.file].path
    lines = {(path, line) for line in step.lines}
    if lines & set(true.unresolved):
        return True
    tally.steps += 1
    found = bool(lines & set(true.uses))
    tally.steps_true += found
    return found


def _compare_callers(code: Code, symbol: Symbol, wanted: set[Place], tally: Tally) -> None:
    """The functions around the true uses, against those that are named as callers."""
    around: set[int] = set()
    for path, line in wanted:
        source = code.by_path.get(path)
        inner = code.store.symbol_at(source.id, line) if source else None
        if inner is not None and inner.id != symbol.id and inner.kind in {"function", "method", "constructor"}:
            around.add(inner.id)
    named = {call.symbol.id for call in callers(code, symbol)}
    tally.calling += len(around)
    tally.calling_found += len(around & named)


def _find(code: Code, true: TrueSymbol) -> Symbol | None:
    source = code.by_path.get(true.path)
    found = [each for each in code.find_named(true.name) if source and each.file == source.id]
    found = [each for each in found if abs(each.line - true.line) < 2 and each.kind != "impl"]
    if not found and source is not None and _FORWARD.match(_line(code, source.id, true.line)):
        found = [each for each in code.find_named(true.name) if each.kind in _INHERITED]  # where its body is
    return min(found, key=lambda each: abs(each.line - true.line), default=None)


def _list(misses: list[str], what: str, label: str, places: set[Place]) -> None:
    misses += [f"{what}: {label} at {path}:{line}" for path, line in sorted(places)]
