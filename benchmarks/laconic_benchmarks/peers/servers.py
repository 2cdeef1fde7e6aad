"""How each server is asked: the calls that an agent would make for a question, through its public interface."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final, Protocol

import msgspec

from laconic.config import child_environment
from laconic.errors import CommandFailed
from laconic_benchmarks.peers.client import Client
from laconic_benchmarks.peers.environments import Peer, command, environment
from laconic_benchmarks.turns.shell import Shell

Asked = tuple[str, dict[str, object]]
_DEFINES: Final = r"^\s*(class|def|async def)"


class Opened(Protocol):
    """Somebody who answers."""

    def answer(self, op: str, args: Sequence[str]) -> list[str]: ...

    def close(self) -> None: ...


class Served:
    """A server with the calls that questions become; a call may need the answer of the one before."""

    def __init__(self, client: Client, asks: Callable[[Served, str, Sequence[str]], list[str]]) -> None:
        self.client = client
        self._asks = asks

    def answer(self, op: str, args: Sequence[str]) -> list[str]:
        return self._asks(self, op, args)

    def call(self, name: str, **arguments: object) -> str:
        return self.client.call(name, arguments)

    def close(self) -> None:
        self.client.close()


def laconic_server(root: Path, home: Path) -> Opened:
    cache = {"LACONIC_CACHE_DIR": str(home / "cache")}
    words = [sys.executable, "-m", "laconic"]
    done = subprocess.run(
        [*words, "index", str(root)], env=child_environment(cache), capture_output=True, check=False
    )
    if done.returncode:
        raise CommandFailed(f"laconic index failed: {done.stderr.decode('utf-8', 'replace')[-200:]}")
    return Served(Client([*words, "mcp", "--root", str(root)], root, cache), _ask_laconic)


def _ask_laconic(served: Served, op: str, args: Sequence[str]) -> list[str]:
    match op:
        case "symbol" | "text":
            return [served.call("search", query=args[0])]
        case "regex":
            return [served.call("search", query=f"/{args[0]}/")]
        case "outline":
            return [served.call("map", path=args[0])]
        case "source":
            return [served.call("inspect", symbol=f"{args[0]}::{args[1]}", only="body")]
    return [served.call("inspect", symbol=f"{args[0]}::{args[1]}", only="refs")]


class _ByShell:
    def __init__(self, root: Path) -> None:
        self._shell = Shell(root, lambda path: ())

    def answer(self, op: str, args: Sequence[str]) -> list[str]:
        return [self._shell.run(each).answer for each in self._commands(op, args)]

    def close(self) -> None:
        """Nothing is open."""

    def _commands(self, op: str, args: Sequence[str]) -> list[str]:
        name = args[-1].rsplit(".", 1)[-1]
        defined = quote(rf"{_DEFINES} {name}\b")
        match op:
            case "symbol":
                return [f"rg -n {defined} | cut -c1-200"]
            case "text":
                return [f"rg -n -F {quote(args[0])} | cut -c1-200"]
            case "regex":
                return [f"rg -n {quote(args[0])} | cut -c1-200"]
            case "outline":
                return [f"rg -n {quote(_DEFINES)} {quote(args[0])}"]
            case "source":
                first = f"rg -n {defined} {quote(args[0])}"
                found = re.match(r"\d+", self._shell.run(first).answer)
                start = int(found[0]) if found else 1
                return [first, f"sed -n '{start},{start + 79}p' {quote(args[0])}"]
        return [f"rg -n -w {quote(name)} | cut -c1-200"]


def shell(root: Path, home: Path) -> Opened:
    return _ByShell(root)


def _code_index(cache: Path, peer: Peer) -> Callable[[Path, Path], Opened]:
    def opened(root: Path, home: Path) -> Opened:
        served = Served(
            Client(command(cache, peer, root), root, _home(home, environment(cache, peer) / "bin")), _ask_code_index
        )
        served.call("set_project_path", path=str(root))
        served.call("build_deep_index")
        return served

    return opened


def _ask_code_index(served: Served, op: str, args: Sequence[str]) -> list[str]:
    match op:
        case "symbol":
            name = args[0].rsplit(".", 1)[-1]
            return [served.call("search_code_advanced", pattern=rf"(class|def) {name}\b", regex=True)]
        case "text":
            return [served.call("search_code_advanced", pattern=args[0])]
        case "regex":
            return [served.call("search_code_advanced", pattern=args[0], regex=True)]
        case "outline":
            return [served.call("get_file_summary", file_path=args[0])]
        case "source":
            return [served.call("get_symbol_body", file_path=args[0], symbol_name=args[1])]
    return [served.call("search_code_advanced", pattern=args[1].rsplit(".", 1)[-1])]


def _jcodemunch(cache: Path, peer: Peer) -> Callable[[Path, Path], Opened]:
    def opened(root: Path, home: Path) -> Opened:
        client = Client(command(cache, peer, root), root, _home(home, environment(cache, peer) / "bin"))
        arguments = {"action": "index_folder", "args": {"path": str(root)}, "allow_state_change": True}
        said = _decoded(client.call("order", arguments, seconds=900))
        if "repo" not in said:
            client.close()
            raise CommandFailed(f"jcodemunch-mcp did not index the folder: {str(said)[:200]}")
        return Served(client, _ask_jcodemunch(str(said["repo"])))

    return opened


def _ask_jcodemunch(repo: str) -> Callable[[Served, str, Sequence[str]], list[str]]:
    def asks(served: Served, op: str, args: Sequence[str]) -> list[str]:
        def order(action: str, **arguments: object) -> str:
            return served.call("order", action=action, args={"repo": repo, **arguments})

        match op:
            case "symbol":
                return [order("search_symbols", query=args[0])]
            case "text":
                return [order("search_text", query=args[0])]
            case "regex":
                return [order("search_text", query=args[0], is_regex=True)]
            case "outline":
                return [order("get_file_outline", file_path=args[0])]
            case "source":
                kind = "method" if "." in args[1] else "function"
                return [order("get_symbol_source", symbol_id=f"{args[0]}::{args[1]}#{kind}")]
        return [order("check_references", identifier=args[1].rsplit(".", 1)[-1])]

    return asks


def _serena(cache: Path, peer: Peer) -> Callable[[Path, Path], Opened]:
    def opened(root: Path, home: Path) -> Opened:
        client = Client(command(cache, peer, root), root, _home(home, environment(cache, peer) / "bin"))
        manual = client.call("initial_instructions", {})  # it asks every agent to read this first
        session = re.search(r"session id is `(\w+)`", manual)
        served = Served(client, _ask_serena(session[1] if session else "", manual))
        first = min(root.rglob("*.py")).relative_to(root).as_posix()
        tried = served.answer("outline", [first])[-1]
        if "Failed to start" in tried or session is None:
            served.close()
            raise CommandFailed(
                "its language server does not start here (it is downloaded on first use, and runs on Python 3.13)."
            )
        return Served(client, _ask_serena(session[1], manual))

    return opened


def _ask_serena(session: str, manual: str) -> Callable[[Served, str, Sequence[str]], list[str]]:
    unread = [manual]

    def asks(served: Served, op: str, args: Sequence[str]) -> list[str]:
        name, file = args[-1].replace(".", "/"), args[0]
        match op:
            case "symbol":
                code = f"s.lsp.find_symbol({name!r})"
            case "text":
                code = f"s.fs.search_for_pattern({re.escape(file)!r})"
            case "regex":
                code = f"s.fs.search_for_pattern({file!r})"
            case "outline":
                code = f"s.lsp.get_symbols_overview({file!r}, depth=1)"
            case "source":
                code = f"s.lsp.find_symbol({name!r}, relative_path={file!r}, include_body=True)"
            case _:
                code = f"s.lsp.find_referencing_symbols({name!r}, relative_path={file!r})"
        answers = [*unread, served.call("serena_repl", session=session, code=code)]
        unread.clear()
        return answers

    return asks


SERVERS: Final[dict[str, Callable[[Path, Peer], Callable[[Path, Path], Opened]]]] = {
    "code-index-mcp": _code_index,
    "jcodemunch-mcp": _jcodemunch,
    "serena-agent": _serena,
}


def _home(home: Path, programs: Path) -> dict[str, str]:
    """A home folder in which nothing is set, and the programs that came with the package."""
    return {
        "PATH": f"{programs}:{child_environment().get('PATH', '')}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "TMPDIR": str(home.parent),
    }


def _decoded(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {"said": text}
    return found if isinstance(found, dict) else {"said": text}
