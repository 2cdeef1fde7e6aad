"""Run commands with the sandbox of macOS (`sandbox-exec`), by a profile made from the rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from laconic.agent.sandbox.protected_files import guard
from laconic.agent.sandbox.rules import SandboxRules
from laconic.workspace.shell import CommandResult, execute, supervise

_PROGRAM: Final = "/usr/bin/sandbox-exec"
_SECONDS: Final = 15.0
_LINKED: Final = (("etc",), ("tmp",), ("var",))
_HEAD: Final = """\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/System") (subpath "/Library/Developer")
  (subpath "/private/var/db/timezone") (subpath "/dev"))
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty")
  (literal "/dev/dtracehelper"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger"))
"""


class Seatbelt:
    """Commands can read and change only the places of the rules."""

    name = "sandbox-exec"
    gaps = ""

    def __init__(self, rules: SandboxRules) -> None:
        self._rules = rules

    def run(self, command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult:
        """Run a command line of the shell."""
        with guard(self._rules) as rules, TemporaryDirectory(prefix="laconic-") as temporary:
            inner = {**environment, "TMPDIR": temporary}
            writable = rules.extend([(Path(temporary).resolve(), "write")])
            words = [_PROGRAM, "-p", profile(writable), "/bin/sh", "-c", command]
            return execute(supervise(words), folder, seconds=seconds, environment=inner)

    def problem(self, environment: Mapping[str, str]) -> str:
        """Why it cannot be used; empty if it can."""
        return self.run("test -w .", self._rules.root, seconds=_SECONDS, environment=environment).complaint


def find_seatbelt(rules: SandboxRules, environment: Mapping[str, str]) -> tuple[Seatbelt | None, str]:
    """The sandbox, or why there is none."""
    if not Path(_PROGRAM).exists():
        return None, "sandbox-exec is not there"
    sandbox = Seatbelt(rules)
    problem = sandbox.problem(environment)
    if problem:
        return (None, f"sandbox-exec does not work here ({problem})")
    return (sandbox, "")


def profile(rules: SandboxRules) -> str:
    """The rules in the words of the profile: the last line that fits a path decides."""
    lines = [_HEAD]
    for path, access in rules.places:
        place = f"(subpath {_quote(path)})"
        if access == "private":
            lines.append(f"(deny file-read* file-write* {place})")
        if access != "private":
            lines.append(f"(allow file-read* {place})")
        if access == "read":
            lines.append(f"(deny file-write* {place})")
        if access == "write":
            lines.append(f"(allow file-write* {place})")
    if rules.network:
        lines.append(
            "(allow network-outbound (remote ip))\n(allow network-inbound (local ip))\n(allow system-socket)"
        )
        lines.append('(allow network-outbound (literal "/private/var/run/mDNSResponder"))')
    return "\n".join(lines) + "\n"


def _quote(path: Path) -> str:
    """As a string of the profile, which knows only real paths: on macOS these three are links."""
    if path.parts[1:2] in _LINKED:
        real = Path("/private", *path.parts[1:])
    else:
        real = path
    said = str(real).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{said}"'
