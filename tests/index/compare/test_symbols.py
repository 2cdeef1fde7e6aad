"""What happened to symbols between two states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.index.compare.symbols import TOP, compare
from laconic.records import FileChange, SymbolChange

BASE = '''import os

LIMIT = 3


def one(a, b):
    """First."""
    total = a + b
    for _ in range(LIMIT):
        total += os.cpu_count() or 1
    return total


class Box:
    size = 1

    def get(self, key):
        return self.items[key] or self.missing(key)

    def put(self, key, value):
        self.items[key] = value
        self.items.touch(key)
'''


HEAD = BASE[BASE.index("def one") : BASE.index(" + b")]


def changed(old: str | None, new: str | None, path: str = "a.py", old_path: str = "") -> list[SymbolChange]:
    status = "added" if old is None else "removed" if new is None else "changed"
    sides = [None if text is None else text.encode() for text in (old, new)]
    return list(compare([FileChange(path, status, old_path, sides[0], sides[1])]).symbols)


def said(changes: list[SymbolChange]) -> dict[str, tuple[str, ...]]:
    return {change.name: change.changes for change in changes}


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("total = a + b", "total = a - b", {"one": ("body",)}),
        ("def one(a, b):", "def one(a, b, c=0):", {"one": ("signature",)}),
        (HEAD, HEAD.replace("a, b", "a").replace("= a", "= 0"), {"one": ("signature", "body")}),
        ("def one", "def uno", {"uno": ("renamed",)}),
        ("LIMIT = 3", "LIMIT = 4", {"LIMIT": ("body",)}),
        ("    size = 1\n", "    size = 1\n    color = 2\n", {"Box.color": ("added",)}),
        ("class Box:", "class Box(dict):", {"Box": ("signature",)}),
        ("class Box:", "class Crate:", {"Crate": ("renamed",)}),
        ("        self.items.touch(key)\n", "", {"Box.put": ("body",)}),
        ('"""First."""', '"""Second."""', {"one": ("cosmetic",)}),
        ("total = a + b", "total = a + b  # sum", {"one": ("cosmetic",)}),
        ("total = a + b", "total = (\n        a + b\n    )", {"one": ("body",)}),
        ("def one(a, b):", "def one(\n    a,\n    b,\n):", {"one": ("cosmetic",)}),
        ("import os\n", "import os\nimport re\n", {}),
        ("\n\n\nclass Box", "\n\n\n\n\nclass Box", {}),
        ("    return total\n", "    return total\n\n\nprint(LIMIT)\n", {TOP: ("body",)}),
        ("    return total", "        return total", {"one": ("body",)}),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_named_and_nothing_else(
    before: str, after: str, expected: dict[str, tuple[str, ...]]
) -> None:
    assert before in BASE
    assert said(changed(BASE, BASE.replace(before, after, 1))) == expected


@pytest.mark.feature("C3")
def test_a_new_function_does_not_touch_its_neighbours() -> None:
    new = BASE.replace("\n\nclass Box", "\n\ndef two(a, b):\n    total = a * b\n    return total\n\n\nclass Box")
    (only,) = changed(BASE, new)
    assert (only.name, only.changes, only.signature) == ("two", ("added",), "def two(a, b)")
    assert only.span is not None and only.span.start == 14


@pytest.mark.feature("C3")
def test_new_and_removed_files_list_their_symbols() -> None:
    assert {c.name: c.within for c in changed(None, BASE)} == {
        "LIMIT": False, "one": False, "Box": False, "Box.size": True, "Box.get": True, "Box.put": True
    }  # fmt: skip
    assert {c.changes for c in changed(BASE, None)} == {("removed",)}


@pytest.mark.feature("C3")
def test_a_symbol_that_went_to_another_file_was_moved() -> None:
    function = BASE[BASE.index("def one") : BASE.index("\n\nclass")]
    found = compare(
        [
            FileChange("a.py", "changed", old=BASE.encode(), new=BASE.replace(function, "").encode()),
            FileChange("b.py", "added", new=b"import os\n\n\n" + function.encode()),
        ]
    )
    (moved,) = [c for c in found.symbols if c.name == "one"]
    assert (moved.changes, moved.path, moved.old_path) == (("moved",), "b.py", "a.py")


def test_symbols_of_a_renamed_file_did_not_move() -> None:
    assert changed(BASE, BASE, path="c.py", old_path="a.py") == []


def test_a_renamed_class_takes_its_members_along() -> None:
    new = BASE.replace("class Box", "class Crate").replace("def get", "def fetch")
    assert said(changed(BASE, new)) == {"Crate": ("renamed",), "Crate.fetch": ("renamed",)}


def test_lines_are_counted_from_the_hunks_that_touch_a_symbol() -> None:
    from laconic.edits.patch import sections

    new = BASE.replace("total = a + b", "total = a\n    total += b")
    (part,) = sections(
        b"--- a/a.py\n+++ b/a.py\n@@ -8 +8,2 @@\n-    total = a + b\n+    total = a\n+    total += b\n"
    )
    (one,) = compare([FileChange("a.py", "changed", old=BASE.encode(), new=new.encode(), hunks=part.hunks)]).symbols
    assert (one.added, one.removed) == (2, 1)


@pytest.mark.feature("C3")
@given(st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_exactly_the_functions_that_were_edited_are_reported(edited: set[int], commented: set[int]) -> None:
    """Among many that look alike."""
    texts = [f"def f{i}(x):\n    y = x + 1\n    return y * {i}\n" for i in range(12)]
    new = [
        text.replace("x + 1", "x + 2")
        if i in edited
        else text.replace("x + 1", "x + 1  # why")
        if i in commented
        else text
        for i, text in enumerate(texts)
    ]
    expected = {f"f{i}": ("body",) for i in edited} | {f"f{i}": ("cosmetic",) for i in commented - edited}
    assert said(changed("\n\n".join(texts), "\n\n".join(new))) == expected


def test_bytes_that_are_not_text_or_code_are_only_files() -> None:
    found = compare(
        [
            FileChange("a.bin", "changed", old=b"\0", new=b"\1\0", note="binary"),
            FileChange("x", "added", new=b"q\xff"),
        ]
    )
    assert found.symbols == ()
    assert [file.code for file in found.files] == [False, False]


def test_in_a_file_that_no_longer_parses_only_what_is_gone_is_called_removed() -> None:
    old = "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n"
    new = b"def f(:\n    return 1\n\n\ndef g(\n    return 2 ]]]\n"
    found = compare([FileChange("a.py", "changed", old=old.encode(), new=new)])
    assert found.files[0].change.note == "no longer parses"
    told = said(list(found.symbols))
    assert told["h"] == ("removed",)
    assert "removed" not in {*told["f"], *told["g"]}


def test_what_a_file_held_that_cannot_be_read_is_not_called_removed() -> None:
    found = compare([FileChange("a.py", "changed", old=BASE.encode(), note="has 3,000,046 bytes, over the limit")])
    assert found.symbols == ()
