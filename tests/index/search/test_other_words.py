"""A question finds what shares no word with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from laconic.index.search import search
from laconic.index.workspace_index import Index

FILES = {
    "backend/limiter.go": "package backend\n\n// NewLimiter bounds the bandwidth of a remote.\n"
    "func NewLimiter(rate int) Limiter {\n\treturn Limiter{rate}\n}\n",
    "data/policy.go": "package data\n\n// ExpirePolicy says which snapshots go.\n"
    "type ExpirePolicy struct {\n\tLast int\n}\n",
    "ui/speed.go": "package ui\n\nfunc PrintSpeed(speed int) {}\n\nfunc ShowNetwork(network string) {}\n"
    "\nfunc ThrottleProgress() {}\n",
    "cache/old.go": "package cache\n\nfunc Old(dir string) bool {\n\treturn true\n}\n\nfunc Backups() {}\n"
    "\nfunc EraseLine() {}\n\nfunc IsOld() bool {\n\treturn true\n}\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    for name, text in FILES.items():
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text(text)
    made = Index.open(tmp_path / "code", tmp_path / "cache")
    made.build()
    yield made
    made.close()


@pytest.mark.feature("U6")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [("throttle network speed", "backend/limiter.go"), ("erase old backups", "data/policy.go")],
)
def test_a_question_in_other_words_finds_what_shares_none_with_it(index: Index, question: str, wanted: str) -> None:
    found = search(index, question, semantic=False).hits[:6]
    assert wanted in {hit.path for hit in found}
    assert found[0].path != wanted


@pytest.mark.feature("U6")
def test_names_are_found_by_their_letters_alone(index: Index) -> None:
    assert {hit.path for hit in search(index, "ThrottleProgress").hits} == {"ui/speed.go"}
