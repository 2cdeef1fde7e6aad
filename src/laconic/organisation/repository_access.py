"""The repositories as one key sees them: what it may not read does not exist for it."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from laconic.config import Settings
from laconic.errors import IndexUnavailable, NotAllowed, UnknownName, UsageError
from laconic.index.parse_files import FileParser
from laconic.index.store import Store
from laconic.index.store.family_queries import count_words, rank_names, read_own_versions
from laconic.index.workspace_index import Index
from laconic.organisation.folder import OrganisationFolder, workspace_name
from laconic.sessions.team.keys import TeamKey
from laconic.sessions.team.repositories import Repositories, TeamRepository, choose_readable
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tool_runtime.tool import Tool, ToolCall
from laconic.tool_runtime.workspaces import ALL, MARK, Workspaces
from laconic.tools import tools
from laconic.workspace.secrets import SecretFiles

OFFERED: Final = ("search", "inspect", "read", "map", "context", "trace")
_OPEN: Final = 1_000  # repositories that stay open
_KEYS: Final = 200  # keys whose sessions stay open
_FRESH: Final = 1.0  # seconds that what was read about repositories and grants counts
_WORD: Final = re.compile(r"[^\W_][\w$]+")
_WORDS: Final = 8  # of a question
_FORKS: Final = 2  # of a family that are asked besides the first
_JOINED: Final = 24  # repositories that are read together
_ASKED: Final = ("query", "task", "symbols", "symbol", "to")  # arguments that say what is wanted


class OpenRepositories:
    """Published repositories, opened when they are asked about. Used from one thread."""

    def __init__(self, settings: Settings) -> None:
        self.folder = OrganisationFolder.of(settings)
        # Nothing that one key asked may be found by another: see `person_settings`.
        self._settings = Settings({**settings, "store": "", "cache_dir": str(self.folder.root / "server")})
        self._secrets = SecretFiles.of(settings)
        self._opened: OrderedDict[str, ToolRuntime] = OrderedDict()
        self._own: dict[tuple[str, str], tuple[object, dict[str, frozenset[int]]]] = {}

    def open(self, repository: TeamRepository) -> ToolRuntime:
        runtime = self._opened.pop(repository.name, None)
        if runtime is None:
            runtime = self._make(repository)
        self._opened[repository.name] = runtime
        while len(self._opened) > _OPEN:
            self._opened.popitem(last=False)[1].close()
        return runtime

    def close(self) -> None:
        for runtime in self._opened.values():
            runtime.close()
        self._opened.clear()

    def read_own_versions(self, first: ToolRuntime, forks: Sequence[TeamRepository]) -> dict[str, frozenset[int]]:
        """What forks hold that the first of their family does not, read again when one of them was pushed to."""
        roots = [str(self.folder.files(fork.name)) for fork in forks]
        stamp = (first.index.store.revision, tuple((fork.name, fork.published) for fork in forks))
        place = (str(first.root), roots[0])
        kept = self._own.get(place)
        if kept is None or kept[0] != stamp:
            kept = self._own[place] = (stamp, read_own_versions(first.index.store, roots))
        return kept[1]

    def _make(self, repository: TeamRepository) -> ToolRuntime:
        root, file = self.folder.files(repository.name), self.folder.index(repository)

        def open_index() -> Index:
            return Index(root, Store.open(file, root), FileParser(), self._secrets, published=True)

        prefix = f"{MARK}{workspace_name(repository.name)}/"
        return ToolRuntime(root, self._settings, tools(), editing=False, prefix=prefix, open_index=open_index)


class ReadableWorkspaces(Workspaces):
    """The workspaces of a session: the repositories that its key may read, and no folder of the server."""

    default = ALL

    def __init__(self, opened: OpenRepositories, read: Callable[[], Sequence[TeamRepository]]) -> None:
        self._repositories = opened
        self._read = read

    def close(self) -> None:
        """They are others' too, and stay open."""

    def read_names(self) -> dict[str, Path]:
        names: dict[str, Path] = {}
        for name in self._by_name():
            names[name] = Path(name)
        return names

    def select(self, text: str, tool: Tool, call: ToolCall) -> list[ToolRuntime]:
        known = self._by_name()
        if not known:
            raise NotAllowed("This key may read no repository.", "Ask an administrator for a grant.")
        wanted: dict[str, TeamRepository] = {}
        for word in re.split(r"[,\s]+", text.strip()):
            if word.lower() in {ALL, "*"}:
                return self._select_all(list(known.values()), tool, call)
            if word:
                name = _find_name(word, known)
                wanted[name] = known[name]
        found: list[ToolRuntime] = []
        for repository in wanted.values():
            found.append(self._repositories.open(repository))
        return found

    def find_path(self, path: str) -> tuple[ToolRuntime, str] | None:
        name, _, inner = path.removeprefix(MARK).partition("/")
        repository = self._by_name().get(name)
        if not path.startswith(MARK) or repository is None:
            return None
        return self._repositories.open(repository), inner

    def open_commit(self, runtime: ToolRuntime, name: str) -> ToolRuntime:
        raise UsageError("This index has only the newest commit.", "Leave out `at`, or ask in your own clone.")

    def _by_name(self) -> dict[str, TeamRepository]:
        found: dict[str, TeamRepository] = {}
        for repository in self._read():
            found[workspace_name(repository.name)] = repository
        return found

    def _select_all(self, known: Sequence[TeamRepository], tool: Tool, call: ToolCall) -> list[ToolRuntime]:
        """One repository of each family, and those forks that have something of their own to say."""
        words = _read_words(call)
        joins = tool.joins is not None and tool.joins(call)
        ranked: list[tuple[int, ToolRuntime]] = []
        for family in _group(known):
            with suppress(IndexUnavailable):
                ranked += self._select_family(family, words, joins=joins)
        ranked.sort(key=lambda pair: -pair[0])
        if joins:
            ranked = [pair for pair in ranked if pair[0]][:_JOINED] or ranked[:1]
        return [runtime for _, runtime in ranked]

    def _select_family(
        self, family: Sequence[TeamRepository], words: Sequence[str], *, joins: bool
    ) -> Iterable[tuple[int, ToolRuntime]]:
        first = self._repositories.open(family[0])
        rank = 1
        if joins:
            rank = rank_names(first.index.store, words)
        found = [(rank, first)]
        if len(family) == 1 or not words or not rank:
            return found
        own = self._repositories.read_own_versions(first, family[1:])
        if not own:
            return found
        versions = set().union(*own.values())
        often = count_words(first.index.store, words, min(versions), max(versions))
        scores: list[tuple[int, TeamRepository]] = []
        for fork in family[1:]:
            held = own.get(str(self._repositories.folder.files(fork.name)), frozenset())
            scores.append((max((often[version] for version in held), default=0), fork))
        scores.sort(key=lambda pair: -pair[0])
        for score, fork in scores[:_FORKS]:
            if 2 * score >= len(words):
                found.append((rank, self._repositories.open(fork)))
        return found


class ReadableSessions:
    """The tools of each key. Used from one thread."""

    def __init__(
        self, settings: Settings, repositories: Repositories, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._repositories = repositories
        self._clock = clock
        self._opened = OpenRepositories(settings)
        self._folder = self._opened.folder
        self._keys: OrderedDict[TeamKey, ToolRuntime] = OrderedDict()
        self._read_at = -_FRESH
        self._known: Sequence[TeamRepository] = ()
        self._grants = repositories.grants()

    def open(self, key: TeamKey) -> ToolRuntime:
        """The tools as a key may use them."""
        runtime = self._keys.pop(key, None)
        if runtime is None:
            runtime = self._make(key)
        self._keys[key] = runtime
        while len(self._keys) > _KEYS:
            self._keys.popitem(last=False)[1].close()
        return runtime

    def read_published(self, key: TeamKey) -> list[TeamRepository]:
        """What a key may read, and can be read."""
        now = self._clock()
        if now - self._read_at >= _FRESH:
            self._known, self._grants = self._repositories.list(), self._repositories.grants()
            self._read_at = now
        readable = choose_readable(self._known, self._grants, key)
        return [repository for repository in readable if repository.published]

    def close(self) -> None:
        for runtime in self._keys.values():
            runtime.close()
        self._opened.close()

    def _make(self, key: TeamKey) -> ToolRuntime:
        root, own = self._folder.nothing, self._folder.person(key.id)
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = Settings({**self._settings, "store": "", "cache_dir": str(own), "state_dir": str(own)})
        offered = {}
        for name in OFFERED:
            offered[name] = tools()[name]
        return ToolRuntime(
            root,
            settings,
            offered,
            editing=False,
            open_index=lambda: Index.in_memory(root),
            workspaces=ReadableWorkspaces(self._opened, lambda: self.read_published(key)),
        )


def _find_name(word: str, known: Collection[str]) -> str:
    """The workspace that somebody means: its name, or the last part of it if no other has it."""
    name = workspace_name(word.removeprefix(MARK).strip("/"))
    if name in known:
        return name
    same = [each for each in known if each.lower() == name.lower() or each.rpartition("+")[2] == name]
    if len(same) == 1:
        return same[0]
    near = tuple(same[:5] or get_close_matches(name[:100], known, n=5, cutoff=0.5))
    raise UnknownName("repository", word[:100], near, "Write its owner and name: acme/billing.")


def _group(known: Sequence[TeamRepository]) -> Iterable[list[TeamRepository]]:
    families: dict[str, list[TeamRepository]] = {}
    for repository in known:
        families.setdefault(repository.family, []).append(repository)
    return families.values()


def _read_words(call: ToolCall) -> list[str]:
    """The words of a question, the longest first: they tell most."""
    found: dict[str, None] = {}
    for name in _ASKED:
        for word in _WORD.findall(str(call.values.get(name) or "")[:2_000]):
            found[word] = None
    return sorted(found, key=lambda word: -len(word))[:_WORDS]
