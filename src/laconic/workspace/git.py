"""Ask git about a folder: the one place that starts git.

A repository may come from a stranger, so nothing in it may decide what runs. Git gets a folder of our own making instead
of the repository's configuration (`clean_git_dir`), none of the user's, and no variable that steers it. Every question
has a time limit and an answer for "there is no git here".
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec

from laconic.errors import CommandFailed, Unreadable, WorkspaceError
from laconic.workspace.clean_git_dir import CleanGitDir, harmless
from laconic.workspace.process import run
from laconic.workspace.programs import find_program
from laconic.workspace.repository import Repository, find_repository

_FLAGS: Final = ("--no-pager", "--no-optional-locks")
# What holds whatever a configuration says, for a git that should read one after all.
_OFF: Final = {
    "core.quotepath": "off",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "dirty",  # looking into one would start git there, with its own configuration
}
_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_FETCHING: Final = (
    "core.hooksPath=/dev/null",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "credential.interactive=false",
)
_ONE_COMMIT: Final = ("--quiet", "--no-tags", "--no-recurse-submodules", "--depth=1", "--force")
_LACKING: Final = re.compile(r"unable to read|could not fetch|missing (?:blob|tree)|bad object|unable to find")
_WITH_INDEX: Final = frozenset({"diff", "ls-files", "status"})


class GitUserConfig(msgspec.Struct, frozen=True):
    """What the user's own configuration says that matters here."""

    compared: dict[str, str] = {}  # how files are compared
    files: dict[str, str] = {}  # ignore rules and attributes for all repositories
    trusted: tuple[str, ...] = ()  # folders that the user calls safe
    hooks: str = ""  # where hooks are


def git(folder: Path, *args: str, seconds: float = 30.0, given: bytes = b"") -> bytes:
    """The output of one git command that reads; failure is an error that quotes git."""
    repository = repository_of(folder)
    if repository is None:
        raise CommandFailed(f"{folder} is not in a git repository.", "Name a folder of a repository.")
    program = find_program("git", repository.top or folder)
    user = user_config(program)
    config = {**user.files, **_missing(user.compared, repository)}
    places = {"GIT_OBJECT_DIRECTORY": str(repository.objects)}
    if repository.top is not None:
        places["GIT_WORK_TREE"] = str(repository.top)
    try:
        own = _clean(repository)
        places["GIT_DIR"] = str(own.update(index=args[0] in _WITH_INDEX))
    except OSError as error:
        raise CommandFailed(
            f"git cannot be run: {error}.", "Check the free space in the folder for temporary files."
        ) from None
    return _run(program, args, folder, config=config, environment=places, seconds=seconds, given=given)


def git_in_own(folder: Path, *args: str, seconds: float = 60.0) -> bytes:
    """The output of one git command in a repository that we made ourselves, or that makes one; it may write."""
    program = find_program("git", folder)
    return _run(program, args, folder, config={"protocol.file.allow": "always"}, seconds=seconds)


def fetch_into_own(folder: Path, url: str, refs: str, *, seconds: float) -> None:
    """Fetch the newest commit into a bare repository of ours, with the logins of the user's own configuration."""
    config: list[str] = []
    for each in _FETCHING:
        config += ["-c", each]
    command = [find_program("git", folder), *config, "fetch", *_ONE_COMMIT, "--", url, refs]
    own = {"GIT_TERMINAL_PROMPT": "0", "GIT_DIR": str(folder), "LC_ALL": "C"}
    done = run(command, folder, seconds=seconds, environment=own, without="GIT_")
    if done.code:
        said = done.complaints.decode("utf-8", "replace").strip()[-300:]
        raise CommandFailed(f"git could not fetch: {said}", "Check the address, the branch and the worker's login.")


def version(folder: Path) -> str:
    """Which git answers."""
    return _run(find_program("git", folder), ("--version",), folder, seconds=5.0).decode().strip()


def top(folder: Path) -> Path | None:
    """The top of the work tree that holds a folder, or None."""
    try:
        found = repository_of(folder)
    except Unreadable:
        return None
    if found:
        return found.top
    return None


def home(folder: Path) -> Path:
    """The workspace that a command means when it is given in a folder: the top of its work tree.

    A work tree that is somebody's whole home folder is not a code base: there the folder itself is meant.
    """
    folder = folder.resolve()
    found = top(folder)
    if found is None or found == Path.home():
        return folder
    return found


def list_files(folder: Path) -> list[bytes] | None:
    """Tracked and untracked, not ignored names below a folder; None where git has no say.

    A name that is a folder on disk is a repository of its own (a submodule, or one that lies within).
    """
    try:
        out = git(folder, "ls-files", "-co", "--exclude-standard", "-z", seconds=60)
    except WorkspaceError:
        return None
    return list(dict.fromkeys(name.rstrip(b"/") for name in out.split(b"\0") if name))


def list_repositories_within(folder: Path) -> list[bytes]:
    """Names of the repositories below a folder that git knows of: submodules, and untracked ones."""
    try:
        out = git(folder, "ls-files", "-so", "--exclude-standard", "-z", seconds=60)
    except WorkspaceError:
        return []
    found = []
    for entry in out.split(b"\0"):
        stage, tab, name = entry.partition(b"\t")
        if tab and stage.startswith(b"160000 "):
            found.append(name)
        elif entry.endswith(b"/"):
            found.append(entry.rstrip(b"/"))
    return found


@lru_cache(maxsize=64)
def _clean(repository: Repository) -> CleanGitDir:
    """The folder that stands for a repository, made once; the command that uses it holds it."""
    return CleanGitDir(repository)


@cache
def user_config(program: str) -> GitUserConfig:
    """The few settings that are taken from the user's own configuration, read once."""
    command = [program, "config", "--list", "--includes", "-z"]
    nowhere = {"GIT_DIR": os.devnull}  # no repository, whatever the current folder is
    try:
        done = run(command, Path(program).parent, seconds=5.0, environment=nowhere, without="GIT_")
    except CommandFailed:
        return GitUserConfig()
    pairs = []
    for entry in done.output.decode("utf-8", "surrogateescape").split("\0"):
        pairs.append(entry.partition("\n"))
    config = {}
    for name, _, value in pairs:
        config[name] = value
    files = {}
    for name, value in config.items():
        if name in {"core.excludesfile", "core.attributesfile"}:
            files[name] = value
    trusted = tuple(value for name, _, value in pairs if name == "safe.directory" and value)
    return GitUserConfig(harmless(config), files, trusted, config.get("core.hookspath", ""))


def find_user_hooks(folder: Path) -> str:
    """Where the user's own configuration says that hooks are; empty if it does not say, or if there is no git."""
    try:
        return user_config(find_program("git", folder)).hooks
    except CommandFailed:
        return ""


def repository_of(folder: Path) -> Repository | None:
    """The repository around a folder; an error if it leads to somebody else's data."""
    return find_repository(folder, lambda workspace: user_config(find_program("git", workspace)).trusted)


def _missing(compared: Mapping[str, str], repository: Repository) -> dict[str, str]:
    """The user's settings about which the repository says nothing itself."""
    said = repository.config()
    found: dict[str, str] = {}
    for name, value in compared.items():
        if name not in said:
            found[name] = value
    return found


def _run(
    program: str,
    args: Sequence[str],
    folder: Path,
    *,
    config: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float,
    given: bytes = b"",
) -> bytes:
    settings: list[str] = []
    for name, value in {**_OFF, **(config or {})}.items():
        settings.extend(("-c", f"{name}={value}"))
    done = run(
        [program, *_FLAGS, *settings, *args],
        folder,
        seconds=seconds,
        given=given,
        environment={**_ENVIRONMENT, **(environment or {})},
        without="GIT_",
    )
    if done.code:
        complaint = done.complaints.decode("utf-8", "replace").strip()[-300:]
        if _LACKING.search(complaint):
            raise CommandFailed(
                "This clone lacks objects that are needed here, and Laconic does not let git fetch them.",
                "Run `git fetch --refetch` to get all of them, or ask about other commits.",
            )
        raise CommandFailed(f"git {args[0]} failed: {complaint}")
    return done.output
