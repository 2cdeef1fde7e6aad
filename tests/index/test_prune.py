"""Compacting drops what is dead from the full-text tables and nothing else."""

from __future__ import annotations

from pathlib import Path

from laconic.index.build import build
from laconic.index.parse_files import FileParser
from laconic.index.prune import collect_unheld, compact, too_many_dead
from laconic.index.store import Store
from laconic.index.workspace_index import Index

QUESTIONS = {"texts": "ant", "mentions": "crawl", "words": "body: crawl"}


def rows(store: Store) -> dict[str, list[int]]:
    return {
        table: [
            row[0] for row in store.connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (asked,))
        ]
        for table, asked in QUESTIONS.items()
    }


def test_only_dead_rows_go(index: Index, root: Path) -> None:
    file = root / "x.py"
    for number in range(4):
        file.write_text(f"def ant_{number}():\n    crawl()\n")
        index.build()
    before = rows(index.store)
    assert all(len(found) == 4 for found in before.values())
    writer = Store.open(index.store.path, root)
    collect_unheld(writer, keep_some=False)
    compact(writer)
    assert rows(writer) == {table: found[-1:] for table, found in before.items()}
    writer.close()


def test_a_build_compacts_when_more_is_dead_than_alive(index: Index, root: Path) -> None:
    index.build()
    writer = Store.open(index.store.path, root)
    with writer.writing():
        writer.set_meta("dead", "501")
    assert too_many_dead(writer)
    build(writer, root, FileParser(), lambda done, total: None)
    assert not too_many_dead(writer)
    writer.close()
