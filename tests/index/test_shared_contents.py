"""Contents that were parsed elsewhere: the same index as from parsing, and no parsing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from laconic.index.content_record import read_content
from laconic.index.packed_record import BadRecord, pack_record, unpack_record
from laconic.index.parse_files import FileParser, FilePreparer
from laconic.index.shared_contents import SharingParser
from laconic.index.store.content_store import ContentStore
from laconic.index.workspace_index import Index
from laconic.sessions.team.remote_contents import RemoteContents

FILES = {"a.py": "def one():\n    return two()\n", "copy.py": "def one():\n    return two()\n", "b.go": "package b\n"}


class _Counting:
    """A source that counts what is parsed for it."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        self.saved = 0

    def find(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        return self._store.find(keys)

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        return self._store.claim(keys)

    def save(self, records: Mapping[bytes, bytes]) -> None:
        self.saved += len(records)
        self._store.save(records)


def _write(folder: Path) -> Path:
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def _fingerprint(root: Path, cache: Path, parser: FilePreparer) -> str:
    index = Index.open(root, cache, parser, force=True)
    try:
        index.build()
        return index.store.fingerprint()
    finally:
        index.close()


def test_taken_over_is_as_good_as_parsed(tmp_path: Path) -> None:
    source = _Counting(ContentStore(tmp_path / "contents.sqlite"))
    first, second = _write(tmp_path / "first"), _write(tmp_path / "second")
    parsed = _fingerprint(first, tmp_path / "c0", FileParser())
    assert _fingerprint(first, tmp_path / "c1", SharingParser(source)) == parsed
    assert source.saved == 2  # two of the files are equal
    assert _fingerprint(second, tmp_path / "c2", SharingParser(source)) == parsed
    assert source.saved == 2


def test_records_that_are_damaged_are_parsed(tmp_path: Path) -> None:
    class Damaged(_Counting):
        def find(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
            return dict.fromkeys(keys, b"\x28\xb5\x2f\xfdnonsense")

    source = Damaged(ContentStore(tmp_path / "contents.sqlite"))
    root = _write(tmp_path / "first")
    parsed = _fingerprint(root, tmp_path / "c0", FileParser())
    assert _fingerprint(root, tmp_path / "c1", SharingParser(source)) == parsed


def test_a_server_that_is_away_is_asked_once(tmp_path: Path) -> None:
    now = [0.0]
    remote = RemoteContents("http://127.0.0.1:9", "lac-x", clock=lambda: now[0])
    root = _write(tmp_path / "first")
    parsed = _fingerprint(root, tmp_path / "c0", FileParser())
    assert _fingerprint(root, tmp_path / "c1", SharingParser(remote)) == parsed
    assert remote.find([b"0" * 16]) == {}


def test_a_content_is_claimed_by_one(tmp_path: Path) -> None:
    one, two = ContentStore(tmp_path / "contents.sqlite"), ContentStore(tmp_path / "contents.sqlite")
    assert one.claim([b"a", b"b"]) == {b"a", b"b"}
    assert two.claim([b"b", b"c"]) == {b"c"}
    one.save({b"b": b"record"})
    assert two.claim([b"b"]) == set()
    assert two.find([b"a", b"b"]) == {b"b": b"record"}


def test_forks_are_known_by_their_files(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "contents.sqlite")
    blobs = [bytes([number]) * 20 for number in range(10)]
    assert store.join_family("acme/web", blobs) == "acme/web"
    assert store.join_family("bob/web", [*blobs[:8], b"x" * 20]) == "acme/web"
    assert store.join_family("acme/other", [b"y" * 20, b"z" * 20, blobs[0]]) == "acme/other"


def test_a_record_survives_packing() -> None:
    record = read_content("a.py", FILES["a.py"].encode())
    packed = pack_record(record)
    assert unpack_record(packed) == record
    for damaged in (b"", packed[:-3], b"zzzz", packed[:10]):
        with pytest.raises(BadRecord):
            unpack_record(damaged)
