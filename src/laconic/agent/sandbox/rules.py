"""What commands may read, change and reach: a list of places; the deepest one that contains a path decides."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from laconic.agent.sandbox.git_folders import find_nested, git_places
from laconic.clients.registry import home_names
from laconic.config import Settings

Access = Literal["read", "write", "private"]  # private: empty, and thrown away after the command

_SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/nix/var/nix/profiles",
    "/gnu/store", "/home/linuxbrew/.linuxbrew", "/sys/devices/system",
)  # fmt: skip
_PRIVATE: Final = ("/tmp", "/var/tmp", "/run")

# Below the home folder: programs and what they load, in the places where their installers put them.
_TOOLS: Final = (
    ".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".asdf", ".sdkman", ".rustup", ".dotnet", ".ghcup", ".opam",
    ".local/bin", ".local/lib", ".local/pipx", ".local/share/uv", ".local/share/pipx", ".local/share/mise",
    ".local/share/pnpm", ".cargo/bin", ".cargo/registry", ".cargo/git", "go/bin", "go/pkg", ".m2/repository",
    ".gradle/wrapper", ".gradle/caches", ".bun/bin", ".deno/bin", ".cabal/bin", ".conda/envs", "miniconda3",
    "miniforge3", "anaconda3",
)  # fmt: skip

_LIBRARIES: Final = ("lib", "lib64", "libexec", "include")  # beside a folder of programs

# Below the home folder: hidden even if a folder that holds them may be read.
_SECRETS: Final = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".npmrc", ".yarnrc.yml", ".pypirc",
    ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/gcloud", ".config/pip",
    ".config/rclone", ".config/sops", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml",
    ".m2/settings-security.xml", ".gradle/gradle.properties", ".password-store", ".local/share/keyrings",
    ".mozilla", ".config/google-chrome", ".config/chromium",
    ".bash_history", ".zsh_history", ".python_history", ".pgpass",
    ".my.cnf", ".vault-token", ".terraform.d", "Library/Keychains", "Library/Cookies",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SandboxRules:
    """What one session's commands may do. A place that is not named cannot be seen."""

    root: Path
    home: Path
    places: tuple[tuple[Path, Access], ...]  # the shallow ones first
    network: bool = False
    nested: tuple[Path, ...] = ()  # work trees inside the working folder

    def extend(self, more: Iterable[tuple[Path, Access]]) -> SandboxRules:
        return replace(self, places=_sort_places({**dict(self.places), **dict(more)}))


def rules_for(root: Path, settings: Settings, environment: Mapping[str, str]) -> SandboxRules:
    """The rules for a working folder; `environment` is that of the commands."""
    home = Path(environment.get("HOME") or Path.home()).resolve()
    network = settings.text("agent.network") == "on"
    places: dict[Path, Access] = {}
    for path in map(Path, _SYSTEM):
        if path.exists():
            places[path] = "read"
    places |= dict.fromkeys(_find_restricted(Path("/etc"), deep=True), "private")
    places |= dict.fromkeys(_find_restricted(Path("/opt"), deep=False), "private")
    places |= dict.fromkeys((*map(Path, _PRIVATE), home), "private")
    if network:
        places |= dict.fromkeys(_name_service(), "read")
    places |= dict.fromkeys(_programs(root, home, environment), "read")
    places |= {path: access for path, access in git_places(root) if not home.is_relative_to(path)}
    places[root] = "write"
    named: dict[Path, Access] = dict.fromkeys(_resolve_named(settings.patterns("agent.readable"), root, home), "read")
    named |= dict.fromkeys(_resolve_named(settings.patterns("agent.writable"), root, home), "write")
    secrets: dict[Path, Access] = {}
    for name in (*_SECRETS, *home_names()):
        if (home / name).exists():
            secrets[home / name] = "private"
    own: dict[Path, Access] = dict.fromkeys(_own(settings), "private")
    return SandboxRules(
        root, home, _sort_places({**places, **secrets, **named, **own}), network, tuple(find_nested(root))
    )


def _sort_places(places: Mapping[Path, Access]) -> tuple[tuple[Path, Access], ...]:
    """The shallow ones first, without those that say what the place around them says."""
    kept: dict[Path, Access] = {}
    for path, access in sorted(places.items(), key=lambda item: (len(item[0].parts), item[0])):
        around = next((kept[folder] for folder in path.parents if folder in kept), None)
        if access != around or access == "write":
            kept[path] = access
    return tuple(kept.items())


def _find_restricted(folder: Path, *, deep: bool) -> Iterator[Path]:
    """What not everybody may read: if we may, as root or in a group, commands must not."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode):
            continue
        if stat.S_ISDIR(mode):
            needed = stat.S_IXOTH
        else:
            needed = stat.S_IROTH
        if not mode & needed:
            yield Path(entry.path)
        elif deep and stat.S_ISDIR(mode):
            yield from _find_restricted(Path(entry.path), deep=True)


def _name_service() -> Iterator[Path]:
    """Where the file that names the name servers really is."""
    resolver = Path("/etc/resolv.conf").resolve()
    if resolver.is_file() and not resolver.is_relative_to("/etc"):
        yield resolver


def _programs(root: Path, home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Programs outside the system's folders, with what they load."""
    yield from (home / name for name in _TOOLS if (home / name).is_dir())
    for entry in filter(None, environment.get("PATH", "").split(os.pathsep)):
        folder = Path(entry)
        if not folder.is_dir() or folder.is_symlink():
            continue
        if (folder.parent / "pyvenv.cfg").is_file():
            folder = folder.parent
            yield from _holding(root, home, (folder / "bin" / "python").resolve().parent.parent)
        yield from _holding(root, home, folder)
        if folder.name == "bin":
            for library in filter(Path.is_dir, (folder.with_name(name) for name in _LIBRARIES)):
                yield from _holding(root, home, library)


def _holding(root: Path, home: Path, folder: Path) -> Iterator[Path]:
    """A folder of programs, unless all of the home folder or of the working folder would come with it."""
    if not home.is_relative_to(folder) and not root.is_relative_to(folder) and not folder.is_relative_to(root):
        yield folder


def _resolve_named(words: Iterable[str], root: Path, home: Path) -> Iterator[Path]:
    """Places that the user names: relative to the working folder, or to the home folder with `~/`."""
    for word in words:
        if word.startswith("~/"):
            path = home / word[2:]
        else:
            path = root / word
        path = home if word == "~" else path.resolve()
        if path.exists():
            yield path


def _own(settings: Settings) -> Iterator[Path]:
    for path in settings.own_folders():
        if path.exists():
            yield path.resolve()
