"""A build parses first what somebody asks about, and writes it at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from laconic.index.build import build
from laconic.index.parse_files import FileParser, ParseJob
from laconic.index.parse_order import ParseOrder, WantedFiles
from laconic.index.prepared_file import PreparedFile
from laconic.index.store import Store
from laconic.workspace.listing import ListedFile

PATHS = ["a/one.py", "a/two.py", "b/Three.py", "b/deep/four.py", "docs/five.md"]


def order(wanted: WantedFiles) -> ParseOrder:
    return ParseOrder([ParseJob(ListedFile(path, 1, 1), frozenset()) for path in PATHS], wanted)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what does b/deep/four.py do", ["b/deep/four.py"]),
        ("show b\\deep\\four.py", ["b/deep/four.py"]),
        ("three", ["b/Three.py"]),
        ("five.md and two", ["docs/five.md", "a/two.py"]),
        ("docs", ["docs/five.md"]),
        ("of a", []),
    ],
)
def test_named_files_come_first(question: str, first: list[str]) -> None:
    wanted = WantedFiles()
    wanted.ask([question])
    jobs = order(wanted)
    taken = [job.item.path for job in jobs]
    assert taken[: len(first)] == first
    assert sorted(taken) == sorted(PATHS)
    assert jobs.urgent == set(first)


def test_a_question_during_a_build_moves_its_files_forward() -> None:
    wanted = WantedFiles()
    jobs = iter(order(wanted))
    assert next(jobs).item.path == "a/one.py"
    wanted.ask(["four"])
    assert [job.item.path for job in jobs] == ["b/deep/four.py", "a/two.py", "b/Three.py", "docs/five.md"]


class AskingParser:
    """Parses, and asks a question after the first file, as somebody in another thread would."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]:
        for number, job in enumerate(jobs):
            if number == 0:
                self._ask()
            yield from FileParser(parsers=1).prepare(root, [job])


def test_what_is_asked_for_is_written_before_the_rest(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    for number in range(100):
        (code / f"m{number:03}.py").write_text(f"def f{number}(): ...\n")
    wanted = WantedFiles()
    store = Store.open(tmp_path / "v.sqlite", code)
    written: list[tuple[str, ...]] = []

    def look(done: int, total: int) -> None:
        written.append(tuple(file.path for file in store.files()))

    build(store, code, AskingParser(lambda: wanted.ask(["m099.py"])), look, wanted=wanted)
    store.close()
    assert written[0] == ("m000.py", "m099.py")
    assert len(written[-1]) == 100
