"""Answers of `search`, as text and as JSON, against the verbose JSON that other servers send for the same hits."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from laconic.config import load
from laconic.index.symbol_kinds import RANKED_TYPES
from laconic.render.compact_json import Json, dump
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools
from laconic_benchmarks.corpus import DJANGO, sdist
from laconic_benchmarks.report import Options, Report, at_least, versions

_PAGE: Final = 20
_PAGES: Final = 60
_SHARED: Final = 5  # definitions of one name, so that no single one is shown with its body
_BUDGET: Final = 10_000
_FORMS: Final = ("verbose JSON", "compact JSON", "text")


def run(options: Options) -> Report:
    """Pages of definitions, and pages of uses, of names that several symbols of Django have."""
    cache = Path(options.cache)
    runtime = ToolRuntime(sdist(DJANGO, cache), load(flags={"cache_dir": str(cache / "indexes")}), tools())
    runtime.index.build(seconds=600)
    rows: list[dict[str, Cell]] = []
    totals: Counter[str] = Counter()
    for what, within in (("definitions", "symbols"), ("uses", "refs")):
        sizes = _measure(runtime, within)
        totals.update(sizes)
        for form in _FORMS:
            rows.append(_row(what, form, sizes))
    runtime.close()
    fewer_tokens = 1 - totals["tokens of text"] / totals["tokens of verbose JSON"]
    fewer_bytes = 1 - totals["bytes of compact JSON"] / totals["bytes of verbose JSON"]
    return Report(
        "hits",
        f"{DJANGO}: names with {_SHARED} definitions or more, pages of at most {_PAGE} hits",
        counter().name,
        tuple(rows),
        (
            at_least("text: fewer tokens than verbose JSON", fewer_tokens, 0.65),
            at_least("compact JSON: fewer bytes than verbose JSON", fewer_bytes, 0.42),
        ),
        versions=versions("splintr-rs"),
    )


def _measure(runtime: ToolRuntime, within: str) -> Counter[str]:
    """Tokens and bytes of each form, summed over all pages."""
    count = counter()
    sizes: Counter[str] = Counter()
    for name in _shared_names(runtime):
        asked = {"query": name, "in": within, "limit": _PAGE, "budget": _BUDGET}
        text = runtime.call("search", asked).text
        compact = runtime.call("search", asked | {"format": "json"}).text
        hits = json.loads(compact)["hits"]
        forms = {"verbose JSON": dump([_verbose(hit) for hit in hits]), "compact JSON": compact, "text": text}
        sizes["pages"] += 1
        sizes["hits"] += len(hits)
        for form, answer in forms.items():
            sizes[f"tokens of {form}"] += count(answer)
            sizes[f"bytes of {form}"] += len(answer.encode())
    return sizes


def _shared_names(runtime: ToolRuntime) -> list[str]:
    """Names of functions that several symbols have, evenly spread over the alphabet."""
    names: Counter[str] = Counter()
    for file in runtime.index.store.files():
        for symbol in runtime.index.store.symbols_in(file.id):
            if symbol.kind not in RANKED_TYPES and symbol.name.isidentifier() and len(symbol.name) > 3:
                names[symbol.name] += 1
    shared = sorted(name for name, times in names.items() if times >= _SHARED)
    return shared[:: max(1, len(shared) // _PAGES)][:_PAGES]


def _row(what: str, form: str, sizes: Counter[str]) -> dict[str, Cell]:
    tokens, size = sizes[f"tokens of {form}"], sizes[f"bytes of {form}"]
    return {
        "hits": what,
        "form": form,
        "pages": sizes["pages"],
        "shown": sizes["hits"],
        "tokens": tokens,
        "bytes": size,
        "fewer tokens": 1 - tokens / sizes["tokens of verbose JSON"],
        "fewer bytes": 1 - size / sizes["bytes of verbose JSON"],
    }


def _verbose(hit: dict[str, Any]) -> dict[str, Json]:
    """The form that answers are compared with: nested span, repeated names, null fields."""
    return {
        "hit_id": f"lexical:{hit['path']}:{hit['line']}:0",
        "path": hit["path"],
        "span": {"start_line": hit["line"], "start_col": 0, "end_line": hit["line"], "end_col": 0},
        "kind": hit["kind"],
        "symbol_id": hit.get("name"),
        "preview_line": hit.get("preview"),
        "symbol": {"name": hit.get("name"), "kind": "function", "qualified_name": hit.get("in")},
    }
