"""Unified diffs are read and applied as git does."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.edits.patch import sections
from laconic.errors import UsageError

TEXT = st.lists(st.sampled_from(["a", "b", "", "  c", "-- d", "++ e"]), max_size=12).map(
    lambda lines: [f"{x}\n" for x in lines]
)


@given(TEXT, TEXT, st.integers(0, 3))
def test_applying_a_diff_gives_the_new_text(old: list[str], new: list[str], context: int) -> None:
    patch = "".join(difflib.unified_diff(old, new, "a/f", "b/f", n=context))
    for section in sections(patch.encode()):
        assert section.apply("".join(old).encode()) == "".join(new).encode()


def test_a_patch_of_git_names_new_gone_renamed_and_binary_files() -> None:
    patch = (
        b"From: me\n\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
        b"diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        b"diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n"
        b"diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n"
    )
    found = [(s.old_path, s.new_path, s.binary, len(s.hunks)) for s in sections(patch)]
    assert found == [
        ("", "n", False, 1),
        ("g", "", False, 1),
        ("old name", "new name", False, 0),
        ("p.png", "p.png", True, 0),
    ]


def test_a_hunk_that_moved_is_found_and_one_that_does_not_fit_is_an_error() -> None:
    (section,) = sections(b"--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n keep\n-old\n+new\n")
    assert section.apply(b"1\n2\n3\nkeep\nold\n") == b"1\n2\n3\nkeep\nnew\n"
    with pytest.raises(UsageError, match="does not fit"):
        section.apply(b"nothing\n")


def test_a_missing_final_newline_stays_missing() -> None:
    (section,) = sections(
        b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )
    assert section.apply(b"a") == b"b"
