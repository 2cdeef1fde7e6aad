"""What a worker does with a push: fetch, find the family, write the files out, index them, publish.

Each step can be done again after a crash at any moment; the commit on record changes last.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Final

from laconic.config import Settings
from laconic.errors import IndexUnavailable, LaconicError
from laconic.index.build import build
from laconic.index.parse.pool import ParseLimits
from laconic.index.schema import VERSION
from laconic.index.shared_contents import SharingParser
from laconic.index.store import Store
from laconic.index.store.content_store import ContentStore
from laconic.index.store.family_queries import read_roots
from laconic.organisation.folder import OrganisationFolder
from laconic.sessions.team.repositories import Repositories, TeamRepository
from laconic.workspace.mirrors import fetch_mirror, list_blob_ids, update_folder
from laconic.workspace.secrets import SecretFiles

_PATIENCE: Final = 600.0  # seconds for another process that builds the same checkout


class RepositoryIndexer:
    """Used by one worker process, from one thread."""

    def __init__(self, repositories: Repositories, settings: Settings) -> None:
        self._repositories = repositories
        self._folder = OrganisationFolder.of(settings)
        self._contents = ContentStore(self._folder.contents)
        self._secrets = SecretFiles.of(settings)
        self._parser = SharingParser(self._contents, ParseLimits.of(settings), parsers=1)

    def close(self) -> None:
        self._contents.close()

    def fetch(self, name: str) -> TeamRepository | None:
        """Fetch a repository; it comes back if there is something to index."""
        repository = self._repositories.find(name)
        if repository is None:
            return None
        mirror = self._folder.mirror(name)
        try:
            commit = fetch_mirror(mirror, repository.url, repository.branch)
            if not repository.family:
                family = self._contents.join_family(name, list_blob_ids(mirror, commit))
                self._repositories.note_family(name, family)
        except LaconicError as error:
            self._repositories.note_trouble(name, str(error))
            raise
        if commit != repository.fetched:
            self._repositories.note(name, "fetched", commit)
        current = self._repositories.find(name)
        if current is None or (current.published == commit and self._is_indexed(current)):
            return None
        return current

    def index(self, name: str) -> None:
        """Publish the commit that was fetched last. Nobody else may work on its family meanwhile."""
        repository = self._repositories.find(name)
        if repository is None or not repository.fetched:
            return
        commit, files = repository.fetched, self._folder.files(name)
        befores = (repository.published, repository.writing)
        try:
            self._repositories.note(name, "writing", commit)
            files.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            update_folder(self._folder.mirror(name), files, commit, befores)
            self._build(repository)
        except (LaconicError, OSError) as error:
            self._repositories.note_trouble(name, str(error))
            raise
        self._repositories.note(name, "published", commit)

    def remove_others(self) -> None:
        """Delete what is kept of repositories that were removed."""
        kept = {os.fspath(self._folder.files(each.name)) for each in self._repositories.list()}
        for folder in (self._folder.root / "files").glob("*"):
            if os.fspath(folder) not in kept:
                shutil.rmtree(folder, ignore_errors=True)
                shutil.rmtree(self._folder.root / "mirrors" / f"{folder.name}.git", ignore_errors=True)
        for file in (self._folder.root / "indexes").glob(f"*/{VERSION:08x}.sqlite"):
            with closing(Store.open(file, self._folder.nothing)) as store:
                gone = [root for root in read_roots(store) if root not in kept and root != str(self._folder.nothing)]
            for root in gone:
                with closing(Store.open(file, Path(root))) as store, store.writing():
                    store.forget_checkout()

    def _build(self, repository: TeamRepository) -> None:
        root = self._folder.files(repository.name)
        with closing(Store.open(self._folder.index(repository), root)) as store:
            outcome = build(
                store, root, self._parser, lambda done, total: None, secrets=self._secrets, seconds=_PATIENCE
            )
        if outcome.locked:
            raise IndexUnavailable(f"The index of {repository.name} is locked.", "Another worker is using it.")

    def _is_indexed(self, repository: TeamRepository) -> bool:
        """Whether this program's index has it: another version keeps other files."""
        path = self._folder.index(repository)
        if not path.exists():
            return False
        with closing(Store.open(path, self._folder.files(repository.name))) as store:
            return bool(store.meta("built")) and not store.outdated
