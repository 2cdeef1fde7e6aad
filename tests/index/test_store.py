"""The store keeps what it was given, forgets what was dropped, and survives a broken file."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import IndexUnavailable
from laconic.index.content_record import make_record
from laconic.index.prepared_file import assemble
from laconic.index.reference_blobs import pack, unpack, unpack_named
from laconic.index.schema import FILE, file_of, position_of, symbol_id, symbols_of
from laconic.index.store import Store, lock_of
from laconic.records import Definition, Import, ParsedFile, Reference, Span
from laconic.workspace.listing import ListedFile
from laconic.workspace.lock import hold_lock

SOURCE = b"class Basket:\n    def add_item(self):\n        return total(self)\n"
PARSED = ParsedFile(
    "python",
    3,
    definitions=(
        Definition("Basket", "class", Span(1, 3), 1, "class Basket"),
        Definition("add_item", "method", Span(2, 3), 2, "def add_item(self)", parent=0),
    ),
    references=(Reference("total", 3, 15, "call", scope=1), Reference("self", 3, 21, "read", scope=1)),
    imports=(Import("shop.sums", 1, "total"),),
    exports=("Basket",),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "v.sqlite")


def put(store: Store, path: str, data: bytes = SOURCE, parsed: ParsedFile = PARSED) -> int:
    with store.writing():
        return store.put(assemble(ListedFile(path, len(data), 1), data, make_record(parsed, data), 2))


def test_a_symbol_is_found_in_every_naming_style(store: Store) -> None:
    put(store, "shop.py")
    for name in ("add_item", "addItem", "AddItem", "ADD_ITEM"):
        (found,) = store.symbols_named(name)
        assert (found.qualified, found.span, found.parent) == ("Basket.add_item", Span(2, 3), found.id - 1)


def test_the_innermost_symbol_around_a_line(store: Store) -> None:
    file = put(store, "shop.py")
    at = {line: store.symbol_at(file, line) for line in (1, 3, 9)}
    assert [symbol and symbol.name for symbol in at.values()] == ["Basket", "add_item", None]


def test_a_name_leads_to_the_files_that_mention_it(store: Store) -> None:
    file = put(store, "shop.py")
    put(store, "other.py", b"x = 1\n", ParsedFile("python", 1))
    assert list(store.mentions("total")) == [(file, [PARSED.references[0]])]
    assert list(store.mentions("TOTAL")) == []


def test_a_changed_file_leaves_no_row_of_its_old_version(store: Store) -> None:
    old = put(store, "shop.py")
    new = put(store, "shop.py", b"def total(): pass\n", ParsedFile("python", 1))
    assert new != old
    assert store.symbols_named("Basket") == []
    assert list(store.mentions("total")) == []
    assert store.connection.execute("SELECT count(*) FROM imports").fetchone() == (0,)
    assert store.connection.execute("SELECT count(*) FROM exports").fetchone() == (0,)


def test_an_id_is_never_used_twice(store: Store) -> None:
    first = put(store, "shop.py")
    with store.writing():
        store.erase(["shop.py"])
    assert put(store, "shop.py") > first


def test_a_new_index_looks_for_a_file_by_its_path(tmp_path: Path) -> None:
    """Not through all files of the checkout: a first build would look through them for each that it writes."""
    plans = []
    for _ in ("created", "opened again"):
        with closing(Store.open(tmp_path / "v.sqlite")) as store:
            rows = store.connection.execute("EXPLAIN QUERY PLAN SELECT id FROM files WHERE path = 'a'").fetchall()
            plans.append([row[-1] for row in rows])
    assert plans[0] == plans[1]
    assert "versions_path" in plans[0][0]


def test_a_version_that_comes_back_is_not_written_again(store: Store) -> None:
    first = put(store, "shop.py")
    put(store, "shop.py", b"def total(): pass\n", ParsedFile("python", 1))
    assert store.symbols_named("Basket") == []
    assert put(store, "shop.py") == first
    assert [symbol.name for symbol in store.symbols_named("Basket")] == ["Basket"]


def test_words_are_found_by_symbol_and_by_file(store: Store) -> None:
    file = put(store, "shop.py")
    rows = store.connection.execute("SELECT rowid FROM words WHERE words MATCH 'body: total'").fetchall()
    assert rows == [(symbol_id(file, 1),)]
    rows = store.connection.execute("SELECT rowid FROM words WHERE words MATCH 'name: shop'").fetchall()
    assert rows == [(symbol_id(file, FILE),)]


def test_a_failed_batch_writes_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.writing():
        store.put(assemble(ListedFile("shop.py", 1, 1), SOURCE, make_record(PARSED, SOURCE), 2))
        raise ZeroDivisionError
    assert store.file("shop.py") is None


def test_the_fingerprint_depends_on_rows_and_not_on_ids(tmp_path: Path) -> None:
    one, other = Store.open(tmp_path / "1.sqlite"), Store.open(tmp_path / "2.sqlite")
    put(one, "a.py")
    put(one, "b.py")
    put(other, "b.py", b"", ParsedFile("python", 0))
    put(other, "b.py")
    assert one.fingerprint() != other.fingerprint()
    put(other, "a.py")
    assert one.fingerprint() == other.fingerprint()


@pytest.mark.parametrize("broken", [b"", b"not a database at all" * 100])
def test_a_broken_index_is_replaced_by_an_empty_one(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(broken)
    assert list(Store.open(path).files()) == []


def test_an_index_of_another_schema_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    first = Store.open(path)
    put(first, "a.py")
    first.connection.execute("PRAGMA user_version = 999")
    first.close()
    assert list(Store.open(path).files()) == []


names = st.text(st.characters(codec="utf-8"), max_size=6)
references = st.builds(
    Reference,
    names,
    st.integers(1, 10**6),
    st.integers(0, 10**5),
    st.sampled_from(["call", "read", "new kind"]),
    names,
    st.integers(-1, 10**5),
)


@given(st.lists(references, max_size=30))
def test_packed_references_come_back(items: list[Reference]) -> None:
    """All of them by line, and those of one name in their order."""
    blob = pack(items)
    key = lambda ref: (ref.line, ref.column, ref.name, ref.kind, ref.receiver, ref.scope)  # noqa: E731
    assert sorted(unpack(blob), key=key) == sorted(items, key=key)
    for name in {ref.name for ref in items}:
        assert unpack_named(blob, name) == [ref for ref in items if ref.name == name]


@given(st.integers(1, 10**9), st.integers(-1, 2**16 - 3))
def test_a_symbol_id_knows_its_file_and_position(file: int, position: int) -> None:
    number = symbol_id(file, position)
    assert (file_of(number), position_of(number)) == (file, position)
    first, last = symbols_of(file)
    assert (first <= number <= last) == (position != FILE)


def test_an_index_that_cannot_be_opened_now_is_not_thrown_away(tmp_path: Path) -> None:
    """Only what is no index is replaced; a file that is merely out of reach stays as it is."""
    path = tmp_path / "index.sqlite"
    Store.open(path).close()
    before = path.read_bytes()
    (tmp_path / "index.sqlite-wal").mkdir()  # SQLite cannot make its log
    with pytest.raises(IndexUnavailable):
        Store.open(path)
    assert path.read_bytes() == before


def test_only_who_holds_the_writers_lock_replaces_a_ruined_index(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    opened: list[Store] = []
    with hold_lock(lock_of(path)):
        waiting = threading.Thread(target=lambda: opened.append(Store.open(path)))
        waiting.start()
        waiting.join(0.2)
        assert path.read_bytes().startswith(b"not a database")
    waiting.join()
    assert list(opened[0].files()) == []
    opened[0].close()


def test_names_that_hold_a_text_follow_the_checkout(store: Store) -> None:
    put(store, "shop.py")
    assert store.names_containing("item", 10) == ["additem"]
    assert store.names_containing("additem", 10) == []
    more = ParsedFile(
        "python", 1, definitions=(Definition("item_count", "function", Span(1, 1), 1, "def item_count()"),)
    )
    put(store, "more.py", b"def item_count(): ...\n", more)
    assert store.names_containing("item", 10) == ["additem", "itemcount"]
    assert store.names_containing("item", 1) == ["additem"]
    with store.writing():
        store.drop(["shop.py"])
    assert store.names_containing("item", 10) == ["itemcount"]
