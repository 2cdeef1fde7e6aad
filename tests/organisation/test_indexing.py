"""A worker's steps: forks share an index, crashes lose nothing, removed repositories leave nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.organisation.git_sources import commit, make_source

from laconic.config import Settings
from laconic.index.store import Store
from laconic.index.store.content_store import ContentStore
from laconic.index.store.file_queries import read_paths
from laconic.organisation.folder import OrganisationFolder
from laconic.organisation.indexing import RepositoryIndexer
from laconic.sessions.team.repositories import Repositories
from laconic.sessions.team.tables import open_team

FILES = {"a.py": "def one(): pass\n", "b.py": "def two(): pass\n", "c.py": "def three(): pass\n"}


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    return Repositories(open_team(tmp_path / "team.sqlite"))


def _paths(settings: Settings, repositories: Repositories, name: str) -> list[str]:
    folder, known = OrganisationFolder.of(settings), repositories.find(name)
    assert known is not None
    with closing(Store.open(folder.index(known), folder.files(name))) as store:
        return read_paths(store)


def _take_in(indexer: RepositoryIndexer, name: str) -> bool:
    found = indexer.fetch(name)
    if found is not None:
        indexer.index(name)
    return found is not None


def test_forks_share_an_index_and_contents(tmp_path: Path, settings: Settings, repositories: Repositories) -> None:
    source = make_source(tmp_path / "source", FILES)
    fork = make_source(tmp_path / "fork", {**FILES, "own.py": "def own(): pass\n"})
    repositories.add("acme/web", str(source), "x", "t")
    repositories.add("bob/web", str(fork), "y", "t")
    with closing(RepositoryIndexer(repositories, settings)) as indexer:
        assert _take_in(indexer, "acme/web")
        assert _take_in(indexer, "bob/web")
        assert not _take_in(indexer, "bob/web")  # nothing new
        commit(source, {"d.py": "def four(): pass\n"}, removed=("a.py",))
        assert _take_in(indexer, "acme/web")
    assert _paths(settings, repositories, "acme/web") == ["b.py", "c.py", "d.py"]
    assert _paths(settings, repositories, "bob/web") == ["a.py", "b.py", "c.py", "own.py"]
    assert {each.family for each in repositories.list()} == {"acme/web"}
    with closing(ContentStore(OrganisationFolder.of(settings).contents)) as contents:
        assert contents.count() == (5, 5)


def test_a_worker_that_died_is_continued(tmp_path: Path, settings: Settings, repositories: Repositories) -> None:
    source = make_source(tmp_path / "source", FILES)
    repositories.add("acme/web", str(source), "x", "t")
    with closing(RepositoryIndexer(repositories, settings)) as indexer:
        _take_in(indexer, "acme/web")
        commit(source, {"a.py": "def changed(): pass\n"})
        assert indexer.fetch("acme/web") is not None
        known = repositories.find("acme/web")
        assert known is not None
        repositories.note("acme/web", "writing", known.fetched)
        (OrganisationFolder.of(settings).files("acme/web") / "a.py").write_text("half", "utf-8")
    with closing(RepositoryIndexer(repositories, settings)) as indexer:
        assert _take_in(indexer, "acme/web")
    assert "changed" in (OrganisationFolder.of(settings).files("acme/web") / "a.py").read_text("utf-8")
    known = repositories.find("acme/web")
    assert known is not None
    assert known.published == known.fetched
    assert not known.writing


def test_what_was_removed_leaves(tmp_path: Path, settings: Settings, repositories: Repositories) -> None:
    repositories.add("acme/web", str(make_source(tmp_path / "a", FILES)), "x", "t")
    repositories.add("bob/web", str(make_source(tmp_path / "b", {**FILES, "own.py": "x = 1\n"})), "y", "t")
    folder = OrganisationFolder.of(settings)
    with closing(RepositoryIndexer(repositories, settings)) as indexer:
        _take_in(indexer, "acme/web")
        _take_in(indexer, "bob/web")
        repositories.remove("bob/web", "t")
        indexer.remove_others()
    assert not folder.files("bob/web").exists()
    assert not folder.mirror("bob/web").exists()
    assert _paths(settings, repositories, "acme/web") == ["a.py", "b.py", "c.py"]
