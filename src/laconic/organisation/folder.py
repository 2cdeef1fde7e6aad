"""Where mirrors, plain files, indexes and contents of an organisation are: one folder on one host."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from laconic.config import Settings
from laconic.index.schema import VERSION
from laconic.sessions.team.repositories import TeamRepository


def workspace_name(repository: str) -> str:
    """How a repository is called in calls and paths. No name of a repository has a plus sign, so no two meet."""
    return repository.replace("/", "+")


@dataclass(frozen=True, slots=True)
class OrganisationFolder:
    """Names only; nothing is made."""

    root: Path

    @classmethod
    def of(cls, settings: Settings) -> OrganisationFolder:
        named = settings.text("team.folder")
        if named:
            return cls(Path(named).expanduser().resolve())
        return cls(settings.cache_dir().resolve() / "organisation")

    @property
    def contents(self) -> Path:
        return self.root / "contents.sqlite"

    def mirror(self, name: str) -> Path:
        return self.root / "mirrors" / f"{workspace_name(name)}.git"

    def files(self, name: str) -> Path:
        """The folder with the plain files of the newest commit."""
        return self.root / "files" / workspace_name(name)

    def index(self, repository: TeamRepository) -> Path:
        """The file that all forks of a family share."""
        short = blake2b(repository.family.encode(), digest_size=6).hexdigest()
        return self.root / "indexes" / f"{workspace_name(repository.family)[:40]}-{short}" / f"{VERSION:08x}.sqlite"

    def person(self, key: str) -> Path:
        """What belongs to one key only: texts of calls that were too long to repeat."""
        return self.root / "people" / key

    @property
    def nothing(self) -> Path:
        """An empty folder: the workspace of a session that has none of its own."""
        return self.root / "nothing"
