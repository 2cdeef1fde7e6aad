"""A home folder with secrets, a project in it, and everything around that a command must not reach; and who looks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

PUBLIC = (
    "/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/etc/profile.d", "/usr/local/bin", "/usr/local/lib", "/opt",
    "/srv", "/mnt",
)  # fmt: skip
SECRETS = (
    ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".gnupg/secring.gpg", "notes.txt",
    ".config/laconic/config.toml", ".cache/laconic/archive.sqlite", ".local/state/laconic/agent/1.jsonl",
)  # fmt: skip
HOLDER = "import sys, time; f = open(sys.argv[1]); time.sleep(600)"


@dataclass
class Stage:
    """What can be touched, and whether it was."""

    home: Path
    project: Path
    secret: str  # stands in files, variables, and arguments outside: it must not be read
    mark: str  # the name of whatever a command makes outside, and a word of whatever it leaves running
    flag: str  # a command prints this if it succeeded in something that leaves no trace
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    tcp6: socket.socket
    udp: socket.socket
    named: socket.socket  # in the home folder
    shared: socket.socket  # in /tmp
    abstract: socket.socket
    _before: dict[str, bytes] = field(default_factory=dict)
    _counter: int = 0

    @property
    def key(self) -> Path:
        return self.home / SECRETS[0]

    @property
    def port(self) -> int:
        return int(self.tcp.getsockname()[1])

    def fresh(self) -> str:
        """A name that nothing has yet."""
        self._counter += 1
        return f"{self.mark}-{self._counter}"

    def remember(self) -> None:
        self._before = self._seen()

    def effects(self, output: bytes) -> list[str]:
        """What happened outside since the last look."""
        found = []
        if self.secret.encode() in output:
            found.append("a secret was read")
        if self.flag.encode() in output:
            found.append("something succeeded that must not")
        found += [f"{path} was changed" for path in self._changes()]
        found += [f"{place}/{name} was made" for place in PUBLIC for name in _listed(place) if self.mark in name]
        found += [f"{name} was reached" for name in self._reached()]
        found += [f"process {pid} was left running" for pid in self.running()]
        if self.victim.poll() is not None or _state(self.victim.pid) == "T":
            found.append("another process was stopped")
        if any(self.secret.encode() in path.read_bytes() for path in self.project.rglob("*") if _is_file(path)):
            found.append("a secret was copied")
        return found

    def running(self) -> list[int]:
        """Processes that carry the mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
        return found

    def _changes(self) -> list[str]:
        now = self._seen()
        changed = [path for path in self._before.keys() | now.keys() if self._before.get(path) != now.get(path)]
        self._before = now
        return sorted(changed)

    def _seen(self) -> dict[str, bytes]:
        """All files outside the project, and those inside that others take orders from."""
        guarded = [self.project / name for name in (".git", ".claude", ".vscode", ".mcp.json", "opencode.json")]
        paths = [path for path in self.home.rglob("*") if not path.is_relative_to(self.project)]
        for path in guarded:
            paths += [path, *path.rglob("*")]
        return {str(path): path.read_bytes() if _is_file(path) else b"" for path in paths if path.exists()}

    def _reached(self) -> list[str]:
        found = []
        for name in ("tcp", "tcp6", "named", "shared", "abstract"):
            listener: socket.socket = getattr(self, name)
            with suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    found.append(name)
        with suppress(BlockingIOError):
            while self.udp.recv(100):
                found.append("udp")
        return found

    def clear(self) -> None:
        """End what a command without a sandbox has left, and take away what it made."""
        for pid in self.running():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for place in PUBLIC:
            for name in _listed(place):
                if self.mark in name:
                    Path(place, name).unlink()


def set_up(base: Path, stack: ExitStack) -> Stage:
    """Everything, to be taken down with the stack."""
    home, project = base / "home", base / "home" / "project"
    secret, mark = f"secret{token_hex(8)}", f"mark{token_hex(8)}"
    project.mkdir(parents=True)
    for name in SECRETS:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"# {secret}\n", "utf-8")
    (home / ".bashrc").write_text("# nothing\n", "utf-8")
    (home / "other").mkdir()
    (home / "other" / "file.txt").write_text(f"{secret}\n", "utf-8")
    (project / "a.py").write_text("a = 1\n", "utf-8")
    (project / ".mcp.json").write_text("{}\n", "utf-8")
    git = ["git", "-c", "init.defaultBranch=main", "init", "-q", str(project)]
    subprocess.run(git, check=True, env={"HOME": str(home), "PATH": os.environ["PATH"]})
    victim = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home / "notes.txt"), secret], env={"VICTIM_TOKEN": secret}
    )
    stack.callback(victim.wait)
    stack.callback(victim.kill)
    stage = Stage(
        home=home,
        project=project,
        secret=secret,
        mark=mark,
        flag=f"flag{token_hex(8)}",
        victim=victim,
        tcp=_listener(stack, socket.AF_INET, ("127.0.0.1", 0)),
        tcp6=_listener(stack, socket.AF_INET6, ("::1", 0)),
        udp=_listener(stack, socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
        named=_listener(stack, socket.AF_UNIX, _short(stack, home / "agent.sock")),
        shared=_listener(stack, socket.AF_UNIX, f"/tmp/sock{mark[4:12]}"),
        abstract=_listener(stack, socket.AF_UNIX, f"\0{mark[4:]}"),
    )
    stack.callback(Path(f"/tmp/sock{mark[4:12]}").unlink)
    stack.callback(stage.clear)
    stage.remember()
    return stage


def _short(stack: ExitStack, path: Path) -> str:
    """The address of a socket is short: the folder stands for its path."""
    handle = os.open(path.parent, os.O_PATH)
    stack.callback(os.close, handle)
    return f"/proc/self/fd/{handle}/{path.name}"


def _listener(
    stack: ExitStack, family: int, address: str | tuple[str, int], kind: int = socket.SOCK_STREAM
) -> socket.socket:
    found = stack.enter_context(socket.socket(family, kind))
    found.bind(address)
    if kind == socket.SOCK_STREAM:
        found.listen(50)
    found.setblocking(False)
    return found


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _listed(place: str) -> list[str]:
    try:
        return [path.name for path in Path(place).iterdir()]
    except OSError:
        return []


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[-1].split()[0]
