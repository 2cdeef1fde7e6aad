"""A build makes the index say what the disk says, whatever happened in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from laconic.index.store import Store, lock_of
from laconic.index.workspace_index import Index
from laconic.workspace.lock import hold_lock

Git = Callable[..., None]


def paths(index: Index) -> list[str]:
    return [file.path for file in index.store.files()]


def test_a_build_lists_what_git_lists(index: Index) -> None:
    index.build()
    assert paths(index) == [".gitignore", "a.txt", "b.txt", "c.txt"]


def test_a_second_build_writes_nothing(index: Index) -> None:
    assert index.build().written == 4
    assert index.build().written == 0


def test_change_rename_and_delete_leave_no_stale_row(index: Index, root: Path) -> None:
    index.build()
    (root / "a.txt").write_text("another text\n")
    (root / "b.txt").rename(root / "d.txt")
    (root / "c.txt").unlink()
    outcome = index.build()
    assert (outcome.written, outcome.removed) == (2, 2)
    assert paths(index) == [".gitignore", "a.txt", "d.txt"]


def test_a_branch_switch_is_followed(index: Index, root: Path, git: Git) -> None:
    index.build()
    before = index.store.fingerprint()
    git("checkout", "-b", "side")
    (root / "a.txt").write_text("on the side\n")
    (root / "new.txt").write_text("new\n")
    git("add", ".")
    git("commit", "-m", "side")
    index.build()
    assert index.store.fingerprint() != before
    git("checkout", "main")
    index.build()
    assert index.store.fingerprint() == before


def test_a_change_with_the_same_size_and_time_is_seen(index: Index, root: Path) -> None:
    """A write within one tick of the file system's clock keeps size and time; the contents decide."""
    file = root / "a.txt"
    index.build()
    before = file.stat()
    file.write_text("THIS IS a.txt\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert index.build().written == 1


def test_a_touched_file_is_not_written_again(index: Index, root: Path) -> None:
    index.build()
    os.utime(root / "a.txt", (1, 1))
    outcome = index.build()
    assert outcome.written == 0
    assert outcome.unchanged >= 1


def test_what_cannot_be_read_is_listed_with_the_reason(index: Index, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (root / "out.txt").symlink_to(tmp_path / "secret")
    (root / "inner.txt").symlink_to(root / "a.txt")
    (root / "bin.dat").write_bytes(b"\0\1\2")
    (root / "huge.py").write_bytes(b"x = 1\n" * 400_000)
    index.build()
    reasons = {file.path: file.reason for file in index.store.files() if file.state == "skipped"}
    assert reasons == {
        "bin.dat": "binary",
        "huge.py": "2,400,000 bytes, over 2,000,000",
        "inner.txt": "a link to a.txt",
        "out.txt": "a link that leaves the workspace",
    }


def test_a_query_sees_a_change_without_being_told(index: Index, root: Path) -> None:
    index.build()
    (root / "a.txt").write_text("changed behind its back\n")
    assert index.ensure(["a.txt", "b.txt"])
    assert not index.ensure(["a.txt", "b.txt"])
    (root / "b.txt").unlink()
    assert index.ensure(["b.txt"])
    assert "b.txt" not in paths(index)


def test_the_first_refresh_builds_behind_and_says_so(index: Index) -> None:
    assert "being built" in index.refresh(patience=0)
    assert index.refresh(patience=60) == ""
    assert len(paths(index)) == 4


def test_a_running_build_can_be_queried(index: Index, root: Path) -> None:
    """Another connection sees whole batches while the build goes on."""
    for number in range(450):
        (root / f"n{number}.txt").write_text(f"number {number}\n")
    reader = Store.open(index.store.path, root)
    seen: list[tuple[int, str]] = []
    index.build(lambda done, total: seen.append((len(list(reader.files())), reader.meta("building"))))
    assert seen == [(200, "200/454"), (400, "400/454"), (454, "454/454")]
    assert reader.meta("building") == ""


def test_only_one_process_writes(index: Index) -> None:
    """A second one is told so, and goes on reading."""
    with hold_lock(lock_of(index.store.path, index.store.checkout)) as got:
        assert got
        assert index.build().locked
        assert paths(index) == []
    assert index.build().written == 4


HOSTILE = {
    "empty.py": b"",
    "nul.py": b"x = 1\0\0\n",
    "late_nul.py": b"# " + b"a" * 9000 + b"\n\0\ndef after_nul(): pass\n",
    "broken.py": b"def caf\xe9(): pass\n\xff\xfe\n",
    "wide.js": b"x" * 300_000 + b"\n",
    "deep.js": b"[" * 20_000,
    "nested.py": b"(" * 5000 + b")" * 5000,
    "returns.py": b"def a(): pass\rdef b(): pass\r",
    "utf16.py": "def wide(): pass\n".encode("utf-16"),
    "bom.py": b"\xef\xbb\xbfdef first(): pass\n",
    "separators.py": "x = 1\u2028y = 2\x0cz = 3\n".encode(),
    "surrogates.json": b'{"a": "\\ud800"}\n',
}


def test_hostile_files_are_indexed_or_listed_with_a_reason(index: Index, root: Path) -> None:
    for name, data in HOSTILE.items():
        (root / name).write_bytes(data)
    index.build()
    found = {file.path: file for file in index.store.files() if file.path in HOSTILE}
    assert found.keys() == HOSTILE.keys()
    assert {path for path, file in found.items() if file.state == "skipped"} == {"nul.py"}
    assert all(file.reason for file in found.values() if file.state in {"skipped", "failed"})
    assert [symbol.name for symbol in index.store.symbols_in(found["bom.py"].id)] == ["first"]
    assert index.build().written == 0


def test_threads_that_find_the_index_unbuilt_share_one_build(index: Index) -> None:
    """A query and the watcher may come to it at the same moment."""
    together = Barrier(8)

    def look() -> str:
        together.wait()
        return index.refresh(0.0)

    with hold_lock(lock_of(index.store.path, index.store.checkout)) as got, ThreadPoolExecutor(8) as pool:
        assert got
        for _ in range(50):
            said = {future.result() for future in [pool.submit(look) for _ in range(8)]}
            assert said == {"the index is being built"}
