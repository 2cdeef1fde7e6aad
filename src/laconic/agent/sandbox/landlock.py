"""Run commands with Landlock where namespaces are unavailable: the kernel refuses what the rules do not allow."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from laconic.agent.sandbox.confine import LEAST, version
from laconic.agent.sandbox.rules import Access, SandboxRules
from laconic.agent.sandbox.socket_filter import INET, INET6, NETLINK, socket_filter
from laconic.workspace.shell import CommandResult, execute, supervise

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_SECONDS: Final = 15.0


class Landlock:
    """Commands see the names of other places, and cannot use them."""

    name = "Landlock"
    gaps = (
        "Landlock is weaker than bubblewrap: commands can change .git and the settings of clients in this folder, and"
        " see the command lines of other processes and change their limits."
    )

    def __init__(self, rules: SandboxRules) -> None:
        self._rules = rules

    def run(self, command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult:
        """Run a command line of the shell."""
        with TemporaryDirectory(prefix="laconic-", ignore_cleanup_errors=True) as temporary:
            _lay_out(Path(temporary), self._rules)
            inner = {**environment, "TMPDIR": temporary, "HOME": temporary}
            words = [*confine_words(self._rules, Path(temporary)), "/bin/sh", "-c", command]
            return execute(supervise(words), folder, seconds=seconds, environment=inner)

    def problem(self, environment: Mapping[str, str]) -> str:
        """Why it cannot be used; empty if it can."""
        return self.run("test -w .", self._rules.root, seconds=_SECONDS, environment=environment).complaint


def _lay_out(home: Path, rules: SandboxRules) -> None:
    """A home folder in place of the user's, which programs cannot even look into, with links to what they may read."""
    for path, access in rules.places:
        if access != "private" and path != rules.home and path.is_relative_to(rules.home):
            link = home / path.relative_to(rules.home)
            if not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)


def find_landlock(rules: SandboxRules, environment: Mapping[str, str]) -> tuple[Landlock | None, str]:
    """The sandbox, or why there is none."""
    found = version()
    if found < LEAST:
        return None, f"Landlock is {f'version {found}' if found else 'not there'}, and version {LEAST} is needed"
    if socket_filter(platform.machine(), ()) is None:
        return None, f"sockets cannot be filtered on {platform.machine()}"
    sandbox = Landlock(rules)
    problem = sandbox.problem(environment)
    if problem:
        return (None, f"Landlock does not work here ({problem})")
    return (sandbox, "")


def confine_words(rules: SandboxRules, temporary: Path) -> list[str]:
    """The words that confine the program after them."""
    families = (INET, INET6, NETLINK) if rules.network else ()
    granted = list(_expand_granted(rules.places))
    told = {
        "read": ["/proc", *(str(path) for path, access in granted if access == "read")],
        "write": [str(temporary), *_DEVICES, *(str(path) for path, access in granted if access == "write")],
        "names": [str(path) for path, access in rules.places if access == "read"],
        "sockets": (socket_filter(platform.machine(), families) or b"").hex(),
    }
    script = str(Path(__file__).with_name("confine.py"))
    return [sys.executable, "-I", "-S", script, json.dumps(told)]


def _expand_granted(places: tuple[tuple[Path, Access], ...]) -> Iterator[tuple[Path, Access]]:
    """Landlock only allows. A readable place that holds a private one is therefore allowed entry by entry."""
    private = [path for path, access in places if access == "private"]
    for path, access in places:
        if access == "read":
            for part in _around(path, private):
                yield (part, access)
        elif access == "write":
            yield path, access


def _around(path: Path, private: list[Path]) -> Iterator[Path]:
    if path in private:
        return
    if not any(hidden.is_relative_to(path) for hidden in private):
        yield path
        return
    for entry in path.iterdir():
        yield from _around(entry, private)
