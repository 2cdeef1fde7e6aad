"""Search hits in our forms against the verbose JSON that other servers send, for the same hits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from laconic.index.parse import parse
from laconic.records import Definition, Hit
from laconic.render.compact_json import Json, dump, hits_json
from laconic.render.hits import hits_text
from laconic.render.table import Cell
from laconic.tokens.count import counter
from laconic_benchmarks.corpus import DJANGO, sdist, texts
from laconic_benchmarks.report import Options, Report, at_least, versions

_PAGE = 20
_PAGES = 100


def run(options: Options) -> Report:
    """Pages of 20 definitions of Django, four to a file as a search would find them."""
    count = counter()
    totals = {"verbose JSON": [0, 0], "compact JSON": [0, 0], "text": [0, 0]}
    pages = 0
    for page in _pages(sdist(DJANGO, Path(options.cache))):
        forms = {
            "verbose JSON": dump([_verbose(hit) for hit in page]),
            "compact JSON": dump(hits_json(page)),
            "text": hits_text(page),
        }
        for name, text in forms.items():
            totals[name][0] += count(text)
            totals[name][1] += len(text.encode())
        pages += 1
    tokens, size = totals["verbose JSON"]
    rows: list[dict[str, Cell]] = [
        {
            "form": name,
            "pages": pages,
            "tokens": t,
            "bytes": b,
            "fewer tokens": 1 - t / tokens,
            "fewer bytes": 1 - b / size,
        }
        for name, (t, b) in totals.items()
    ]
    return Report(
        "hits",
        f"{DJANGO}: {pages} pages of {_PAGE} definitions",
        count.name,
        tuple(rows),
        (
            at_least("text: fewer tokens than verbose JSON", 1 - totals["text"][0] / tokens, 0.65),
            at_least("compact JSON: fewer bytes than verbose JSON", 1 - totals["compact JSON"][1] / size, 0.42),
        ),
        versions=versions("splintr-rs"),
    )


def _pages(django: Path) -> Iterator[list[Hit]]:
    page: list[Hit] = []
    pages = 0
    for path, text in texts(django / "django", ".py"):
        name = path.relative_to(django).as_posix()
        found = parse(name, text.encode())
        if found is None:
            continue
        page += [_hit(name, definition) for definition in found.definitions if definition.signature][:4]
        if len(page) >= _PAGE:
            yield page[:_PAGE]
            page, pages = [], pages + 1
        if pages == _PAGES:
            return


def _hit(path: str, definition: Definition) -> Hit:
    return Hit(path, definition.line, "def", definition.name, definition.signature, span=definition.span)


def _verbose(hit: Hit) -> dict[str, Json]:
    """The form that compact answers are compared with: nested span, repeated names, null fields."""
    return {
        "hit_id": f"lexical:{hit.path}:{hit.line}:0",
        "path": hit.path,
        "span": {"start_line": hit.line, "start_col": 0, "end_line": hit.line, "end_col": 0},
        "kind": hit.kind,
        "symbol_id": hit.name,
        "preview_line": hit.preview,
        "symbol": {"name": hit.name, "kind": "function", "qualified_name": None},
    }
