"""An index that an older parser made stays in use while it is brought up to date, and is never taken for a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from laconic.index.parse_files import FileParser, ParseJob
from laconic.index.prepared_file import PreparedFile
from laconic.index.schema import PARSER
from laconic.index.workspace_index import Index

_FILES = 450  # more than two batches


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    for number in range(_FILES):
        (folder / f"m{number:03}.py").write_text(f"def f{number}():\n    return f{number - 1}()\n")
    return folder


@pytest.fixture
def index(code: Path, tmp_path: Path) -> Iterator[Index]:
    index = Index.open(code, tmp_path / "cache")
    index.build()
    yield index
    index.close()


def _made_by(index: Index, parser: int) -> None:
    """The index as another parser would have made it: one that sees no definitions."""
    with index.store.writing():
        index.store.connection.execute("DELETE FROM main.symbols")
        index.store.connection.execute("UPDATE main.versions SET parser = ?, defined = 0", (parser,))


def _symbols(index: Index) -> int:
    return int(index.store.connection.execute("SELECT count(*) FROM symbols").fetchone()[0])


def test_what_an_older_parser_saw_is_parsed_again(index: Index) -> None:
    wanted = index.store.fingerprint()
    _made_by(index, PARSER - 1)
    assert index.store.outdated
    assert index.refresh(patience=60) == ""
    assert index.store.fingerprint() == wanted
    assert not index.store.outdated
    assert index.build().written == 0
    assert index.store.meta("dead") == "0"  # nothing of the older words is left to be ranked


@pytest.mark.parametrize("said", [PARSER, 99])
def test_an_index_of_this_parser_or_a_newer_one_is_used_as_it_is(index: Index, said: int) -> None:
    _made_by(index, said)
    assert index.refresh(patience=60) == ""
    assert index.build().written == 0
    assert _symbols(index) == 0


class _Dying(FileParser):
    """A parser that is killed in the middle."""

    def prepare(self, root: Path, jobs: Collection[ParseJob]) -> Iterator[PreparedFile]:
        for number, file in enumerate(super().prepare(root, jobs)):
            if number == 250:
                raise KeyboardInterrupt
            yield file


def test_while_it_is_brought_up_to_date_the_old_rows_are_there_and_a_kill_loses_nothing(
    index: Index, code: Path, tmp_path: Path
) -> None:
    wanted = index.store.fingerprint()
    _made_by(index, 0)
    dying = Index.open(code, tmp_path / "cache", _Dying())
    with pytest.raises(KeyboardInterrupt):
        dying.build()
    dying.close()
    assert len(list(index.store.files())) == _FILES
    done = _symbols(index)
    assert 0 < done < _FILES
    assert index.store.outdated
    assert index.build().written == _FILES - done
    assert index.store.fingerprint() == wanted


def test_files_that_an_answer_quotes_are_parsed_first(index: Index) -> None:
    _made_by(index, 0)
    assert index.ensure(["m007.py"])
    assert [symbol.name for symbol in index.store.symbols_named("f7")] == ["f7"]
    assert not index.ensure(["m007.py"])
    assert index.store.outdated


def test_a_file_that_is_gone_is_dropped_with_the_others_parsed_again(index: Index, code: Path) -> None:
    _made_by(index, 0)
    (code / "m001.py").unlink()
    outcome = index.build()
    assert (outcome.written, outcome.removed) == (_FILES - 1, 1)
