"""Run commands with bubblewrap, in separate namespaces that contain only the places in the rules."""

from __future__ import annotations

import os
import platform
import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import msgspec

from laconic.agent.sandbox.protected_files import guard
from laconic.agent.sandbox.rules import Access, SandboxRules
from laconic.agent.sandbox.socket_filter import INET, INET6, NETLINK, UNIX, socket_filter
from laconic.errors import CommandFailed
from laconic.workspace.programs import find_program
from laconic.workspace.shell import CommandResult, execute

_ALWAYS: Final = (
    "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL",
)  # fmt: skip
# From the strongest on. Root does without a user namespace where there is none to be had.
_USERS: Final = (("--unshare-user", "--disable-userns"), ("--unshare-user",))
# Settings of the kernel belong to root, whatever rights it has lost.
_KERNEL: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/pressure", "/proc/acpi", "/proc/scsi")
_KEYS: Final = ("/proc/keys", "/proc/key-users")  # what the kernel's keyrings hold for others
_SECONDS: Final = 15.0
_ENDING: Final = 5.0  # seconds in which the kernel ends what a command left running

# The command, and a byte to who started us if something still runs after it. Its own complaints are not ours.
_WATCHED: Final = (
    'exec 9>&2 2>/dev/null; (exec /bin/sh -c "$1" 2>&9 9>&-); code=$?;'
    " set -- $2 /proc/[0-9]*; [ $# -gt 3 ] && printf ! >/proc/self/fd/$1; exit $code"
)


class Bubblewrap:
    """Commands see the places of the rules and nothing else."""

    name = "bubblewrap"
    gaps = ""

    def __init__(self, program: str, users: Sequence[str], rules: SandboxRules) -> None:
        self._program = program
        self._users = tuple(users)
        self._rules = rules

    def problem(self, environment: Mapping[str, str]) -> str:
        """Why it cannot be used: it fails, or the working folder belongs to somebody else; empty if it can."""
        tried = self.run(
            "test -w . || echo the working folder cannot be written in it",
            self._rules.root,
            seconds=_SECONDS,
            environment=environment,
        )
        return tried.output.decode("utf-8", "replace").strip() or (
            "" if tried.code == 0 else f"exit code {tried.code}"
        )

    def run(self, command: str, folder: Path, *, seconds: float, environment: Mapping[str, str]) -> CommandResult:
        """Run a command line of the shell."""
        families = [INET, INET6, NETLINK]
        if not self._rules.network:
            families.insert(0, UNIX)
        inner = {**environment, "HOME": str(self._rules.home), "TMPDIR": "/tmp"}
        with guard(self._rules) as rules, _readable(socket_filter(platform.machine(), tuple(families))) as filters:
            told, tell = os.pipe()

            def launch(status: int) -> list[str]:
                checks = ["--info-fd", str(tell)]
                for number in filters:
                    checks.extend(("--seccomp", str(number)))
                watched = ["/bin/sh", "-c", _WATCHED, "sh", command, str(status)]
                return [self._program, *self._users, *checks, *arguments(rules, folder), "--", *watched]

            try:
                return execute(launch, folder, seconds=seconds, environment=inner, descriptors=(*filters, tell))
            finally:
                os.close(tell)
                _wait_for_end(told)


def arguments(rules: SandboxRules, folder: Path) -> list[str]:
    """The rules in the words of bubblewrap."""
    words = [*_ALWAYS, "--proc", "/proc", "--dev", "/dev"]
    for place in _KERNEL:
        words += ["--ro-bind-try", place, place]
    for place in _KEYS:
        if Path(place).exists():
            words += ["--ro-bind", "/dev/null", place]
    if not rules.network:
        words.append("--unshare-net")
    for path, access in rules.places:
        words += _mount(path, access)
    return [*words, "--remount-ro", "/", "--chdir", str(folder)]


def _mount(path: Path, access: Access) -> list[str]:
    place = str(path)
    if access == "write":
        return ["--bind", place, place]
    if access == "private":
        if path.is_file():
            return ["--ro-bind", "/dev/null", place]
        return ["--tmpfs", place]
    if path.is_symlink() and len(path.parts) == 2:  # /bin, /lib and others are links into /usr
        return ["--symlink", str(path.readlink()), place]
    return ["--ro-bind", place, place]


def find_bubblewrap(rules: SandboxRules, environment: Mapping[str, str]) -> tuple[Bubblewrap | None, str]:
    """The sandbox, or why there is none. It is tried, because a container often has the program and not the right."""
    try:
        program = find_program("bwrap", rules.root, environment)
    except CommandFailed:
        return None, "bubblewrap is not installed"
    problem = ""
    for users in (*_USERS, ()) if os.geteuid() == 0 else _USERS:
        sandbox = Bubblewrap(program, users, rules)
        problem = sandbox.problem(environment)
        if not problem:
            return sandbox, ""
    return None, f"bubblewrap does not work here ({problem})"


class _SandboxProcess(msgspec.Struct, rename="kebab"):
    child_pid: int


def _wait_for_end(told: int) -> None:
    """Wait until nothing runs in the sandbox: bubblewrap itself ends a moment before the kernel has ended the rest."""
    os.set_blocking(told, False)
    with suppress(msgspec.MsgspecError, OSError):
        first = msgspec.json.decode(os.read(told, 4096), type=_SandboxProcess).child_pid
        handle = os.pidfd_open(first)  # of the first process, which ends when all others have
        try:
            select.select([handle], [], [], _ENDING)
        finally:
            os.close(handle)
    os.close(told)


@contextmanager
def _readable(data: bytes | None) -> Iterator[tuple[int, ...]]:
    """A descriptor from which the bytes can be read; none for no bytes."""
    if data is None:
        yield ()
        return
    with TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield (file.fileno(),)
