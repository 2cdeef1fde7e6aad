"""Other people's servers, each in an environment of its own below the cache: made on request, never by a measurement."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from laconic.errors import CommandFailed, UnknownName

_SECONDS: Final = 1800
_SAID: Final = 300  # characters of a complaint that are kept


@dataclass(frozen=True, slots=True)
class Peer:
    """A package, the program in it, and the words that start it as a server for a folder."""

    package: str
    words: tuple[str, ...]  # the first is the program; {root} stands for the folder
    what: str
    serves: bool = True  # it speaks MCP on standard input and output
    extra: str = ""  # of the package, which its program needs
    also: tuple[str, ...] = ()  # packages that it wants beside it


PEERS: Final = (
    Peer("code-index-mcp", ("code-index-mcp", "--project-path", "{root}"), "MCP server, index of symbols"),
    Peer("jcodemunch-mcp", ("jcodemunch-mcp",), "MCP server, index of symbols"),
    Peer(
        "serena-agent",
        ("serena", "start-mcp-server", "--project", "{root}", "--enable-web-dashboard", "false"),
        "MCP server over language servers",
        also=("uv",),
    ),
    Peer("aider-chat", ("aider",), "agent with a repository map", serves=False),
    Peer("headroom-ai", ("headroom",), "proxy that compresses contexts", serves=False),
    Peer("litellm", ("litellm",), "gateway to many providers", serves=False, extra="[proxy]"),
)


def peer(name: str) -> Peer:
    found = next((each for each in PEERS if each.package == name), None)
    if found is None:
        raise UnknownName("peer", name, tuple(each.package for each in PEERS))
    return found


def environment(cache: Path, peer: Peer) -> Path:
    """The folder of a peer's environment."""
    return cache / "peers" / peer.package


def installed(cache: Path, peer: Peer) -> str:
    """The version that is installed, or nothing."""
    found = sorted((environment(cache, peer) / "lib").glob(f"python*/site-packages/{_wheel(peer)}-*.dist-info"))
    return found[0].name.removesuffix(".dist-info").split("-")[1] if found else ""


def command(cache: Path, peer: Peer, root: Path) -> list[str]:
    """The words that start it."""
    program, *words = (word.replace("{root}", str(root)) for word in peer.words)
    return [str(environment(cache, peer) / "bin" / program), *words]


def install(cache: Path, peers: Sequence[Peer]) -> dict[str, str]:
    """Make the environments; what happened, by package."""
    return {each.package: _install(environment(cache, each), each) for each in peers}


def _install(folder: Path, peer: Peer) -> str:
    steps = [
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", peer.package + peer.extra, *peer.also],
    ]
    for step in steps:
        try:
            _done(step)
        except CommandFailed as error:
            return str(error)
    return "installed"


def _done(words: Sequence[str]) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{words[0]} took longer than {_SECONDS} s.") from None
    if done.returncode:
        raise CommandFailed(f"{' '.join(words[1:])} failed: {done.stderr.strip()[-_SAID:]}")


def _wheel(peer: Peer) -> str:
    return peer.package.replace("-", "_")
